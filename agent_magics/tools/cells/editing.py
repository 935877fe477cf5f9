"""Changes of a notebook's cells, by their ids: from a file's text to its new text. Pure.

Owns what a change means and which ones are refused. All names in one call mean the cells as they
were before it, so that no change shifts what the next one means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.messages import JSON
from agent_magics.tools import notebooks
from agent_magics.tools.cells.file import NotebookText, Spot, notebook_text
from agent_magics.tools.new_content import sound

KINDS = ("code", "markdown", "raw")
IDS_FROM = (4, 5)
"""The format's version from which cells have ids."""
MAJOR = 4


@dataclass(frozen=True, slots=True)
class Edited:
    """A notebook after its changes.

    Args:
        text: The file's new text.
        told: What was done, one entry for each change.
        notes: What should be known besides.
    """

    text: str
    told: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Slot:
    """One cell on its way: where it stood, or its new value; None: it is gone."""

    piece: Spot | dict[str, JSON] | None
    after: list[_Slot] = field(default_factory=list)


def edited_cells(
    text: str, name: str, edits: Sequence[Mapping[str, Any]], *, keep_outputs: bool = False
) -> Edited:
    """Make all changes, or none.

    Args:
        text: The file's JSON.
        name: For messages.
        edits: Each with `do` and what it needs; see the tool's schema.
        keep_outputs: Leave the outputs of changed code cells as they are.

    Raises:
        ToolError: A change cannot be made, or would leave no valid notebook.
    """
    notebook = notebook_text(text, name)
    if notebook.version[0] != MAJOR:
        raise ToolError(
            f"{name} is of notebook format {notebook.version[0]}; only {MAJOR} is changed here. "
            "Convert it first: jupyter nbconvert --to notebook --inplace FILE."
        )
    work = _Work(notebook, name, keep_outputs)
    for number, edit in enumerate(edits, 1):
        work.make(edit, number)
    after = notebook.with_cells(work.pieces())
    notes = _checked(text, after, name)
    return Edited(after, tuple(work.told), notes)


def named(spots: Sequence[Spot], name: str) -> int:
    """The index of the cell that an id or `#N` means.

    Raises:
        ToolError: None has it, or several have.
    """
    if name.startswith("#") and name[1:].isdigit():
        number = int(name[1:])
        if 1 <= number <= len(spots):
            return number - 1
        raise ToolError(f"There is no cell {name}: the notebook has {len(spots)}.")
    found = [index for index, spot in enumerate(spots) if spot.cell.get("id") == name]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(f"#{index + 1}" for index in found)
        raise ToolError(f"{len(found)} cells have the id {name!r}; name one as {places}.")
    raise ToolError(
        f"No cell has the id {name!r}; notebook_outline lists the ids. A cell without one is named "
        "by its place: #1 is the first."
    )


