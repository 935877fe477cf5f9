"""Unified diffs for people, made from the bytes before and after. Pure.

Owns a diff that is always whole and always quick: nothing is cut, since nobody should approve
what they cannot see, and two unlike texts of any size never make the comparison explode.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

CONTEXT = 3
"""Unchanged lines around a change, as in git."""
COMPARED = 4000
"""Lines on each side that are compared one by one; of larger parts, all is old and all is new."""
Opcode: TypeAlias = tuple[str, int, int, int, int]
NO_END = "\\ No newline at end of file"


def unified_diff(before: str | None, after: str | None, name: str) -> str:
    """The difference of two texts.

    Line ends are shown (as `␍`) only where the texts do not have the same ones throughout.

    Args:
        before: The old text; None: there was no file.
        after: The new text; None: there will be no file.
        name: The file's name for the header.
    """
    old, new = _lines(before or ""), _lines(after or "")
    if _only_pairs(old) and _only_pairs(new):
        old, new = _without_returns(old), _without_returns(new)
    left = f"a/{name}" if before is not None else "/dev/null"
    right = f"b/{name}" if after is not None else "/dev/null"
    header = f"--- {left}\n+++ {right}"
    return "\n".join((header, *_hunks(old, new))) + "\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _only_pairs(lines: Sequence[str]) -> bool:
    return all(line.endswith("\r\n") for line in lines if line.endswith("\n"))


def _without_returns(lines: Sequence[str]) -> list[str]:
    return [f"{line[:-2]}\n" if line.endswith("\r\n") else line for line in lines]


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    first = max(0, head - CONTEXT)
    left = old[first : len(old) - max(0, tail - CONTEXT)]
    right = new[first : len(new) - max(0, tail - CONTEXT)]
    for group in _compared(left, right, head - first, min(tail, CONTEXT)):
        before = _span(first + group[0][1], group[-1][2] - group[0][1])
        after = _span(first + group[0][3], group[-1][4] - group[0][3])
        yield f"@@ -{before} +{after} @@"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from _marked(" ", left[i1:i2])
            else:
                yield from _marked("-", left[i1:i2])
                yield from _marked("+", right[j1:j2])


def _compared(
    left: Sequence[str], right: Sequence[str], head: int, tail: int
) -> Iterable[list[Opcode]]:
    """The runs of changes, as `difflib` gives them.

    Args:
        left: Old lines.
        right: New lines.
        head: How many lines at the beginning are the same.
        tail: How many at the end are.
    """
    old, new = len(left), len(right)
    if old * new <= COMPARED**2:
        return difflib.SequenceMatcher(None, left, right).get_grouped_opcodes(CONTEXT)
    parts: list[Opcode] = [
        ("equal", 0, head, 0, head),
        ("replace", head, old - tail, head, new - tail),
        ("equal", old - tail, old, new - tail, new),
    ]
    return [parts]


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _span(start: int, count: int) -> str:
    """The way of git of naming lines: from 1, and the line before for an empty range."""
    begin = start + 1 if count else start
    return str(begin) if count == 1 else f"{begin},{count}"


def _marked(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield f"{sign}{line[:-1]}".replace("\r", "␍")
        else:
            yield f"{sign}{line}".replace("\r", "␍")
            yield NO_END
