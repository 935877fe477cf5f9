"""Models behind the chat-completions protocol, through the `openai` package.

The only module that imports `openai` (and `httpx2`, which it sits on), and it does so late: the
import takes a third of a second. Owns the connection: one client per event loop, ready bytes in,
bytes out, and every exception of those packages as a `Fault`. What the bytes mean is for `trying`
and what it uses, what is tried again for `retrying`.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from agent_magics.ports import Clock, Request, Sleep, Streamed
from agent_magics.providers import advice, reaching, transport
from agent_magics.providers.answers import refusal
from agent_magics.providers.complaints import read_complaint
from agent_magics.providers.endpoint import Endpoint, Learnt, Patience, Timeouts
from agent_magics.providers.exchanges import Exchange, RequestLog, Tapped
from agent_magics.providers.faults import Fault
from agent_magics.providers.profiles import Profile
from agent_magics.providers.retrying import Persistent, Random, retry_after
from agent_magics.providers.trying import Response, Tries, said_by
from agent_magics.providers.watch import Silent, Watch

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

__all__ = ["Endpoint", "Learnt", "OpenAIModel", "Patience", "Profile", "Timeouts", "preload"]

_LARGEST_LIST = 4 * 1024 * 1024
"""Bytes of a list of models that are read."""


def preload() -> None:
    """Import `openai` now, for a moment when nobody waits."""
    import openai  # noqa: F401  # the import is the effect


class OpenAIModel:
    """A model of an OpenAI-compatible server; fulfils `ports.Model`.

    Args:
        name: As the server knows it.
        endpoint: Where it is.
        clock: Seconds since the epoch, for dates that a server names.
        sleep: Waits between tries.
        rng: Numbers from 0 to 1, for the length of waits.
        lessons: What servers taught so far; shared where models of one session come and go.
        log: Writes requests while somebody wants it.
    """

    def __init__(
        self,
        name: str,
        *,
        endpoint: Endpoint,
        clock: Clock = time.time,
        sleep: Sleep = asyncio.sleep,
        rng: Random = random.random,
        lessons: Learnt | None = None,
        log: RequestLog | None = None,
    ) -> None:
        self.name = name
        self.endpoint = endpoint
        self._clients = _Clients(endpoint, name, clock, log or RequestLog())
        self._tries = Tries(
            name, endpoint, lessons if lessons is not None else Learnt(), self._clients.chat
        )
        self._persistent = Persistent(self._tries.ask, endpoint.patience, sleep=sleep, rng=rng)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, endpoint={self.endpoint!r})"

    @property
    def profile(self) -> Profile:
        """What is known of the endpoint by now."""
        return self._tries.profile

    def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Ask and stream the answer; see `ports.Model`."""
        return self._persistent.stream(request)

    async def models(self) -> tuple[str, ...]:
        """The models that the server says it has; empty where it does not say in its own words.

        Raises:
            ModelError: It cannot be asked.
        """
        try:
            return model_names(await self._clients.models())
        except Fault as fault:
            raise fault.error from None

    async def aclose(self) -> None:
        """Close the connections that were made in the running event loop."""
        await self._clients.aclose()


