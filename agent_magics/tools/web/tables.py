"""A table of a page: as Markdown, or as paragraphs where it only arranges the page. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

MAX_COLUMNS = 60
MAX_CELL = 600
"""Characters of a cell; one with more holds a part of the page rather than a value."""
MAX_SPAN = 20


@dataclass(slots=True)
class Table:
    """A table that is being read.

    Args:
        filling: Whether a cell is open, so that its text is held back.
    """

    filling: bool = False
    _rows: list[list[str]] = field(default_factory=list)
    _span: int = 1
    _arranges: bool = False

    def begin_row(self) -> None:
        """A row begins."""
        if not self._arranges:
            self._rows.append([])

    def begin_cell(self, span: str) -> None:
        """A cell begins, over as many columns as its `colspan` says."""
        if self._arranges:
            return
        if not self._rows:
            self._rows.append([])
        self.filling = True
        wide = int(span) if span.isascii() and span.isdecimal() and len(span) < 5 else 1
        self._span = min(max(wide, 1), MAX_SPAN)

    def end_cell(self, text: str) -> None:
        """A cell ends."""
        self.filling = False
        self._rows[-1].extend((text, *("",) * (self._span - 1)))

    def arranged(self) -> tuple[str, ...]:
        """From now on its cells are paragraphs; gives those that it had."""
        had = self._paragraphs()
        self._arranges, self.filling, self._rows = True, False, []
        return had

    def blocks(self) -> tuple[str, ...]:
        """What it is in the end."""
        rows = [row for row in self._rows if any(row)]
        widths = {len(row) for row in rows}
        odd = not rows or max(widths) == 1 or max(widths) > MAX_COLUMNS
        if odd or any(len(cell) > MAX_CELL for row in rows for cell in row):
            return self._paragraphs()
        first, *others = rows
        lines = [_line(first), _line("---" for _ in first), *(_line(row) for row in others)]
        return ("\n".join(lines),)

    def _paragraphs(self) -> tuple[str, ...]:
        cells = (cell for row in self._rows for cell in row if cell)
        return tuple(paragraph for cell in cells for paragraph in cell.split("\n\n"))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"
