"""A comment above `%%agent` works: IPython itself would take the line for a line magic."""

from __future__ import annotations

from collections.abc import Sequence


def comments_above(lines: Sequence[str]) -> list[str]:
    """The cell without the comment and blank lines above `%%agent`; any other cell as it is.

    IPython recognises a cell magic on a cell's first line only, and says "line magic not found"
    otherwise. Only comment lines above are taken away; the body stays byte for byte. A cell that
    is nothing but `%%agent --action ID` gets a blank line: IPython runs no cell magic without.

    Args:
        lines: The cell, each line with its end.
    """
    for number, line in enumerate(lines):
        stripped = line.strip()
        if stripped.split(" ")[0] == "%%agent":
            alone = number + 1 == len(lines) and stripped != "%%agent"
            return [*lines[number:], "\n"] if alone else list(lines[number:])
        if stripped and not stripped.startswith("#"):
            break
    return list(lines)
