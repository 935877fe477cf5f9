"""What goes with a prompt of the notebook around it, by the setting `context`.

Owns the choice and the budget. Whoever sends it fences it: this is material, whatever it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agent_magics.messages import Attachment
from agent_magics.notebook import LiveNotebook, Place, Ran, failed_before
from agent_magics.tools.cells.looking import Seen, seen_here
from agent_magics.tools.cells.merging import HERE, Cell
from agent_magics.tools.cells.telling import cell_text, outline
from agent_magics.tools.plain import counted, cut, printable
from agent_magics.tools.workspace import Workspace

Context: TypeAlias = Literal["none", "error", "above", "outline"]
CONTEXTS: dict[Context, str] = {
    "none": "nothing",
    "error": "the cell that failed right before, with its error",
    "above": "the cells above, with short outputs",
    "outline": "a row for each cell, and the error",
}
ABOVE = 20_000
"""Characters of the cells above: about 5,000 tokens."""
SOURCE, ERROR = 6_000, 3_000
"""Characters of a failed cell, and of its traceback."""
ROWS = 120
"""Cells of an outline that goes with each prompt."""


def surroundings(context: str, workspace: Workspace, live: LiveNotebook) -> tuple[Attachment, ...]:
    """What goes with the prompt of the running cell.

    Args:
        context: One of `CONTEXTS`.
        workspace: Says whether the notebook's file may be read without asking.
        live: What ran, and where the cell is.
    """
    if context == "none":
        return ()
    failed = failed_before(live.ran())
    error = (_failure(failed, live.place()),) if failed else ()
    if context == "error":
        return error
    seen = seen_here(workspace, live, unasked=True)
    place = live.place()
    if context == "outline":
        return (*_outline(seen, place), *error)
    return _above(seen, place) or error


def _failure(cell: Ran, place: Place) -> Attachment:
    name = f"[{cell.number}]" if cell.number else "before this one"
    source = str(cut(cell.source, SOURCE) or cell.source)
    error = str(cut(cell.error, ERROR) or cell.error)
    where = f"This prompt's cell{_number(place)} came right after it{_file(place)}."
    text = f"The cell:\n{source}\n\nIts error:\n{error}\n\n{where}"
    return Attachment(f"the cell that failed right before, {name}", text)


def _outline(seen: Seen, place: Place) -> tuple[Attachment, ...]:
    if not seen.cells:
        return ()
    text = f"{seen.title}.\n{outline(seen.cells, ROWS)}\n\n{_where(seen, place)}"
    return (Attachment("an outline of the notebook", text),)


def _above(seen: Seen, place: Place) -> tuple[Attachment, ...]:
    """The cells above, the nearest ones first as far as they fit."""
    above = [cell for cell in _before(seen.cells) if not cell.steers]
    kept: list[str] = []
    room = ABOVE
    for cell in reversed(above):
        text = cell_text(cell, "short")
        if len(text) > room and kept:
            break
        # The nearest cell is shortened rather than left out.
        text = str(cut(text, room) or text)
        kept.append(text)
        room -= len(text)
    if not kept:
        return ()
    gone = len(above) - len(kept)
    first = [f"[{counted(gone, 'cell')} above these left out; notebook_read shows them]"] * (
        gone > 0
    )
    text = "\n".join((f"{seen.title}.", *first, *reversed(kept), "", _where(seen, place)))
    return (Attachment(f"the cells above ({len(kept)} of {len(above)})", text),)


def _before(cells: Sequence[Cell]) -> list[Cell]:
    here = next((i for i, cell in enumerate(cells) if cell.note.startswith(HERE)), len(cells))
    if here == len(cells):
        return list(cells)
    # What ran and is in no file has no place; it ran before this cell.
    return [*cells[:here], *(cell for cell in cells[here:] if not cell.number)]


def _where(seen: Seen, place: Place) -> str:
    here = next((cell for cell in seen.cells if cell.note.startswith(HERE)), None)
    saved = sum(cell.number > 0 for cell in seen.cells)
    if here is not None:
        return (
            f"This prompt's cell{_number(place)} is cell #{here.number} of {saved}{_file(place)}."
        )
    if not saved:
        return f"This prompt's cell{_number(place)} came right after these."
    if place.cell_id:
        return f"This prompt's cell{_number(place)} is not in the saved file yet."
    return f"Where this prompt's cell{_number(place)} stands among them is not known."


def _number(place: Place) -> str:
    return f" [{place.number}]" if place.number else ""


def _file(place: Place) -> str:
    return f", in {printable(place.path.name)}" if place.path else ""
