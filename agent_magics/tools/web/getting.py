"""Getting one page: resolve, check, connect to the checked address, follow, read within limits.

The only module that imports `httpx2`'s transports. Each hop of a redirect goes the same way: the
name is resolved once, every answer is checked, and the connection goes to exactly one of the
checked addresses, so that a name server which changes its mind cannot lead anywhere else. TLS and
`Host` keep the name. No cookies, no credentials, no netrc: a request is made from nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.tools.web.bodies import CODINGS, Unpacking, kind_by_type
from agent_magics.tools.web.guarding import Allowed, refuse_private, usable
from agent_magics.tools.web.proxies import Proxies, proxy_for
from agent_magics.tools.web.resolving import Resolve
from agent_magics.tools.web.urls import DEFAULT_PORTS, WebUrl, joined

if TYPE_CHECKING:
    import ssl

    import httpx2

REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5
MAX_TRIED = 4
"""Addresses of one host that are tried, should the first not answer."""
HASTE = 4
"""Seconds for a connection while there is another address to try: IPv6 is often half there."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one call.

    Args:
        size: Bytes of a page, unpacked.
        connect: Seconds for one connection.
        silence: Seconds without a byte.
        total: Seconds for everything, redirects included.
    """

    size: int = 5_000_000
    connect: float = 10
    silence: float = 15
    total: float = 40


@dataclass(frozen=True, slots=True)
class Way:
    """How pages are got.

    Args:
        agent: The `User-Agent`.
        allowed: What the person's configuration opens.
        proxies: The proxies that the person's environment names.
        resolve: All addresses of a host.
        bounds: Limits.
        trust: Makes the TLS settings; None: those of this system.
    """

    agent: str
    allowed: Allowed
    proxies: Proxies
    resolve: Resolve
    bounds: Bounds = Bounds()
    trust: Callable[[], ssl.SSLContext] | None = None


@dataclass(frozen=True, slots=True)
class Got:
    """An answer.

    Args:
        url: Where it came from in the end.
        status: The HTTP status.
        headers: By lower-case name.
        body: As far as it was read; empty for kinds that are not text.
        cut: Whether there is more than the limit.
    """

    url: WebUrl
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: bool = False

    @property
    def media_type(self) -> str:
        """The `Content-Type` without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


async def get(url: WebUrl, way: Way) -> Got:
    """GET an address and follow redirects within the site.

    Raises:
        ToolError: It cannot be had; the text says why and what to do.
    """
    reached = url
    try:
        async with asyncio.timeout(way.bounds.total):
            for _ in range(MAX_REDIRECTS + 1):
                async with _asked(reached, way) as response:
                    target = response.headers.get("location", "")
                    if response.status_code not in REDIRECTS or not target:
                        return await _read(reached, response, way.bounds)
                reached = _next(reached, target, way)
    except TimeoutError as error:
        raise ToolError(
            f"{reached} did not answer in full within {way.bounds.total:g} seconds. "
            "Try it once more later, or look for the same text elsewhere."
        ) from error
    raise ToolError(f"{url} redirects more than {MAX_REDIRECTS} times, at last to {reached}.")


def _next(url: WebUrl, location: str, way: Way) -> WebUrl:
    """Where a redirect leads, if the call may follow it."""
    following = joined(url, location)
    refuse_private(following, way.allowed)
    if not same_site(url, following):
        raise ToolError(
            f"{url} redirects to {following}, which is another place than the one that was asked "
            "for. It was not followed; call fetch with that address if it is what you need."
        )
    return following


def same_site(old: WebUrl, new: WebUrl) -> bool:
    """Whether a redirect stays with who was approved: same host, also with or without `www.`.

    From http to https, never back.
    """
    if old.host.removeprefix("www.") != new.host.removeprefix("www."):
        return False
    if old.scheme == new.scheme:
        return old.port == new.port
    usual = (old.port, new.port) == (DEFAULT_PORTS["http"], DEFAULT_PORTS["https"])
    return new.scheme == "https" and usual


Sent: TypeAlias = "httpx2.Response"


