"""Proposed cells: each as a block of its own, to be read, copied or put into the notebook."""

from __future__ import annotations

from collections.abc import Callable

from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, metadata
from agent_magics.frontends.blocks_payload import fenced
from agent_magics.frontends.lab_buttons import cell_buttons
from agent_magics.messages import Display, ToolResult
from agent_magics.plain import visible

HEAD = "Proposed cell"


def proposed_blocks(result: ToolResult, new_key: Callable[[], str]) -> list[Block]:
    """A block for each cell that a call proposes.

    Args:
        result: What the call brought.
        new_key: Gives the place of the next block.
    """
    return [_block(d, new_key()) for d in result.display if d.kind == "cell"]


def _block(display: Display, key: str) -> Block:
    kind = "" if display.language == "python" else f" ({display.language})"
    source = visible(display.text)
    # What a button puts into a notebook is what is seen above it.
    buttons = cell_buttons([("Insert cell", source)]) if not kind else ""
    head = theme.line(f"<b>{HEAD}</b>{theme.text_html(kind)} · not run")
    html = f"{head}{theme.code_box(source, display.language, HEAD)}{buttons}"
    text = f"{HEAD}{kind} · not run\n\n{fenced(source, display.language)}"
    return Block(key, html, text, metadata("proposed"))
