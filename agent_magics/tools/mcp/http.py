"""The HTTP client of a server at an address: bounded bodies, and what a bad status means.

Owns that nothing but the server's own headers is sent, and only to the server: redirects to other
hosts are not followed (the SDK's rule, which this client leaves alone).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from agent_magics.errors import ConfigError
from agent_magics.plain import visible
from agent_magics.tools.mcp.pipes import LONGEST
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.plain import size

if TYPE_CHECKING:
    import httpx2

CONNECT = 15.0
"""Seconds until a connection must be there; answers have the time-out of their call."""
_SAID = {
    401: "set its Authorization header under headers: (OAuth is not supported)",
    403: "what was sent in headers: does not permit this",
    404: "there is nothing at this path: check the url",
    405: "it does not speak this transport at this path: check the url",
    407: "the proxy wants to know who asks",
    429: "it is asked too often",
}


@dataclass(slots=True)
class Tracked:
    """The newest answer's status, which the SDK does not pass on."""

    status: int = 0
    location: str = ""

    def problem(self) -> str:
        """What the newest status says, if it is a bad one."""
        if self.status < 300:
            return ""
        phrase = HTTPStatus(self.status).phrase if self.status in set(HTTPStatus) else ""
        text = f"The server answered {self.status} {phrase}".rstrip()
        if self.status < 400:
            where = f" to {visible(self.location)}" if self.location else ""
            return f"{text}: it leads{where}, which is not followed; put that address into url"
        said = _SAID.get(self.status, "")
        return f"{text}: {said}" if said else text


@asynccontextmanager
async def http_client(spec: ServerSpec, tracked: Tracked) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with the server's headers.

    Args:
        spec: With its variables filled in.
        tracked: Learns the status of each answer.

    Raises:
        ConfigError: A header or the address cannot be sent.
    """
    import httpx2

    async def watch(response: httpx2.Response) -> None:
        if response.request.method == "POST":
            tracked.status = response.status_code
        tracked.location = response.headers.get("location", "").partition("?")[0][:300]
        _bound(response)

    try:
        # An encoded body could become any size; and the time-outs of calls are their caller's.
        headers = httpx2.Headers({"accept-encoding": "identity"} | dict(spec.headers))
        httpx2.URL(spec.url)
    except (ValueError, TypeError, UnicodeError, httpx2.InvalidURL) as error:
        raise ConfigError("its url or one of its headers cannot be sent") from error
    async with httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(CONNECT, read=None),
        event_hooks={"response": [watch]},
    ) as client:
        yield client


def _bound(response: httpx2.Response) -> None:
    """Let no body grow without end; event streams are bounded by the SDK, event by event."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        """The body's bytes, up to the limit."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise httpx2.StreamError("the answer is encoded, which was not asked for")
            async for piece in self.inner:
                length += len(piece)
                if length > LONGEST:
                    raise httpx2.StreamError(
                        f"the answer is too long: at most {size(LONGEST)} are taken"
                    )
                yield piece

        async def aclose(self) -> None:
            await self.inner.aclose()

    response.stream = Bounded(response.stream)
