"""Cells as texts for a model: an outline of all, or some of them with their outputs. Pure.

Owns the budgets. Whatever stands in a cell or an output is data: nothing here marks it as anything
else, and no picture is ever written as text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import Image
from agent_magics.tools import notebooks, pictures
from agent_magics.tools.cells.merging import Cell
from agent_magics.tools.plain import counted, cut, printable

OutputsShown: TypeAlias = Literal["none", "short", "full"]
BUDGETS: dict[OutputsShown, int] = {"none": 0, "short": 600, "full": 10_000}
"""Characters of one output."""
TOTAL = 30_000
"""Characters of one answer, as of a shell command's."""
FIRST = 80
"""Characters of a cell's first line in an outline."""
MOST_ROWS = 400
"""Cells of an outline, about 10,000 tokens."""
MOST_PICTURES = 4
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class Told:
    """A text, and the pictures that go with it."""

    text: str
    images: tuple[Image, ...] = ()


def outline(cells: Sequence[Cell], most: int = MOST_ROWS) -> str:
    """A row for each cell: place, kind, id, execution count, size, first line, error.

    Rows stand as deep as the headings above them.

    Args:
        cells: All of them.
        most: Rows; of more, the middle is left out.
    """
    rows: list[str] = []
    depth = 0
    for cell in cells:
        heads = list(_headings(cell.source)) if cell.kind == "markdown" else []
        level = min((level for level, _ in heads), default=0)
        indent = "  " * ((level or depth + 1) - 1)
        depth = heads[-1][0] if heads else depth
        rows.append(f"{indent}{_row(cell, heads)}")
    if len(rows) > most:
        head = most // 2
        gone = len(rows) - 2 * head
        rows[head:-head] = [f"[… {counted(gone, 'cell')} left out; notebook_read shows them …]"]
    return "\n".join(rows)


def _row(cell: Cell, heads: Sequence[tuple[int, str]]) -> str:
    place = f"#{cell.number} " if cell.number else ""
    run = f" [{cell.count}]" if cell.count is not None else ""
    name = f" id={printable(cell.id)}" if cell.id else ""
    titles = " / ".join(f"{'#' * level} {title}" for level, title in heads)
    said = titles or next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    said = printable(said)
    said = said if len(said) <= FIRST else f"{said[:FIRST]}…"
    lines = cell.source.count("\n") + 1 if cell.source else 0
    size = f" ({counted(lines, 'line')})" if lines > 1 else "" if lines else " (empty)"
    errors = [o for o in cell.outputs if o.get("output_type") == "error"]
    wrong = f" ✗ {_ename(errors[-1].get('ename'))}" if errors else ""
    note = f" — {cell.note}" if cell.note else ""
    return f"{place}{cell.kind}{run}{name}: {said}{size}{wrong}{note}"


def _ename(name: object) -> str:
    return printable(str(name))[:FIRST]


def _headings(source: str) -> Iterator[tuple[int, str]]:
    fence = ""
    for line in source.splitlines():
        if opened := _FENCE.match(line):
            if not fence:
                fence = opened[1]
            elif opened[1] == fence:
                fence = ""
        elif not fence and (found := _HEADING.match(line)):
            yield len(found[1]), found[2]


def told(
    cells: Sequence[Cell], shown: OutputsShown, *, images: bool = False, total: int = TOTAL
) -> Told:
    """Cells whole, with their outputs as asked, as many as fit.

    Args:
        cells: Those that are asked for.
        shown: How much of each output.
        images: Whether pictures in outputs are given to look at.
        total: Characters of all.
    """
    parts: list[str] = []
    pictures_seen: list[Image] = []
    room = total
    for index, cell in enumerate(cells):
        text = cell_text(cell, shown)
        if len(text) > room:
            if parts:
                rest = cells[index:]
                parts.append(
                    f"[{counted(len(rest), 'more cell')} not shown: go on with {_onward(rest)}]"
                )
                break
            text = f"{cut(text, room)}\n[the cell is longer than one answer]"
        parts.append(text)
        room -= len(text)
        if images and len(pictures_seen) < MOST_PICTURES:
            for about, image in _pictures(cell, MOST_PICTURES - len(pictures_seen)):
                parts.append(about)
                pictures_seen += [image] if image is not None else []
    return Told("\n".join(parts), tuple(pictures_seen))


def _onward(rest: Sequence[Cell]) -> str:
    first = rest[0]
    return f"first={first.number}" if first.number else f"cells=[{first.name!r}]"


def cell_text(cell: Cell, shown: OutputsShown) -> str:
    """One cell: its heading, its source, its outputs."""
    note = f" — {cell.note}" if cell.note else ""
    parts = [f"{notebooks.heading(cell.value, cell.number)}{note}", cell.source]
    if cell.outputs and shown == "none":
        parts.append(f"--- {counted(len(cell.outputs), 'output')} not shown")
    elif cell.own and cell.outputs:
        parts.append("--- output: the agent's answer")
    elif cell.outputs:
        budget = BUDGETS[shown]
        parts += [f"--- output{notebooks.output_text(o, budget)}" for o in cell.outputs]
    return "\n".join(parts)


def _pictures(cell: Cell, most: int) -> Iterator[tuple[str, Image | None]]:
    """The pictures in a cell's outputs, each with a line about it; None: it cannot be shown."""
    for output in cell.outputs:
        data = output.get("data")
        if not isinstance(data, dict):
            continue
        for kind in ("image/png", "image/jpeg", "image/gif", "image/webp"):
            if kind not in data or most <= 0:
                continue
            most -= 1
            name = f"the {kind} of {cell.name}"
            try:
                content = base64.b64decode(notebooks.joined(data[kind]), validate=False)
                picture = pictures.recognised(content)
                if picture is None:
                    raise ToolError(f"{name} is damaged, so it cannot be shown.")
                about, image = pictures.shown_to_model(picture, content, name)
            except (ToolError, binascii.Error, ValueError) as error:
                yield f"[{error}]", None
            else:
                yield f"[picture of {cell.name}: {about.strip('[]')}]", image
