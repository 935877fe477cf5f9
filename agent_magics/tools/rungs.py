"""The ways in which an edit's old text can be found in a file, from strict to lenient. Pure.

Each yields every place where it finds the text, with what comes in its place; each exchanges
only what it found, and keeps the line ends, and as many of the lines as `old` and `new` share.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_magics.errors import ToolError

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    }
)
"""One character for one, so that places in the plain text are places in the text."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text and what comes in its place; `how` names the rung, if not the first."""

    start: int
    end: int
    new: str
    how: str = ""


def exact(text: str, old: str, new: str, how: str) -> Iterator[Span]:
    """The very text. Overlapping places count too: either could be meant."""
    for start in _places(text, old):
        yield Span(start, start + len(old), _with_ends(new, text, start), how)


def ends(text: str, old: str, new: str, how: str) -> Iterator[Span]:
    """The text with the file's line ends; models write LF, and one after the last line."""
    if "\n" in old and "\r\n" in text:
        yield from exact(text, re.sub(r"\r?\n", "\r\n", old), new, how)
    elif len(old) > 1 and old.endswith("\n") and text.endswith(old[:-1]):
        how = _also(how, "without a line end, which the file's last line does not have")
        start = len(text) - len(old) + 1
        yield Span(start, len(text), _with_ends(new.removesuffix("\n"), text, start), how)


def blanks(text: str, old: str, new: str, how: str) -> Iterator[Span]:
    """The text but for blanks and line ends at the ends of lines."""
    how = _also(how, "ignoring blanks at line ends")
    yield from _by_lines(text, old, new, _trimmed, how)


def punctuated(text: str, old: str, new: str, how: str) -> Iterator[Span]:
    """The text but for typographic quotes, dashes and spaces."""
    how = _also(how, "ignoring typographic quotes, dashes and spaces")
    yield from _by_lines(text, old, new, lambda line: _trimmed(line.translate(_PUNCTUATION)), how)


def indented(text: str, old: str, new: str, how: str) -> Iterator[Span]:
    """Whole lines that are all indented by the same more or less than in `old`."""
    wanted = [_trimmed(line) for line in old.split("\n")]
    ended = not wanted[-1] and len(wanted) > 1
    if ended:
        wanted.pop()
    bare = [line.lstrip(" \t") for line in wanted]
    lines = text.split("\n")
    have = [_trimmed(line).lstrip(" \t") for line in lines]
    starts = _starts(lines)
    for first in _windows(have, bare):
        shift = _shift(wanted, [_trimmed(line) for line in lines[first : first + len(bare)]])
        last = first + len(bare) - 1
        if shift is None or (ended and last + 1 >= len(lines)):
            continue
        fresh = _shifted(new, *shift)
        end = starts[last + 1] if ended else starts[last] + len(_trimmed(lines[last]))
        yield _narrowed(
            text, Span(starts[first], end, fresh, _also(how, "ignoring the indentation")), old, new
        )


def _windows(have: list[str], wanted: list[str]) -> Iterator[int]:
    """Where a run of lines stands among others."""
    if not any(wanted):
        return
    count = len(wanted)
    for first in range(len(have) - count + 1):
        if have[first] == wanted[0] and have[first : first + count] == wanted:
            yield first


def _shift(old: list[str], have: list[str]) -> tuple[str, bool] | None:
    """The indentation that all lines of `have` have more than `old` (True) or less (False)."""
    found: set[tuple[str, bool]] = set()
    for wanted, line in zip(old, have, strict=True):
        if not line:
            continue
        mine, theirs = _indent(wanted), _indent(line)
        if theirs.endswith(mine):
            found.add((theirs[: len(theirs) - len(mine)], True))
        elif mine.endswith(theirs):
            found.add((mine[: len(mine) - len(theirs)], False))
        else:
            return None
    return found.pop() if len(found) == 1 else None


