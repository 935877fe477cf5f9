"""What the model reads when an edit has no place, or several. Pure.

Owns the search for the places that are most like the text that was not found. They are shown,
never changed: choosing one of them is the model's business.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

NEAR = 3
"""Places that are shown when nothing matches."""
NAMED = 10
"""Line numbers that are named when several places match."""
SHOWN = 4
"""Lines of each near place."""


def several(text: str, places: Sequence[int], how: str) -> str:
    """The message when an edit could mean more than one place.

    Args:
        text: The file.
        places: Where they begin.
        how: How they matched; empty: exactly.
    """
    numbers = [text.count("\n", 0, place) + 1 for place in places[: NAMED + 1]]
    named = ", ".join(map(str, numbers[:NAMED]))
    more = ", …" if len(numbers) > NAMED else ""
    matched = f" ({how})" if how else ""
    every = "" if how else ", or all=true for every place"
    return (
        f"old matches {len(places)} places{matched}, at lines {named}{more}. "
        f"Give more of the lines around the one you mean{every}."
    )


def nowhere(text: str, old: str) -> str:
    """The message when an edit's old text is not in the file: the places most like it."""
    lines = text.split("\n")
    near = _near(lines, [line.strip() for line in old.strip("\n").split("\n")])
    if not near:
        return "old is nowhere in the file, and nothing in it is like it. Read the file again."
    height = min(SHOWN, old.strip("\n").count("\n") + 1)
    shown = [
        "\n".join(
            f"{number + 1:>6}|{lines[number][:200].rstrip()}"
            for number in range(first, min(first + height, len(lines)))
        )
        for first in near
    ]
    return "old is nowhere in the file. The nearest places:\n" + "\n   ...\n".join(shown) + "\n"


def _near(lines: list[str], old: list[str]) -> list[int]:
    """First lines of the places most like `old`: by equal lines, else by equal words."""
    wanted = {line: at for at, line in reversed(list(enumerate(old))) if len(line) > 1}
    votes: Counter[int] = Counter()
    for number, line in enumerate(lines):
        at = wanted.get(line.strip())
        if at is not None:
            votes[max(0, number - at)] += 1
    if not votes:
        words = set(_words(max(old, key=len)))
        for number, line in enumerate(lines):
            common = len(words.intersection(_words(line)))
            if common * 2 >= len(words) > 0:
                votes[number] = common
    return sorted(number for number, _ in votes.most_common(NEAR))


def _words(line: str) -> list[str]:
    return re.findall(r"\w+", line)
