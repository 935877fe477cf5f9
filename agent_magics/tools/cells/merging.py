"""One list of cells out of a file on disk and of what ran in the kernel. Pure.

The file is as old as its last save, the kernel knows only what ran; together they are what the
person sees. Where the two differ the kernel's side counts, and the cell says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_magics.notebook import Place, Ran
from agent_magics.tools import notebooks

EDITED = "edited since the file was saved"
UNSAVED = "ran in this kernel, and is not in the saved file"
HERE = "the cell that this prompt is in"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is known.

    Args:
        number: Its place in the file from 1; 0: it is not in a file.
        id: As the file or the front end gives it; empty: none.
        kind: `code`, `markdown` or `raw`.
        source: Its text.
        count: Its execution count; None: it did not run.
        outputs: As the format writes them.
        note: What is special about it, in words.
        own: Whether it asks the agent, so that its output is the conversation.
        steers: Whether it only sets up the agent.
    """

    number: int
    id: str
    kind: str
    source: str
    count: int | None = None
    outputs: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    own: bool = False
    steers: bool = False

    @property
    def name(self) -> str:
        """What the tools take: its place or its id."""
        return self.id or f"#{self.number}"

    @property
    def value(self) -> dict[str, Any]:
        """The cell in the format's own form."""
        known = {"id": self.id} if self.id else {}
        outputs = {"outputs": list(self.outputs)} if self.kind == "code" else {}
        return {
            "cell_type": self.kind,
            "execution_count": self.count,
            "source": self.source,
            **known,
            **outputs,
        }


def cells_of(values: Sequence[Mapping[str, Any]]) -> tuple[Cell, ...]:
    """The cells of a file."""
    return tuple(_cell(number, value) for number, value in enumerate(values, 1))


def merged(saved: Sequence[Cell], ran: Sequence[Ran], place: Place) -> tuple[Cell, ...]:
    """The cells of a file, with what ran since it was saved.

    Args:
        saved: Of the file; none where it is not known.
        ran: What ran in the kernel, oldest first.
        place: Where the running cell is.
    """
    by_id = {item.cell_id: item for item in ran if item.cell_id}
    by_source = {item.source.strip(): item for item in ran}
    used: list[Ran] = []
    cells: list[Cell] = []
    for cell in saved:
        item = None
        if cell.kind == "code":
            item = by_id.get(cell.id) if cell.id else None
            item = item or by_source.get(cell.source.strip())
        if item is not None:
            used.append(item)
            cell = _renewed(cell, item)
        if place.cell_id and cell.id == place.cell_id:
            cell = replace(cell, note="; ".join(note for note in (HERE, cell.note) if note))
        cells.append(cell)
    known = {cell.id for cell in saved if cell.id}
    left = [item for item in ran if item not in used and item.cell_id not in known]
    cells += [_unsaved(item, saved=bool(saved)) for item in left]
    return tuple(cells)


def _cell(number: int, value: Mapping[str, Any]) -> Cell:
    count, name = value.get("execution_count"), value.get("id")
    source = notebooks.joined(value.get("source"))
    return Cell(
        number,
        name if isinstance(name, str) else "",
        str(value.get("cell_type", "?")),
        source,
        count if isinstance(count, int) else None,
        tuple(notebooks.items(value.get("outputs"))),
        own=Ran(0, source).asks_agent,
        steers=Ran(0, source).only_steers,
    )


def _renewed(cell: Cell, item: Ran) -> Cell:
    """A saved cell with what is newer of it."""
    edited = cell.source.strip() != item.source.strip()
    if not edited and cell.count == item.number:
        return cell
    fresh = Cell(cell.number, cell.id, "code", item.source, item.number, _outputs(item))
    note = EDITED if edited else "ran again since the file was saved"
    return replace(fresh, note=note, own=item.asks_agent, steers=item.only_steers)


def _unsaved(item: Ran, *, saved: bool) -> Cell:
    note = UNSAVED if saved else ""
    # Another front end's names for cells are no ids of the format.
    name = item.cell_id if saved and len(item.cell_id) <= 64 and ":" not in item.cell_id else ""
    name = name or f"In[{item.number}]"
    found = Cell(0, name, "code", item.source, item.number, _outputs(item), note)
    return replace(found, own=item.asks_agent, steers=item.only_steers)


def _outputs(item: Ran) -> tuple[Mapping[str, Any], ...]:
    found: list[Mapping[str, Any]] = []
    if item.value:
        found.append({"output_type": "execute_result", "data": {"text/plain": item.value}})
    if item.error:
        last = item.error.rstrip().rpartition("\n")[2]
        name, _, words = last.partition(": ")
        error = {"ename": name, "evalue": words, "traceback": [item.error]}
        found.append({"output_type": "error", **error})
    return tuple(found)
