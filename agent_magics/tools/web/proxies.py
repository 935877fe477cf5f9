"""Which proxy an address goes through, by the variables that all programs know. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from agent_magics.tools.web.urls import WebUrl

Proxies: TypeAlias = Mapping[str, str]
"""`http`, `https`, `all`: a proxy's URL; `no`: hosts that are asked directly."""


def proxies_of(variables: Mapping[str, str]) -> Proxies:
    """The proxies that an environment names; lower-case names win."""
    found: dict[str, str] = {}
    for kind in ("http", "https", "all", "no"):
        upper = f"{kind}_proxy".upper()
        # In a CGI program HTTP_PROXY is a header of whoever asks.
        believed = not (kind == "http" and "REQUEST_METHOD" in variables)
        value = variables.get(f"{kind}_proxy") or (variables.get(upper) if believed else None)
        if value and value.strip():
            found[kind] = value.strip()
    return found


def proxy_for(url: WebUrl, proxies: Proxies) -> str | None:
    """The proxy for an address, or None where it is asked directly."""
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or _excepted(url, proxies.get("no", "")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _excepted(url: WebUrl, no: str) -> bool:
    for entry in no.lower().replace(",", " ").split():
        name = entry.removeprefix("*").lstrip(".")
        if entry == "*" or name in (url.host, f"{url.host}:{url.port}"):
            return True
        if name and url.host.endswith(f".{name}"):
            return True
    return False
