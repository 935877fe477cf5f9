"""HTML cut into tags and text, in linear time whatever it holds. Pure.

The standard library's parser needs quadratic time for some broken pages (an unclosed comment after
many `<`, say), so pages of strangers are cut here, after the HTML standard's rules as far as they
matter for reading: comments, quotes in attributes, and the elements that hold raw text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Start:
    """A start tag; names in lower case, values unescaped."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class End:
    """An end tag."""

    name: str


Token: TypeAlias = Start | End | str
RAW = frozenset(
    ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
)
"""Elements whose content is text whatever it looks like."""
MAX_ATTRIBUTES = 100
MAX_VALUE = 10_000
"""Characters of an attribute's value; longer ones are inlined pictures."""

_MARKUP = re.compile(r"<([a-zA-Z/!?])")
_TAG_NAME = re.compile(r"[a-zA-Z][^\s/>\x00]*")
_ATTRIBUTE = re.compile(r"([^\s/>=\"'][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")
_LONG_NUMBER = re.compile(r"&#(?:[xX][0-9a-fA-F]{8}[0-9a-fA-F]*|[0-9]{9}[0-9]*);?")
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in RAW}


def unescaped(text: str) -> str:
    """The text with its character references resolved."""
    if "&" not in text:
        return text
    # Python refuses to read numbers of thousands of digits; no character has such a number.
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def tokens(source: str) -> Iterator[Token]:
    """The tags and texts of a page, in order; comments and declarations are left out.

    An element that holds raw text comes as its start tag, its text, and its end tag.
    """
    cutter = _Cutter(source)
    while not cutter.ended:
        yield from cutter.step()


@dataclass(slots=True)
class _Cutter:
    """A place in a page; `seen` holds, for a text, from where it was looked for and found where."""

    source: str
    at: int = 0
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.source)

    def step(self) -> Iterator[Token]:
        """The next text, and the tag or comment behind it."""
        markup = _MARKUP.search(self.source, self.at)
        start = markup.start() if markup else len(self.source)
        if start > self.at:
            yield unescaped(self.source[self.at : start])
        if markup is None:
            self.at = start
        elif markup[1] == "/":
            yield from self._end_tag(start + 2)
        elif markup[1] in "!?":
            self._skip_comment(start)
        else:
            yield from self._start_tag(start + 1)

    def find(self, wanted: str, start: int) -> int:
        """Like `str.find`, but no part of the page is searched twice for the same text."""
        begun, found = self.seen.get(wanted, (0, -1))
        if not begun <= start <= found:
            found = self.source.find(wanted, start)
            found = len(self.source) if found < 0 else found
            self.seen[wanted] = (start, found)
        return found if found < len(self.source) else -1

    def _start_tag(self, start: int) -> Iterator[Token]:
        name_found = _TAG_NAME.match(self.source, start)
        assert name_found is not None
        name = name_found.group().lower()
        end = self._tag_end(name_found.end())
        attributes = _attributes(self.source, name_found.end(), end)
        self.at = min(end + 1, len(self.source))
        yield Start(name, attributes)
        if name in RAW and not self.source.startswith("/", end - 1):
            yield from self._raw(name)

    def _raw(self, name: str) -> Iterator[Token]:
        closing = _RAW_END[name].search(self.source, self.at)
        end = closing.start() if closing else len(self.source)
        text = self.source[self.at : end]
        yield unescaped(text) if name in ("title", "textarea") else text
        self.at = end

    def _end_tag(self, start: int) -> Iterator[Token]:
        name_found = _TAG_NAME.match(self.source, start)
        end = self._tag_end(name_found.end() if name_found else start)
        self.at = min(end + 1, len(self.source))
        if name_found:
            yield End(name_found.group().lower())

    def _tag_end(self, start: int) -> int:
        """Where the `>` of a tag stands, or the end of the page."""
        at = start
        while True:
            closing = self.find(">", at)
            if closing < 0:
                return len(self.source)
            quote, opened = self._quote(at, closing)
            if not quote:
                return closing
            shut = self.find(quote, opened + 1)
            if shut < 0:
                return closing
            at = shut + 1

    def _quote(self, start: int, end: int) -> tuple[str, int]:
        """The first quotation mark that begins a value; only those behind `=` do."""
        at = start
        while (equals := self.source.find("=", at, end)) >= 0:
            at = equals + 1
            while at < end and self.source[at].isspace():
                at += 1
            if at < end and self.source[at] in "\"'":
                return self.source[at], at
        return "", end

    def _skip_comment(self, start: int) -> None:
        if not self.source.startswith("<!--", start):
            end = self.find(">", start)
            self.at = end + 1 if end >= 0 else len(self.source)
            return
        if self.source.startswith((">", "->"), start + 4):
            self.at = self.source.index(">", start) + 1
            return
        plain, odd = self.find("-->", start + 4), self.find("--!>", start + 4)
        ends = [end + size for end, size in ((plain, 3), (odd, 4)) if end >= 0]
        self.at = min(ends, default=len(self.source))


def _attributes(source: str, start: int, end: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(source, start, end):
        if len(found) == MAX_ATTRIBUTES:
            break
        value = match[2] if match[2] is not None else match[3]
        value = value if value is not None else match[4] or ""
        # The first of two counts, as in browsers.
        found.setdefault(match[1].lower(), unescaped(value[:MAX_VALUE]))
    return found
