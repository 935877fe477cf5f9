"""Private keys in texts: the lines between BEGIN and END. Pure.

Owns their search, also where a key is numbered, quoted, in a diff, in JSON, or cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

Span: TypeAlias = tuple[int, int, str]
"""Where a secret begins and ends in a text, and what stands in its place."""

LONGEST_KEY = 20_000
"""Characters of a private key's block; an RSA key of 16,384 bits has about 12,500."""
BEGIN, END = "-----BEGIN ", "-----END "
_KEYBEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What a line of a key can have before it: a line number, the mark of a diff, a quotation.
_KEY_LINE = re.compile(
    r"([ \t>+|#*\"'-]{0,20}(?:\d{1,7}\|)?[ \t>+\"'-]{0,20})"
    r"((?:[A-Za-z0-9+/=]{1,2000}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200})?)"
    r"([ \t\"',\\+]{0,20}(?:\r?\n|\\r\\n|\\n|$))"
)
SHORTEST_LINE = 16
"""Characters of a line that is taken for one of a key although one end of the key is missing."""
_LONG_LINE = re.compile(
    r"[ \t>+|#*\"'-]{0,20}(?:\d{1,7}\|)?[ \t>+\"'-]{0,20}"
    r"([A-Za-z0-9+/=]{16,2000})[ \t\"',\\+]{0,20}"
)
KEY = "[redacted private key]"


def key_spans(text: str) -> Iterator[Span]:
    """The lines of private keys, one by one: a text keeps its lines."""
    at = text.find(BEGIN)
    while at >= 0:
        begun = _KEYBEGINS.match(text, at)
        at += len(BEGIN)
        if begun is not None:
            at = begun.end()
            ended = _KEY_ENDS.search(text, at, at + LONGEST_KEY)
            end = ended.start() if ended else min(len(text), at + LONGEST_KEY)
            for start, stop in _body(text, at, end, whole=ended is not None):
                yield start, stop, KEY
                at = max(at, stop)
        at = text.find(BEGIN, at)
    yield from _without_begin(text)


def _without_begin(text: str) -> Iterator[Span]:
    """The lines before the end of a key whose beginning is not in the text."""
    at, floor = text.find(END), 0
    while at >= 0:
        ended = _KEY_ENDS.match(text, at)
        if ended is not None and text.rfind(BEGIN, floor, at) < 0:
            # From the last line before the end backwards, while they look like a key's.
            stop = text.rfind("\n", floor, at) + 1
            while stop > floor:
                start = max(floor, text.rfind("\n", floor, stop - 1) + 1)
                line = _LONG_LINE.fullmatch(text[start:stop].rstrip("\r\n"))
                if line is None:
                    break
                yield start + line.start(1), start + line.end(1), KEY
                stop = start
        floor = at + len(END)
        at = text.find(END, floor)


def _body(text: str, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """The parts of a key between its first and its last line.

    Without a last line, until no line looks like a key's any more.
    """
    at = start
    while at < end:
        line = _KEY_LINE.match(text, at)
        if line is None or line.end() == at:
            if whole:
                # Written in a way of its own, but between both ends all of it is the key.
                yield at, end
            return
        if not whole and 0 < len(line[2]) < SHORTEST_LINE:
            return
        if line[2]:
            yield line.span(2)[0], min(line.span(2)[1], end)
        at = line.end()
