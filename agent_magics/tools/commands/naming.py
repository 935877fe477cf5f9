"""Names: of programs in tables, and the paths that a word of a command may name. Pure.

Paths are found broadly: a look too many costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_JOINTS = re.compile(r"[=@,]|:(?!//)|(?<=file):", re.IGNORECASE)
"""Characters behind which a path may begin; not in `https://host/x`, which is none."""
_CLUSTER = 5
"""Letters of one-dash options in one word before a value that is written to them."""


def names(text: str) -> frozenset[str]:
    """The words of a text, for tables that people read."""
    return frozenset(text.split())


def named_paths(word: str) -> Iterator[str]:
    """The word, and what stands in it behind an option's name or a joint: `-f.env`, `if=/x`, `a:b`.

    A word that only names options yields its letters, which name no file.
    """
    if word.startswith("--"):
        yield from _tails(word[2:])
    elif word.startswith("-"):
        last = _CLUSTER + 2 if re.search(r"[./~]", word) else 3
        for start in range(1, min(last, len(word))):
            yield from _tails(word[start:])
    else:
        yield from _tails(word)


def _tails(text: str) -> Iterator[str]:
    pieces = _JOINTS.split(text)
    at = 0
    for piece in pieces:
        if text[at:].strip():
            yield text[at:]
        if piece.strip() and piece != text[at:]:
            yield piece
        at += len(piece) + 1
