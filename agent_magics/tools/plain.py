"""Plain text out of what programs print and files hold. Pure.

Owns the cleaning of terminal output, names on one line, and the cut that keeps head and tail.
Knows nothing of where a text comes from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD_SHARE = 0.2
"""Part of a cut output that is kept from its head: causes stand there, summaries at the tail."""

_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # DCS, PM, APC, SOS
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"  # the rest
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_WORD = re.compile(r"[A-Za-z0-9_+/=.~%-]+")
_WORD_AT_END = re.compile(r"[A-Za-z0-9_+/=.~%-]+\Z")
MAX_WORD = 400
"""Characters of a word that a part of a text is made wider by: as long as most tokens."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(name: str) -> str:
    """A name on one line: control characters and broken ones are written as escapes."""
    return _UNPRINTABLE.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), name)


def sendable(text: str) -> str:
    """A text that every server takes: no NUL, no half of a surrogate pair."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\u2400")


def terminal_text(output: str) -> str:
    """What a terminal would show at the end: no escapes, returns and backspaces applied."""
    text = _ESCAPE.sub("", output).replace("\r\n", "\n")
    if "\r" in text or "\b" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return _CONTROL.sub("", text)


def _overwritten(line: str) -> str:
    """One line after its carriage returns and backspaces."""
    if "\b" in line:
        line = _without_backspaces(line)
    shown = ""
    for piece in line.split("\r"):
        shown = piece + shown[len(piece) :]
    return shown


def _without_backspaces(line: str) -> str:
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept and kept[-1] != "\r":
            kept.pop()
    return "".join(kept)


@dataclass(frozen=True, slots=True)
class Cut:
    """A text that was too long.

    Args:
        head: From its beginning, ending with a line if one ends in it.
        tail: From its end.
        left_out: Characters between them.
        lines: Line ends between them.
    """

    head: str
    tail: str
    left_out: int
    lines: int

    def __str__(self) -> str:
        lines = f", {self.lines:,} lines" if self.lines else ""
        mark = f"[… {self.left_out:,} characters{lines} left out …]"
        return f"{self.head.rstrip()}\n{mark}\n{self.tail.lstrip(chr(10))}"


def cut(text: str, budget: int) -> Cut | None:
    """Head and tail of a text that is longer than the budget; None if it is not.

    Args:
        text: Anything.
        budget: Characters to keep, about.
    """
    if len(text) <= budget:
        return None
    end = int(budget * HEAD_SHARE)
    start = len(text) - (budget - end)
    # Whole lines where that costs less than half of the part.
    line_end = text.rfind("\n", end // 2, end)
    end = line_end + 1 if line_end >= 0 else end
    line_start = text.find("\n", start, (start + len(text)) // 2)
    start = line_start + 1 if line_start >= 0 else start
    middle = text[end:start]
    return Cut(text[:end], text[start:], len(middle), middle.count("\n"))


def around_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A part of a text, wider by the rest of the words at its ends.

    Half of a token would not be known as a secret, and let through.

    Args:
        text: Anything.
        start: Where the part begins; a cut right before a word stays.
        end: Where it ends; at most the text's end is given back.
    """
    end = min(end, len(text))
    if start and _WORD.match(text, start):
        before = _WORD_AT_END.search(text, max(0, start - MAX_WORD), start)
        # A longer run of letters is data, and no token.
        start = before.start() if before and len(before[0]) < MAX_WORD else start
    if end and _WORD.match(text, end - 1):
        after = _WORD.match(text, end, end + MAX_WORD)
        end = after.end() if after and len(after[0]) < MAX_WORD else end
    return start, end


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def size(count: int) -> str:
    """A number of bytes for people: `2.4 MB`, in powers of 1,000."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{count} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")
