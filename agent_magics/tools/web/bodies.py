"""From the bytes of an answer to text: compression, kind, character set. Pure.

Owns the bound on what is unpacked. Knows no network.
"""

from __future__ import annotations

import codecs
import re
import zlib
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.tools.documents import SNIFFED, kind_of

Kind: TypeAlias = Literal["html", "text", "binary", "unknown"]

CODINGS = "gzip, deflate"
"""What is asked for: what the standard library unpacks piece by piece, within a bound."""
PIECE = 65_536
"""Bytes that are unpacked at once."""
_TEXT = re.compile(
    r"text/.*|application/(json|xml|javascript|ecmascript|csv|yaml|x-yaml|toml|x-ndjson|ndjson|"
    r"x-tex|x-sh|x-python|sql|rtf|graphql|ld\+json|x-ipynb\+json)|.*\+(json|xml|yaml)|image/svg\+xml"
)
_BINARY = re.compile(
    r"(image|audio|video|font|model)/.*|application/(pdf|zip|gzip|x-.*|vnd\..*|msword|wasm)"
)
_META = re.compile(
    rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE
)
_XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})[\"']")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
META_WITHIN = 4096
"""Bytes in which a page's own word on its character set is looked for (browsers: 1,024)."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MEANT = {
    # What browsers take these labels for (the Encoding standard).
    **dict.fromkeys(("iso8859-1", "ascii", "latin-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **{"shift_jis": "cp932", "euc_kr": "cp949", "iso8859-9": "cp1254", "iso8859-11": "cp874"},
}
_KNOWN = re.compile(
    r"utf-8|utf-16(-[lb]e)?|cp12\d\d|cp866|cp874|cp932|cp949|iso8859-\d+|koi8-[rut]|mac-roman|"
    r"mac-cyrillic|gb18030|big5(hkscs)?|euc_jp|iso2022_jp|tis-620"
)


@dataclass(slots=True)
class Unpacking:
    """Takes the pieces of a body and unpacks them, up to a limit.

    Args:
        coding: The `Content-Encoding`.
        limit: Bytes that are kept; one more may be unpacked, to know that there are more.
    """

    coding: str
    limit: int
    data: bytearray = field(default_factory=bytearray)
    _unpack: zlib._Decompress | None = None
    _raw: int = 0

    def __post_init__(self) -> None:
        if self.coding in ("gzip", "x-gzip"):
            self._unpack = zlib.decompressobj(wbits=31)
        elif self.coding == "deflate":
            self._unpack = zlib.decompressobj()
        elif self.coding not in ("", "identity"):
            raise ToolError(
                f"The answer is packed in a way that fetch does not unpack ({self.coding[:40]!r})."
            )

    @property
    def full(self) -> bool:
        """Whether there is more than the limit."""
        return len(self.data) > self.limit or self._raw > self.limit

    def feed(self, piece: bytes) -> None:
        """Take one piece as it came.

        Raises:
            ToolError: It cannot be unpacked.
        """
        self._raw += len(piece)
        if self._unpack is None:
            self.data += piece[: self._room]
            return
        try:
            while piece and self._room > 0:
                piece = self._step(piece)
        except zlib.error as error:
            raise ToolError("The answer is damaged: it cannot be unpacked.") from error

    def _step(self, piece: bytes) -> bytes:
        """Unpack a bounded part; gives what is still to be unpacked."""
        assert self._unpack is not None
        if self.coding == "deflate" and self._raw == len(piece) and piece[0] & 0x0F != 8:
            # Some servers leave out the two bytes in front that the standard wants.
            self._unpack = zlib.decompressobj(wbits=-15)
        self.data += self._unpack.decompress(piece, min(self._room, PIECE))
        if self._unpack.eof:
            rest = self._unpack.unused_data
            # A gzip file may have several members; anything else behind it is padding.
            if not rest.startswith(b"\x1f\x8b") or self.coding == "deflate":
                return b""
            self._unpack = zlib.decompressobj(wbits=31)
            return rest
        return self._unpack.unconsumed_tail

    @property
    def _room(self) -> int:
        return self.limit + 1 - len(self.data)


def kind_by_type(media_type: str) -> Kind:
    """What a `Content-Type` promises; `unknown` where only the bytes can say."""
    if media_type in ("text/html", "application/xhtml+xml"):
        return "html"
    if _TEXT.fullmatch(media_type):
        return "text"
    return "binary" if _BINARY.fullmatch(media_type) else "unknown"


def kind_by_bytes(data: bytes, promised: Kind) -> Kind:
    """What a body is. A promise of text that the bytes break is not believed."""
    marked = any(data.startswith(mark) for mark, _ in _MARKS)
    odd = b"\0" in data[:SNIFFED] and not marked
    if odd or kind_of(data) != "binary data":
        return "binary"
    if promised == "unknown":
        head = data[:META_WITHIN].lstrip().lower()
        marked = head.startswith(b"<!doctype html") or (head.startswith(b"<") and b"<html" in head)
        return "html" if marked else "text"
    return promised


def text_of(data: bytes, content_type: str, kind: Kind, *, cut: bool = False) -> tuple[str, str]:
    """The text of a body, and the codec by which it was read.

    A byte order mark wins, then the header, then the page's own word, then UTF-8 if it fits, else
    Windows-1252, as in browsers. Bytes that fit nowhere become U+FFFD.

    Args:
        data: The body, unpacked.
        content_type: The header.
        kind: What it is.
        cut: Whether there was more, so that the last character may be half.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace"), codec
    said = _CHARSET.search(content_type[:500])
    codec = _codec(said[1]) if said else ""
    if not codec:
        found = (_META if kind == "html" else _XML).search(data[:META_WITHIN])
        codec = _codec(found[1].decode("ascii")) if found else ""
        if codec.startswith("utf-16"):
            codec = "utf-8"  # it could not have been read if it were true
    if codec:
        return data.decode(codec, "replace"), codec
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"


def _codec(label: str) -> str:
    """Python's name for a character set that pages use; empty for anything else."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = _MEANT.get(name, name)
    return name if _KNOWN.fullmatch(name) else ""
