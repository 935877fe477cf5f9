"""What must not, or should not, be in a text that a model puts into a file. Pure.

Owns the checks of new content that have nothing to do with what is on disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.tools import notebooks

_ASIDE = re.compile(r"\s*(#|//|/\*|<!--|--|\*|%|;|\.\.\.|…|\[|\()")
"""How a line begins that speaks about the code instead of being it."""
_REST = re.compile(
    r"\b(rest|remainder|remaining|existing|previous|other|unchanged|same)\b.*"
    r"\b(code|file|functions?|methods?|class|contents?|lines|imports|implementation|unchanged|"
    r"same|before|above)\b",
    re.IGNORECASE,
)
_STAYS = re.compile(
    r"\.\.\.|…|\b(unchanged|(stays?|remains?) the same|as (before|above)|here)\b",
    re.IGNORECASE,
)
MAX_ASIDE = 200
"""Characters of a line that can be such an aside."""


def sound(text: str, name: str) -> str:
    """A text that every encoding of Unicode can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolError(f"{name} holds half of a surrogate pair at {error.start}.") from error
    return text


def refuse_redacted(text: str, before: str, marks: Iterable[str]) -> None:
    """Refuse a mark of redaction: it must not take the place of the secret it stands for.

    Args:
        text: The new content.
        before: The old one, which may have such a text of its own.
        marks: Those in use now.
    """
    for mark in marks:
        if text.count(mark) > before.count(mark):
            raise ToolError(
                f"{mark} stands for a secret that you were not shown; writing it would destroy the "
                "secret. Leave that text as it is, with edits around it."
            )


def refuse_sought_mark(old: str, text: str, marks: Iterable[str]) -> None:
    """Refuse to look for a mark of redaction: the file holds the secret, not the mark.

    Args:
        old: What is looked for.
        text: The file's.
        marks: Those in use now.
    """
    for mark in marks if "[redacted" in old else ():
        if mark in old and mark not in text:
            raise ToolError(
                f"old holds {mark}, which stands for a secret that you were not shown; the file "
                "has the secret there. Give edits of the text around it."
            )


def refuse_broken_notebook(path: Path, text: str) -> None:
    """Refuse a text that would leave a notebook file without its notebook."""
    fault = notebooks.broken(text) if path.suffix == notebooks.SUFFIX else ""
    if fault:
        raise ToolError(f"{path.name} would not be a notebook any more: {fault}.")


def elisions(text: str, before: str) -> tuple[str, ...]:
    """A warning about lines that look like a note instead of the code they stand for."""
    old = {line.strip() for line in before.split("\n")}
    found = [
        (number, line.strip())
        for number, line in enumerate(text.split("\n"), 1)
        if _elided(line) and line.strip() not in old
    ]
    return tuple(
        f"line {number} looks like a placeholder for left-out text; it is written as it is: {line}"
        for number, line in found[:3]
    )


def _elided(line: str) -> bool:
    return (
        len(line) <= MAX_ASIDE
        and _ASIDE.match(line) is not None
        and _REST.search(line) is not None
        and _STAYS.search(line) is not None
    )
