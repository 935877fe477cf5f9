"""Line numbers in front of lines, and away again. Pure.

Owns the separator, which `read` writes and `edit` takes off when a model copies it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

SEPARATOR = "|"
_NUMBERED = re.compile(r" *(\d+)\|")


def numbered(lines: Sequence[str], first: int) -> list[str]:
    """The lines with their numbers, aligned.

    Args:
        lines: Without line ends.
        first: The number of the first one.
    """
    width = len(str(first + len(lines) - 1))
    return [f"{number:>{width}}{SEPARATOR}{line}" for number, line in enumerate(lines, first)]


def without_numbers(text: str) -> str | None:
    """A text without the line numbers of a page.

    Returns:
        None if not every line has a number, or they do not count up by one.
    """
    lines = text.split("\n")
    found = [_NUMBERED.match(line) for line in (lines if lines[-1] else lines[:-1])]
    numbers = [int(match[1]) if match else -1 for match in found]
    if (
        not numbers
        or numbers[0] < 0
        or numbers != list(range(numbers[0], numbers[0] + len(numbers)))
    ):
        return None
    return stripped(text)


def looks_numbered(text: str) -> Literal["no", "partly", "wholly"]:
    """How many of a text's lines begin as the lines of a page do (empty ones aside)."""
    lines = [line for line in text.split("\n") if line]
    count = sum(_NUMBERED.match(line) is not None for line in lines)
    return "no" if count == 0 else "wholly" if count == len(lines) else "partly"


def stripped(text: str) -> str:
    """The text without what looks like a page's line number at the beginning of a line."""
    found = ((line, _NUMBERED.match(line)) for line in text.split("\n"))
    return "\n".join(line[match.end() :] if match else line for line, match in found)
