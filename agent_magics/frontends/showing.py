"""What a program shows of a turn, and of many: in the cell that it runs in, else on the terminal.

Owns where that is. A program need not have loaded the extension, nor run in IPython at all.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

from agent_magics.frontends.notebook import NotebookRenderer
from agent_magics.frontends.publisher import CellOutput
from agent_magics.frontends.terminal import TerminalRenderer
from agent_magics.ports import Renderer


class LiveRenderer(Renderer, Protocol):
    """A renderer of one turn."""

    def close(self) -> None:
        """Show the last state."""


def renderer() -> LiveRenderer:
    """Shows a turn where the program runs."""
    kernel = live_kernel()
    # What was printed before goes first.
    sys.stdout.flush()
    if kernel is None:
        return TerminalRenderer(sys.stdout, colour=sys.stdout.isatty())
    output = CellOutput(kernel)
    return NotebookRenderer(output, updates=has_updates(output))


def live_kernel() -> Any:
    """The kernel whose cell runs this program; None outside of notebooks and consoles."""
    # Only where IPython is at work already; to import it would cost a script a second.
    known = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return getattr(known() if known is not None else None, "kernel", None)


def has_updates(output: CellOutput) -> bool:
    """Whether the front end can change an output; consoles name no cell, and cannot."""
    return (
        bool((output.parent.get("metadata") or {}).get("cellId")) or "google.colab" in sys.modules
    )