def _shifted(new: str, by: str, more: bool) -> str:
    """The new lines, indented as the place is; `ToolError` if one cannot be moved so far left."""
    lines = new.split("\n")
    if more:
        return "\n".join(by + line if line.strip() else line for line in lines)
    if any(line.strip() and not line.startswith(by) for line in lines):
        raise ToolError(
            f"old stands in the file with {len(by)} columns less of indentation, but a line of new "
            "has less than that. Give both with the file's own indentation."
        )
    return "\n".join(line.removeprefix(by) if line.strip() else line for line in lines)


def _by_lines(
    text: str, old: str, new: str, plain: Callable[[str], str], how: str
) -> Iterator[Span]:
    """Places where the texts are the same once each line is made plain.

    Args:
        text: The file.
        old: What to find.
        new: What comes in its place.
        plain: Makes a line plain: only cuts its end or exchanges single characters, so that a
            column in the plain line is the same column in the line.
        how: What to tell the model.
    """
    lines = text.split("\n")
    plain_lines = [plain(line) for line in lines]
    starts, plain_starts = _starts(lines), _starts(plain_lines)
    plain_old = "\n".join(plain(line) for line in old.split("\n"))
    if not plain_old.strip():
        return
    plain_text = "\n".join(plain_lines)
    last = old.rsplit("\n", 1)[-1]
    # Blanks at the end of `old` are blanks at a line's end, or the place is another one.
    at_line_end = len(plain(last)) < len(last)

    def place(at: int) -> int:
        line = bisect_right(plain_starts, at) - 1
        return starts[line] + at - plain_starts[line]

    for start in _places(plain_text, plain_old):
        end = start + len(plain_old)
        if at_line_end and end < len(plain_text) and plain_text[end] != "\n":
            continue
        span = Span(place(start), place(end), new, how)
        yield _narrowed(text, span, old, new)


def _narrowed(text: str, span: Span, old: str, new: str) -> Span:
    """The span without the lines at its ends that `old` and `new` share: they stay as they are.

    Line ends of what is put in are those of the place.
    """
    old_lines, new_lines = old.split("\n"), new.split("\n")
    fresh, have = span.new.split("\n"), text[span.start : span.end].split("\n")
    if len(old_lines) != len(have):
        return Span(span.start, span.end, _with_ends(span.new, text, span.start), span.how)
    most = min(len(old_lines), len(new_lines)) - 1
    head = _common(old_lines[:most], new_lines[:most])
    tail = _common(old_lines[::-1][: most - head], new_lines[::-1][: most - head])
    start = span.start + sum(len(line) + 1 for line in have[:head])
    end = span.end - sum(len(line) + 1 for line in have[len(have) - tail :])
    if tail:
        # What ends the last exchanged line (blanks, a carriage return) stays.
        final = have[len(have) - tail - 1]
        end -= len(final) - len(_trimmed(final))
    kept = "\n".join(fresh[head : len(fresh) - tail])
    return Span(start, end, _with_ends(kept, text, start), span.how)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _starts(lines: list[str]) -> list[int]:
    """Where each line begins in the joined text, and where one more would."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _trimmed(line: str) -> str:
    return line.rstrip(" \t\r")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _also(first: str, second: str) -> str:
    return f"{first} and {second}" if first else second


def _with_ends(new: str, text: str, place: int) -> str:
    """The new text with the line ends that the lines at the place have."""
    if "\n" not in new or "\r" in new:
        return new
    end = text.find("\n", place)
    if end < 0:
        end = text.rfind("\n", 0, place)
    return new.replace("\n", "\r\n") if end > 0 and text[end - 1] == "\r" else new


Rung: TypeAlias = Callable[[str, str, str, str], Iterator[Span]]
"""Takes the file's text, old, new, and what to say of the match so far."""

LITERAL: tuple[Rung, ...] = (exact, ends)
"""Those whose every match is the text itself; an exchange of all places uses no others."""
RUNGS: tuple[Rung, ...] = (*LITERAL, blanks, indented, punctuated)
