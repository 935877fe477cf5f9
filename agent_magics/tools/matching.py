"""Finding the one place that an edit means, and replacing just that. Pure.

Owns the ladder: the text as it is → other line ends or trailing blanks → another indentation →
Unicode punctuation. Each rung counts only when it finds exactly one place, and only the span
found is exchanged. There is no matching by similarity on purpose: one wrong hit deletes a
file's half. Knows no file, and of the rungs only their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from agent_magics.errors import ToolError
from agent_magics.tools.misses import nowhere, several
from agent_magics.tools.numbering import looks_numbered, stripped, without_numbers
from agent_magics.tools.rungs import LITERAL, RUNGS, Span

COUNTED = 1000
"""Places that are counted before the count stops."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One exchange of texts; `every` exchanges all places instead of the only one."""

    old: str
    new: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after its edits.

    Args:
        text: The whole of it.
        notes: How the edits matched, where not exactly; for the model.
        count: How many places were exchanged.
    """

    text: str
    notes: tuple[str, ...]
    count: int


def edited(text: str, edits: Sequence[Edit]) -> Edited:
    """The text after all edits, each made on the result of the one before; or none of them.

    Raises:
        ToolError: An edit has no place or several; the message says which and where to look.
    """
    notes: list[str] = []
    count = 0
    for number, edit in enumerate(edits, 1):
        which = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
        try:
            spans = spans_of(text, edit)
        except ToolError as error:
            rest = " None of the edits was made." if len(edits) > 1 else ""
            raise ToolError(f"{which}{error}{rest}") from None
        notes += [f"{which}matched {span.how}" for span in spans[:1] if span.how]
        text = _exchanged(text, spans)
        count += len(spans)
    return Edited(text, tuple(notes), count)


def _exchanged(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    done = 0
    for span in spans:
        parts += (text[done : span.start], span.new)
        done = span.end
    return "".join((*parts, text[done:]))


def spans_of(text: str, edit: Edit) -> list[Span]:
    """The places that an edit means, in order; one, unless it asks for every one.

    Raises:
        ToolError: None, or several where one is meant; or the edit changes nothing.
    """
    if not edit.old:
        raise ToolError(
            "old is empty. To add text, give a line beside the place, and repeat it in new."
        )
    if edit.old == edit.new:
        raise ToolError("old and new are the same; nothing would change.")
    for old, new, prefix in _readings(edit):
        for rung in RUNGS:
            if edit.every and rung not in LITERAL:
                break
            found = rung(text, old, new, prefix)
            spans = _apart(found) if edit.every else list(islice(found, COUNTED))
            if spans and edit.every:
                return spans
            if len(spans) == 1:
                return spans
            if spans:
                raise ToolError(several(text, [span.start for span in spans], spans[0].how))
    raise ToolError(nowhere(text, edit.old))


def _readings(edit: Edit) -> Iterator[tuple[str, str, str]]:
    """The edit as it is, and without line numbers if the model copied them."""
    yield edit.old, edit.new, ""
    old = without_numbers(edit.old)
    if old:
        if looks_numbered(edit.new) == "partly":
            raise ToolError("Some lines of new begin with line numbers; give both texts without.")
        yield old, stripped(edit.new), "after removing line numbers"


def _apart(spans: Iterator[Span]) -> list[Span]:
    """The spans from the left that do not overlap."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept
