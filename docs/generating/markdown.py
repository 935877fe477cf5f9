"""The few forms of Markdown that the generated pages are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NOTE = "<!-- Made by `python -m docs.generate` from the code; change it there. A test compares. -->"


def page(title: str, *parts: str) -> str:
    """A whole page: heading, the note on where it comes from, and its parts."""
    return "\n\n".join([f"# {title}", NOTE, *(part.strip("\n") for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; what stands in a cell is Markdown on one line."""
    lines = [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]
    return "\n".join(lines)


def code(text: object) -> str:
    """Inline code that holds any text, back ticks included."""
    words = str(text)
    runs = [len(run) for run in re.findall(r"`+", words)]
    ticks = "`" * (max(runs, default=0) + 1)
    blank = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{blank}{words}{blank}{ticks}"


def prose(text: str) -> str:
    """Plain words in Markdown: white space joined, and nothing of it read as markup but code."""
    pieces = re.split(r"(`+[^`]*`+)", " ".join(text.split()))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([\\*_<>\[\]])", r"\\\1", piece)
        for piece in pieces
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
