"""Which hosts and IP addresses belong to the public web, and which to someone's own network. Pure.

The agent sits inside a person's network: what a model names must not reach their router, their
other services, or the metadata service of their cloud. Tables instead of `ipaddress.is_global`,
since that changed its mind between Python's releases. Resolves no name; is told the addresses.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.tools.web.urls import IP, WebUrl

Allowed: TypeAlias = Collection[tuple[str, int]]
"""Hosts with their ports that the person's own configuration opens."""

_V4 = tuple(
    (ipaddress.IPv4Network(network), words)
    for network, words in (
        # IANA's special-purpose registry for IPv4, multicast and class E.
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a provider's own network"),
        ("127.0.0.0/8", "this machine"),
        ("169.254.0.0/16", "this network's own segment, where clouds keep their metadata"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for examples"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "an address for measurements"),
        ("198.51.100.0/24", "an address for examples"),
        ("203.0.113.0/24", "an address for examples"),
        ("224.0.0.0/4", "a multicast group"),
        ("240.0.0.0/4", "a reserved address"),
        # Public by its number, but it answers inside an Azure machine only, with its settings.
        ("168.63.129.16/32", "a cloud's metadata service"),
    )
)
_V6 = tuple(
    (ipaddress.IPv6Network(network), words)
    for network, words in (
        ("::1/128", "this machine"),
        ("::/128", "this machine"),
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("::/96", "an IPv4 address in disguise"),
        ("64:ff9b:1::/48", "a private network behind a translator"),
        ("100::/64", "an address that leads nowhere"),
        ("2001::/32", "an IPv4 address in disguise (Teredo)"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "an address for examples"),
        ("2002::/16", "an IPv4 address in disguise (6to4)"),
        ("3fff::/20", "an address for examples"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "this network's own segment"),
        ("fec0::/10", "a private network"),
        ("ff00::/8", "a multicast group"),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 from which public addresses are given out."""
_LOCAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("100.64.0.0/10", "fc00::/7"),
    )
)
"""What a name that the person opened may mean: this machine and private networks."""

_METADATA = frozenset(
    ipaddress.ip_address(address) for address in ("100.100.100.200", "fd00:ec2::254")
)
"""Metadata services inside of those networks (Alibaba Cloud, AWS)."""

_OWN_ENDINGS = frozenset(
    (
        *("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp"),
        *("private", "arpa", "svc", "cluster", "test", "invalid", "example", "onion", "i2p"),
    )
)
"""Last labels that no public registry gives out (RFC 6761, 6762, 8375, 9476, and habit)."""
_OWN_NAMES = frozenset(
    (
        # Public names that lead to the asking machine or to its cloud, for proxies that resolve
        # names themselves; where we resolve, their addresses give them away.
        *("metadata.goog", "metadata.tencentyun.com", "localtest.me", "lvh.me", "vcap.me"),
        *("lacolhost.com", "nip.io", "sslip.io", "xip.io", "traefik.me", "rbndr.us", "1u.ms"),
    )
)
_ODD_PORTS = frozenset(
    (
        # Above 1023, those that browsers block (the Fetch standard's "bad ports") …
        *(1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667),
        *(6668, 6669, 6679, 6697, 10080),
        # … and what takes commands from anyone who sends it a line.
        *(2375, 2379, 6379, 11211, 27017),
    )
)


def refuse_private(url: WebUrl, allowed: Allowed = ()) -> None:
    """Refuse a host that is not of the public web by its name, its number or its port.

    Raises:
        ToolError: It is not, and the person's configuration does not open it.
    """
    if (url.host, url.port) in allowed:
        return
    address = url.address
    reason = _reason_against_name(url.host) if address is None else reason_against(address)
    if reason:
        openable = _is_local(address) if address else not _leads_to_metadata(url.host)
        raise ToolError(_refusal(url, reason, openable=openable))
    if (url.port < 1024 and url.port not in (80, 443)) or url.port in _ODD_PORTS:
        raise ToolError(
            f"Port {url.port} is not one where web pages are; fetch does not ask there."
        )


def usable(url: WebUrl, addresses: Iterable[IP], allowed: Allowed = ()) -> tuple[IP, ...]:
    """The addresses of a host, if every one of them may be asked.

    One bad answer spoils all: a name that means both a public and a private address is made to
    slip past such checks.

    Args:
        url: Whose host was resolved.
        addresses: All that the resolver said.
        allowed: What the person opened. A name there may mean this machine or a private network,
            but not, say, a metadata service.

    Raises:
        ToolError: One of them is not public.
    """
    found = tuple(dict.fromkeys(addresses))
    opened = (url.host, url.port) in allowed
    for address in found:
        if opened and (url.address == address or _is_local(address)):
            continue
        reason = reason_against(address)
        if reason:
            openable = not opened and _is_local(address)
            raise ToolError(_refusal(url, f"{address}: {reason}", openable=openable))
    return found


def reason_against(address: IP) -> str:
    """Why an address is not of the public web, or the empty text."""
    if isinstance(address, ipaddress.IPv4Address):
        return next((words for network, words in _V4 if address in network), "")
    if address.scope_id:
        return "this network's own segment"
    if address in _NAT64:
        # IPv6-only networks reach IPv4 hosts in this way.
        return reason_against(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    reason = next((words for network, words in _V6 if address in network), "")
    if reason or address not in _GLOBAL_V6:
        return reason or "a reserved address"
    if (int(address) >> 32) & 0xFDFFFFFF == 0x00005EFE:
        return "an IPv4 address in disguise (ISATAP)"
    return ""


def _is_local(address: IP) -> bool:
    return address not in _METADATA and any(address in network for network in _LOCAL)


def _reason_against_name(host: str) -> str:
    labels = host.split(".")
    if len(labels) == 1:
        return "a name without a dot means a machine of one's own network"
    if labels[-1] in _OWN_ENDINGS:
        return f"names that end with .{labels[-1]} are not of the public web"
    return "the name leads to the machine that asks" if _leads_here(labels) else ""


def _leads_here(labels: Sequence[str]) -> bool:
    return any(".".join(labels[i:]) in _OWN_NAMES for i in range(len(labels)))


def _leads_to_metadata(host: str) -> bool:
    """Whether nobody should be told how to open a name that is not public."""
    labels = host.split(".")
    return labels[0] in ("metadata", "instance-data") or _leads_here(labels)


def _refusal(url: WebUrl, reason: str, *, openable: bool) -> str:
    entry = f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"
    hint = (
        f" A server of one's own can be opened with fetch_hosts: ['{entry}'] in the user's "
        "config.yaml, by the user."
        if openable
        else ""
    )
    return f"{url.authority} is not asked: {reason}. fetch reads the public web only.{hint}"