@asynccontextmanager
async def _asked(url: WebUrl, way: Way) -> AsyncIterator[Sent]:
    """One request; gives the response with its body still to be read."""
    import httpx2

    proxy = None if (url.host, url.port) in way.allowed else proxy_for(url, way.proxies)
    hosts = [url.host] if proxy else await _checked(url, way)
    transport = _transport(way, proxy, url)
    try:
        response = await _first(url, hosts, transport, way)
        try:
            yield response
        finally:
            await response.aclose()
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise ToolError(_unreached(url, error, proxied=proxy is not None)) from error
    finally:
        await transport.aclose()


async def _checked(url: WebUrl, way: Way) -> list[str]:
    """The addresses to connect to, all of them checked."""
    address = url.address
    found = [address] if address is not None else await way.resolve(url.host, url.port)
    if not found:
        raise ToolError(
            f"No address was found for the host {url.host}: check its spelling, or the network."
        )
    return [str(each) for each in usable(url, found, way.allowed)[:MAX_TRIED]]


async def _first(
    url: WebUrl, hosts: list[str], transport: httpx2.AsyncBaseTransport, way: Way
) -> Sent:
    """The response of the first address that takes a connection."""
    import httpx2

    hasty = replace(way.bounds, connect=min(way.bounds.connect, HASTE))
    for host in hosts[:-1]:
        try:
            return await transport.handle_async_request(_request(url, host, way.agent, hasty))
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await transport.handle_async_request(_request(url, hosts[-1], way.agent, way.bounds))


def _request(url: WebUrl, host: str, agent: str, bounds: Bounds) -> httpx2.Request:
    """A request for this address that goes to that host."""
    import httpx2

    place = WebUrl(url.scheme, host, url.port, url.target)
    return httpx2.Request(
        "GET",
        str(place),
        headers={
            "Host": url.authority,
            "User-Agent": agent,
            "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5",
            "Accept-Encoding": CODINGS,
            "Connection": "close",
        },
        extensions={
            "sni_hostname": url.host,
            "timeout": {
                "connect": bounds.connect,
                "read": bounds.silence,
                "write": bounds.silence,
                "pool": bounds.connect,
            },
        },
    )


def _transport(way: Way, proxy: str | None, url: WebUrl) -> httpx2.AsyncBaseTransport:
    import httpx2

    trust = way.trust() if way.trust is not None and url.scheme == "https" else True
    try:
        return httpx2.AsyncHTTPTransport(verify=trust, proxy=proxy)
    except ImportError as error:
        raise ToolError(
            "The proxy of the environment speaks SOCKS, which needs the package socksio."
        ) from error
    except ValueError as error:
        raise ToolError("The proxy that the environment names has no usable address.") from error


async def _read(url: WebUrl, response: Sent, bounds: Bounds) -> Got:
    headers = {name.lower(): value for name, value in response.headers.items()}
    got = Got(url, response.status_code, headers)
    if kind_by_type(got.media_type) == "binary":
        return got
    unpacking = Unpacking(headers.get("content-encoding", "").strip().lower(), bounds.size)
    async for piece in response.aiter_raw():
        unpacking.feed(piece)
        if unpacking.full:
            break
    body = bytes(unpacking.data[: bounds.size])
    return Got(url, response.status_code, headers, body, cut=unpacking.full)


def _unreached(url: WebUrl, error: Exception, *, proxied: bool) -> str:
    """Why there was no answer, in words; never holds a proxy's address."""
    import httpx2

    words = f"{error}\n{error.__cause__}"
    via = " through the proxy of the environment" if proxied else ""
    match error:
        case _ if "CERTIFICATE_VERIFY_FAILED" in words or "CertificateError" in words:
            return f"The TLS certificate of {url.host} is not valid for it, so nothing was read."
        case httpx2.ConnectTimeout():
            return f"{url.authority} does not take a connection{via}: it took too long."
        case httpx2.TimeoutException():
            return f"{url.authority} stopped sending. Try it once more later."
        case httpx2.ProxyError():
            return f"The proxy of the environment refused the request for {url.authority}."
        case httpx2.ConnectError():
            return f"No connection to {url.authority}{via}. Check the address."
        case httpx2.RemoteProtocolError() | httpx2.LocalProtocolError():
            return f"{url.authority} broke off or does not speak HTTP as it should."
        case _:
            return f"Reading {url} failed ({type(error).__name__})."