class _Work:
    """The cells while they are changed."""

    def __init__(self, notebook: NotebookText, name: str, keep: bool) -> None:
        self._notebook, self._name, self._keep = notebook, name, keep
        self._head = _Slot(None)
        self._slots = [_Slot(spot) for spot in notebook.spots]
        self._touched: set[int] = set()
        self._ids = {str(spot.cell.get("id")) for spot in notebook.spots}
        self.told: list[str] = []

    def pieces(self) -> list[Spot | dict[str, JSON]]:
        found: list[Spot | dict[str, JSON]] = []

        def walk(slot: _Slot) -> None:
            if slot.piece is not None:
                found.append(slot.piece)
            for later in slot.after:
                walk(later)

        for slot in (self._head, *self._slots):
            walk(slot)
        return found

    def make(self, edit: Mapping[str, Any], number: int) -> None:
        try:
            match edit["do"]:
                case "insert":
                    self._insert(edit, number)
                case "replace":
                    self._replace(edit)
                case "delete":
                    self._delete(edit)
                case _:
                    self._move(edit)
        except ToolError as error:
            raise ToolError(
                f"{self._name}, change {number}: {error} Nothing was changed."
            ) from None

    def _insert(self, edit: Mapping[str, Any], number: int) -> None:
        self._only(edit, ("source",), ("kind", "after"))
        cell: dict[str, JSON] = {"cell_type": edit.get("kind", "code")}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
        if self._notebook.version >= IDS_FROM:
            cell["id"] = self._new_id(f"{number} {edit['source']}")
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"] = []
        cell["source"] = self._written(edit["source"])
        self._target(edit).after.append(_Slot(cell))
        made = f" with the id {cell['id']}" if "id" in cell else ""
        self.told.append(f"a {cell['cell_type']} cell inserted{made}")

    def _replace(self, edit: Mapping[str, Any]) -> None:
        self._only(edit, ("cell", "source"), ("kind",))
        index, spot = self._taken(edit)
        old = spot.cell
        kind = edit.get("kind", old.get("cell_type"))
        cell = dict(old)
        cell["source"] = self._written(edit["source"], old.get("source"))
        if kind != old.get("cell_type"):
            cell = _of_kind(cell, kind)
        elif kind == "code" and not self._keep:
            cell["outputs"], cell["execution_count"] = [], None
        self._slots[index].piece = spot if cell == old else cell
        cleared = kind == "code" and not self._keep and bool(old.get("outputs"))
        what = ", its outputs cleared" if cleared else ""
        self.told.append(f"{edit['cell']} replaced{what}")

    def _delete(self, edit: Mapping[str, Any]) -> None:
        self._only(edit, ("cell",), ())
        index, _ = self._taken(edit)
        self._slots[index].piece = None
        self.told.append(f"{edit['cell']} deleted")

    def _move(self, edit: Mapping[str, Any]) -> None:
        self._only(edit, ("cell",), ("after",))
        target = self._target(edit)
        index, spot = self._taken(edit)
        if target is self._slots[index]:
            raise ToolError("A cell cannot be moved behind itself.")
        self._slots[index].piece = None
        target.after.append(_Slot(spot))
        where = f"behind {edit['after']}" if edit.get("after") else "to the top"
        self.told.append(f"{edit['cell']} moved {where}")

    def _only(self, edit: Mapping[str, Any], needed: Sequence[str], free: Sequence[str]) -> None:
        """Refuse what a change of this kind does not take: it would be lost without a word."""
        do = edit["do"]
        for name in needed:
            if name not in edit:
                raise ToolError(f"{do} needs {name}.")
        for name in edit:
            if name not in ("do", *needed, *free):
                takes = ", ".join((*needed, *free))
                raise ToolError(f"{do} takes no {name}; it takes {takes}.")

    def _target(self, edit: Mapping[str, Any]) -> _Slot:
        """Behind what a cell comes: the beginning, or a cell of the file as it was."""
        after = edit.get("after", "")
        return self._slots[named(self._notebook.spots, after)] if after else self._head

    def _taken(self, edit: Mapping[str, Any]) -> tuple[int, Spot]:
        index = named(self._notebook.spots, edit["cell"])
        if index in self._touched:
            raise ToolError(f"The cell {edit['cell']} is changed twice in one call.")
        self._touched.add(index)
        return index, self._notebook.spots[index]

    def _written(self, source: str, old: JSON = None) -> JSON:
        text = sound(source, "source")
        # The form that the file has: nearly all write a list of lines.
        first = self._notebook.spots[0].cell.get("source") if self._notebook.spots else []
        like = first if old is None else old
        return text if isinstance(like, str) else text.splitlines(keepends=True)

    def _new_id(self, seed: str) -> str:
        """An id that is the same each time it is computed: what was shown is what is written."""
        salt = 0
        while True:
            text = f"{salt} {seed} {self._notebook.text}"
            made = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
            if made not in self._ids:
                self._ids.add(made)
                return made
            salt += 1


def _of_kind(cell: dict[str, JSON], kind: str) -> dict[str, JSON]:
    """A cell of another kind, with what the format wants of it and nothing else."""
    code: dict[str, JSON] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    kept = {k: v for k, v in cell.items() if k not in ("outputs", "execution_count", "attachments")}
    if kind != "code" and "attachments" in cell:
        kept["attachments"] = cell["attachments"]
    return dict(sorted((kept | code | {"cell_type": kind}).items()))


def _checked(before: str, after: str, name: str) -> tuple[str, ...]:
    """Refuse a result that breaks the format, unless the notebook did already.

    Raises:
        ToolError: It would be broken by this change.
    """
    fault = notebooks.fault(after)
    if not fault:
        return ()
    if not notebooks.fault(before):
        raise ToolError(f"{name} would break the notebook format ({fault}). Nothing was changed.")
    return (f"the notebook breaks the format, as it did before: {fault}",)


def comparable(text: str, name: str) -> str:
    """A notebook as text in which only a real change makes a difference, for a diff.

    No numbers, so that one cell more does not change all that follow; outputs in a line each.
    """
    notebook = notebook_text(text, name)
    parts: list[str] = []
    for spot in notebook.spots:
        parts.append(notebooks.heading(spot.cell))
        parts.append(notebooks.joined(spot.cell.get("source")).rstrip("\n"))
        parts += [f"--- output: {line}" for line in notebooks.output_lines(spot.cell)]
    return "\n".join(parts) + ("\n" if parts else "")
