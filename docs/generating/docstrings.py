"""A Google-style docstring as a value."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

SECTION = re.compile(r"^(Args|Returns|Raises):$", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(?P<name>[*\w.]+): (?P<meaning>.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says.

    Args:
        paragraphs: Before the first section.
        arguments: Names and meanings.
        returns: Empty where it does not say.
        raises: Errors, and when.
    """

    paragraphs: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    returns: str = ""
    raises: tuple[tuple[str, str], ...] = ()

    @property
    def first(self) -> str:
        """The first paragraph."""
        return self.paragraphs[0] if self.paragraphs else ""


def docstring(thing: object) -> Docstring:
    """The docstring of a function, class or property; an empty one where there is none."""
    text = inspect.getdoc(thing) or ""
    head, *rest = SECTION.split(text)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    return Docstring(
        tuple(part for part in re.split(r"\n{2,}", head.strip("\n")) if part.strip()),
        _entries(sections.get("Args", "")),
        sections.get("Returns", "").strip(),
        _entries(sections.get("Raises", "")),
    )


def _entries(section: str) -> tuple[tuple[str, str], ...]:
    return tuple((found["name"], found["meaning"]) for found in ENTRY.finditer(section))
