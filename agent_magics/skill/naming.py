"""Names as people write them: one normal form, near matches, and a safe way to show a text.

Knows no skill and no file. Used wherever a person's word meets a list of names.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

STANDARD_NAME = re.compile(r"[^\W_]+(-[^\W_]+)*")
"""The form that the Agent Skills standard asks for, in lower case, with letters of any script."""
MAX_NAME = 64
"""Characters of a name, from the same standard."""


def composed(name: str) -> str:
    """The name with each accent in one character: file systems store it either way."""
    return unicodedata.normalize("NFC", name)


def normalised(name: str) -> str:
    """The form in which two spellings of one name are equal: `Tidy Charts` is `tidy-charts`."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_-]+", "-", folded).strip("-")


def is_standard(name: str) -> bool:
    """Whether the Agent Skills standard would take the name."""
    folded = unicodedata.normalize("NFKC", name)
    return (
        len(folded) <= MAX_NAME
        and folded == folded.lower()
        and STANDARD_NAME.fullmatch(folded) is not None
    )


def near(name: str, names: Iterable[str], count: int = 3, cutoff: float = 0.6) -> tuple[str, ...]:
    """The names that look like this one, the nearest first; case is no matter.

    Args:
        name: As typed.
        names: What there is.
        count: How many at most.
        cutoff: How alike, from 0 to 1.
    """
    by_form: dict[str, str] = {}
    for candidate in names:
        by_form.setdefault(normalised(candidate), candidate)
    found = difflib.get_close_matches(normalised(name), list(by_form), n=count, cutoff=cutoff)
    return tuple(by_form[form] for form in found)


def shown(text: str, limit: int = 80) -> str:
    """The text for a one-line message: cut, without line ends and other control characters."""
    line = "".join(c if c.isprintable() else " " for c in text[: limit * 4])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
