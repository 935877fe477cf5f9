"""How bytes go to an endpoint: certificates, a proxy, bounds on silence, no redirects.

Owns what is set on the HTTP client, and why. A redirect is never followed: it would carry the
conversation, and any key that stands in a header of another name than `Authorization`, to whoever
the server names. Knows no protocol of models. `httpx2` is imported late, as `openai` is.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from agent_magics.providers import reaching
from agent_magics.providers.endpoint import Endpoint
from agent_magics.providers.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import httpx2

_KEPT = 30.0
"""Seconds for which an idle connection is kept: a tool's run long, less than servers keep it."""


def tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """The certificates that are trusted: the usual ones, and those of the endpoint's own file.

    Raises:
        Fault: The endpoint's file cannot be used.
    """
    import httpx2

    if endpoint.url.startswith("http:") and not (endpoint.proxy or "").startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # never used; the usual ones take 20 ms
    context = httpx2.create_ssl_context()
    if endpoint.ca_file is not None:
        try:
            context.load_verify_locations(cafile=endpoint.ca_file)
        except (OSError, ValueError) as wrong:
            error = reaching.bad_ca_file(str(endpoint.ca_file), wrong)
            raise Fault("no certificates", error, again=False) from None
    return context


def time_limits(endpoint: Endpoint) -> httpx2.Timeout:
    """The transport's bounds; silence in an answer is watched elsewhere (`watch`)."""
    import httpx2

    limits = endpoint.timeout
    return httpx2.Timeout(connect=limits.connect, read=None, write=limits.idle, pool=None)


def client_options(endpoint: Endpoint, tls: ssl.SSLContext) -> dict[str, Any]:
    """What the HTTP client is made with.

    Raises:
        ValueError, ImportError, OSError: The proxy's URL is none, or its kind needs a package.
    """
    import httpx2

    return {
        "verify": tls,
        "timeout": time_limits(endpoint),
        "limits": httpx2.Limits(keepalive_expiry=_KEPT),
        "proxy": _proxy(endpoint.proxy, tls) if endpoint.proxy else None,
        # The environment's proxies, as the openai package takes them; none for this machine.
        "trust_env": endpoint.proxy is None and not endpoint.is_local,
        "follow_redirects": False,
        "event_hooks": {"request": [_headers(endpoint), _bounding(endpoint.timeout.connect)]},
    }


def _proxy(url: str, tls: ssl.SSLContext) -> httpx2.Proxy:
    """The proxy; its certificate is checked like the server's where it is asked with TLS."""
    import httpx2

    return httpx2.Proxy(url, ssl_context=tls if url.startswith("https:") else None)


_OF_THE_TRANSPORT = frozenset((
    "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
    "transfer-encoding", "user-agent",
))  # fmt: skip


def _headers(endpoint: Endpoint) -> Callable[[httpx2.Request], Awaitable[None]]:
    """A hook that leaves a named endpoint the headers of its own, and puts the key in its place.

    The openai package adds `OPENAI_CUSTOM_HEADERS`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID` of the
    environment to each request. They belong to the environment's endpoint, and may hold its key.
    """
    own = {name.lower() for name in endpoint.headers}
    key_header = endpoint.known_profile.key_header.lower()

    async def hook(request: httpx2.Request) -> None:
        if endpoint.name:
            for name in list(request.headers):
                if name.lower() not in own | _OF_THE_TRANSPORT:
                    del request.headers[name]
        if key_header != "authorization" and "authorization" not in own:
            request.headers.pop("authorization", None)
        if endpoint.key and key_header not in own:
            bearer = "Bearer " if key_header == "authorization" else ""
            request.headers.setdefault(key_header, f"{bearer}{endpoint.key}")

    return hook


def _bounding(seconds: float) -> Callable[[httpx2.Request], Awaitable[None]]:
    """A hook that bounds how long a proxy may take to open a tunnel.

    A tunnel is asked for with a request of its own (CONNECT) under the time-outs of the request
    that needs it, whose answer may well take minutes. That of CONNECT may not.
    """

    async def trace(event: str, info: dict[str, Any]) -> None:
        asked = info.get("request")
        if asked is None or asked.method != b"CONNECT":
            return
        if event.endswith("send_request_headers.started"):
            limits = dict(asked.extensions.get("timeout") or {})
            asked.extensions["timeout"] = {**limits, "read": seconds}

    async def hook(request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "trace": trace}

    return hook