class _Clients:
    """The clients of one endpoint, one for each event loop that asks.

    A connection cannot move between event loops, and each notebook cell has its own. A new client
    costs a tenth of a millisecond once the certificates are read, so it is made where it is needed.
    """

    def __init__(self, endpoint: Endpoint, model: str, clock: Clock, log: RequestLog) -> None:
        self._endpoint = endpoint
        self._log = log
        self._place = endpoint.place(model)
        self._clock = clock
        self._tls: ssl.SSLContext | None = None
        self._by_loop: dict[asyncio.AbstractEventLoop, AsyncOpenAI] = {}

    async def chat(self, body: bytes) -> Response:
        """Send a chat request; fulfils `trying.Send`."""
        return await self._send("POST", "/chat/completions", body)

    async def models(self) -> bytes:
        """The body of the list of models; raises `Fault`."""
        watch = Watch(self._endpoint.timeout.connect)
        body = bytearray()
        response: Response | None = None
        try:
            response = await watch.wait(self._send("GET", "/models", None))
            pieces = response.aiter_bytes()
            while len(body) < _LARGEST_LIST and (piece := await watch.wait(anext(pieces, None))):
                body += piece
        except Fault:
            raise
        except Silent:
            error = advice.too_slow(watch.limit, "list of models", self._place)
            raise Fault("no list of models", error) from None
        except Exception as lost:  # noqa: BLE001  # httpx2, anyio, ssl, zlib: no common class
            error = advice.broken_off(said_by(lost), self._place)
            raise Fault("no list of models", error) from None
        finally:
            watch.stop()
            if response is not None:
                await response.aclose()
        return bytes(body)

    async def aclose(self) -> None:
        """Close what was opened in the running event loop."""
        client = self._by_loop.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _send(self, method: str, path: str, body: bytes | None) -> Response:
        """The response as soon as its status is known and good."""
        client = self._client()
        exchange = self._log.begin(self._place, method, path, body)
        if exchange is None:
            return await self._answer(client, method, path, body)
        try:
            response = await self._answer(client, method, path, body, exchange)
        except BaseException as lost:  # an interrupt, too, is in the log
            exchange.ended(lost.reason if isinstance(lost, Fault) else type(lost).__name__)
            raise
        exchange.answered(response.status_code, response.headers, response.request.headers)
        return Tapped(response, exchange)

    async def _answer(
        self,
        client: AsyncOpenAI,
        method: str,
        path: str,
        body: bytes | None,
        exchange: Exchange | None = None,
    ) -> httpx2.Response:
        import httpx2
        import openai

        send = client.get if method == "GET" else client.post
        options: dict[str, Any] = {} if body is None else {"content": body}
        try:
            # Ready bytes, and the response as it is: `create()` walks the whole history against
            # its types in each call, which makes a session's cost grow with its square.
            response = await send(
                path,
                cast_to=httpx2.Response,
                stream=True,
                stream_cls=openai.AsyncStream[Any],
                **options,
            )
        except openai.APIStatusError as refused:
            if exchange is not None:
                answer = refused.response
                exchange.answered(answer.status_code, answer.headers, answer.request.headers)
                exchange.piece(answer.content)
            raise self._refusal(refused.response) from None
        except Exception as lost:  # noqa: BLE001  # anyio and httpx2 raise more than their own
            raise self._unreached(lost) from None
        return cast("httpx2.Response", response)

    def _refusal(self, response: httpx2.Response) -> Fault:
        headers = {name.lower(): value for name, value in response.headers.items()}
        if 300 <= response.status_code < 400 and headers.get("location"):
            where = str(response.url.join(headers["location"]))
            error = reaching.elsewhere(where, response.status_code, self._place)
            return Fault("redirected", error, again=False)
        wait = retry_after(headers, self._clock)
        complaint = read_complaint(response.content, response.status_code)
        fault = refusal(complaint, self._place, wait)
        if headers.get("x-should-retry") == "false":  # OpenAI's own word, stronger than the status
            fault.again = False
        return fault

    def _unreached(self, lost: Exception) -> Fault:
        import httpx2

        cause = lost.__cause__ or lost
        if isinstance(cause, httpx2.ReadTimeout):  # only the answer to CONNECT has such a bound
            error = reaching.silent_proxy(self._endpoint.timeout.connect, self._place)
            return Fault("no answer from the proxy", error)
        if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
            error = advice.too_slow(self._endpoint.timeout.connect, "connection", self._place)
            return Fault("no connection", error)
        error = reaching.unreachable(cause, self._place)
        reason = "no connection" if isinstance(cause, httpx2.ConnectError) else said_by(cause)
        reason = self._place.clean(reason)
        return Fault(reason, error, again=not reaching.lasting(cause))

    def _client(self) -> AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._by_loop.get(loop)
        if client is None:
            # Loops that ended without `aclose` took their connections with them.
            for other in list(self._by_loop):
                if other.is_closed():
                    self._by_loop.pop(other, None)
            client = self._by_loop[loop] = self._new_client()
        return client

    def _new_client(self) -> AsyncOpenAI:
        import httpx2
        import openai

        endpoint = self._endpoint
        if problem := endpoint.url_problem:
            raise Fault("no URL", reaching.bad_url(problem, self._place), again=False)
        for name, value in {"API key": endpoint.key, **endpoint.headers}.items():
            if not value.isascii() or not value.isprintable():
                raise Fault("bad header", reaching.bad_header(name), again=False)
        parts = urlsplit(endpoint.url)
        try:
            http_client = openai.DefaultAsyncHttpxClient(
                **transport.client_options(endpoint, self._tls_context())
            )
            return openai.AsyncOpenAI(
                base_url=parts._replace(query="", fragment="").geturl(),
                default_query=dict(parse_qsl(parts.query)),
                api_key=endpoint.key or "none",
                default_headers=endpoint.headers,
                max_retries=0,
                timeout=transport.time_limits(endpoint),
                http_client=http_client,
            )
        except (httpx2.InvalidURL, ValueError, OSError, ImportError) as wrong:  # a proxy, a file
            error = reaching.unreachable(wrong, self._place)
            raise Fault("no client", error, again=False) from None

    def _tls_context(self) -> ssl.SSLContext:
        """Made once: reading the certificates takes longer than a whole request."""
        if self._tls is None:
            self._tls = transport.tls_context(self._endpoint)
        return self._tls


def model_names(body: bytes) -> tuple[str, ...]:
    """The names in a server's list of models; empty where it is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    entries = value.get("data") if isinstance(value, Mapping) else value
    if not isinstance(entries, list):
        return ()
    names = [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    return tuple(name for name in names if isinstance(name, str) and name.isprintable())
