"""Web addresses, read strictly and written in one way only. Pure.

What is approved, matched by rules, checked and asked for is always the same normalised text, so
that no two readers of an address can disagree about its host. Odd spellings are refused, or become
what they mean before anyone looks at them. Knows nothing of which hosts may be asked.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, urljoin

from agent_magics.errors import ToolError
from agent_magics.tools.plain import printable

MAX_URL = 4000
"""Characters of an address; common servers take 8,000, and an address is no place for data."""
DEFAULT_PORTS = {"http": 80, "https": 443}

IP: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_PARTS = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]|\s")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_STRAY_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
_ESCAPED = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class WebUrl:
    """An address whose every part is known; its text is the one way to write it.

    Args:
        scheme: `http` or `https`.
        host: A name in lower-case ASCII without a trailing dot, or an IP address without brackets.
        port: From 1 to 65535.
        target: Path and query, beginning with `/`.
    """

    scheme: str
    host: str
    port: int
    target: str = "/"

    @property
    def authority(self) -> str:
        """The host, and the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def address(self) -> IP | None:
        """The IP address, where the host is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def query(self) -> str:
        """What stands behind the `?`."""
        return self.target.partition("?")[2]

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parsed(text: str) -> WebUrl:
    """What an address means.

    Raises:
        ToolError: It is no address of the web, or is written so that programs disagree about it.
    """
    text = text.strip()
    if len(text) > MAX_URL:
        raise ToolError(f"The address has {len(text):,} characters; at most {MAX_URL:,} are sent.")
    if _FORBIDDEN.search(text):
        raise ToolError(
            "The address holds a blank, a control character or a backslash; "
            "write those in a path or query as %20 and the like."
        )
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ToolError(f"{_short(text)} is no whole address; write it as https://host/path.")
    scheme = parts["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise ToolError(f"fetch takes http and https addresses only, not {scheme}:.")
    host, port = _host_and_port(parts["authority"])
    if port is None:
        port = DEFAULT_PORTS[scheme]
    return WebUrl(scheme, host, port, _target(parts["rest"].partition("#")[0]))


def joined(base: WebUrl, location: str) -> WebUrl:
    """Where a redirect leads.

    Raises:
        ToolError: As for `parsed`.
    """
    location = location.strip()
    if _FORBIDDEN.search(location):
        # Some servers send blanks and letters as they are; nothing else is mended.
        location = location.replace(" ", "%20")
    if "\\" in location or location.startswith("///"):
        raise ToolError(f"{base} redirects to an address that cannot be understood.")
    try:
        return parsed(urljoin(str(base), location))
    except ValueError as error:
        raise ToolError(f"{base} redirects to an address that cannot be understood.") from error


def host_entry(text: str) -> tuple[str, int]:
    """A `host:port` of a configuration.

    Raises:
        ToolError: It is none.
    """
    host, port = _host_and_port(text.strip())
    if port is None:
        raise ToolError(f"{_short(text)} has no port; write it as host:port, e.g. localhost:8000")
    return host, port


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise ToolError("The address holds a user name or a password; fetch sends none.")
    if authority.startswith("["):
        inside, bracket, after = authority[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise ToolError("The brackets of the IPv6 address are off.")
        return _ipv6(inside), _port(after[1:]) if after else None
    name, colon, port = authority.partition(":")
    return _host(name), _port(port) if colon else None


def _port(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 5 or not 0 < int(text) < 65536:
        raise ToolError(f"{_short(text)} is no port; ports are numbers from 1 to 65535.")
    return int(text)


def _ipv6(text: str) -> str:
    if "%" in text:
        raise ToolError("An IPv6 address with a zone belongs to this machine's own network.")
    try:
        return ipaddress.IPv6Address(text).compressed
    except ValueError as error:
        raise ToolError(f"[{_short(text)}] is no IPv6 address.") from error


def _host(text: str) -> str:
    """The name in its one spelling; an IPv4 address only as four decimal numbers."""
    if "%" in text:
        raise ToolError("The host holds a percent sign; write its characters as they are.")
    host = _ascii(text).lower().removesuffix(".")
    if not host:
        raise ToolError("The address has no host; write it as https://host/path.")
    labels = host.split(".")
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return _ipv4(host, labels)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ToolError(f"{_short(text)} is no name that a host can have.")
    return host


def _ascii(text: str) -> str:
    """A name with letters beyond ASCII as name servers know it; odd digits and dots are mapped."""
    if text.isascii():
        return text
    import idna

    try:
        mapped = idna.uts46_remap(text, std3_rules=True)
        return mapped if mapped.isascii() else idna.encode(mapped).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise ToolError(f"{_short(text)} is no name that a host can have.") from error


def _ipv4(host: str, labels: list[str]) -> str:
    """Browsers read 127.1, 0x7f000001 and 0177.0.0.1 as addresses; here they are refused."""
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        meant = _meant(labels)
        hint = f" It means {meant}." if meant else ""
        raise ToolError(
            f"{_short(host)} is an IP address in an odd spelling, and is not used.{hint}"
        ) from None


def _meant(labels: list[str]) -> str:
    """The address that an odd spelling means, by the URL standard's IPv4 parser."""
    try:
        numbers = [_number(label) for label in labels]
    except ValueError:
        return ""
    if len(numbers) > 4 or any(n > 255 for n in numbers[:-1]):
        return ""
    if numbers[-1] >= 256 ** (5 - len(numbers)):
        return ""
    value = numbers[-1] + sum(n << (8 * (3 - i)) for i, n in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(value))


def _number(label: str) -> int:
    if len(label) > 20:
        raise ValueError
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") and len(label) > 1 else int(label)


def _target(rest: str) -> str:
    """Path and query in one spelling: no `..`, nothing escaped that need not be."""
    path, mark, query = rest.partition("?")
    path = quote(_STRAY_PERCENT.sub("%25", path), safe="/%:@!$&'()*+,;=-._~")
    query = quote(_STRAY_PERCENT.sub("%25", query), safe="/?%:@!$&'()*+,;=-._~[]")
    path = _ESCAPED.sub(_plain, path)
    return _without_dots(path) + mark + query


def _plain(escaped: re.Match[str]) -> str:
    character = chr(int(escaped[1], 16))
    return character if character in _UNRESERVED else escaped[0].upper()


def _without_dots(path: str) -> str:
    parts: list[str] = []
    pieces = path.split("/")[1:]
    for piece in pieces:
        if piece == "..":
            parts = parts[:-1]
        elif piece != ".":
            parts.append(piece)
    ends_open = bool(pieces) and pieces[-1] in (".", "..", "")
    whole = "/" + "/".join(parts)
    return whole + "/" if ends_open and not whole.endswith("/") else whole


def _short(text: str) -> str:
    return repr(printable(text[:80]))
