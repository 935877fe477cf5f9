"""The tool `propose_cell`: the next cell, for the person to look at and to run.

Owns how many there are in a turn and what becomes of several. Nothing is run and no file changes.
"""

from __future__ import annotations

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.notebook import LiveNotebook
from agent_magics.ports import Kernel
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.new_content import sound
from agent_magics.tools.plain import printable
from agent_magics.tools.schemas import record, string

NAME = "propose_cell"
MOST = 5
"""Cells of one turn: more is a notebook, and no next step."""
LONGEST = 20_000
"""Characters of one cell."""


def propose_cell_tool(kernel: Kernel, live: LiveNotebook) -> Tool:
    """`propose_cell`: made for one turn, whose proposals it joins."""
    proposed: list[str] = []
    shown: list[str] = []

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        source: str = sound(arguments["source"], "source").strip("\n")
        kind = arguments.get("kind", "code")
        if not source.strip():
            raise ToolError("The cell is empty.")
        if len(source) > LONGEST:
            raise ToolError(
                f"The cell has {len(source):,} characters; propose at most {LONGEST:,}."
            )
        if len(shown) >= MOST:
            raise ToolError(f"{MOST} cells were proposed in this turn already; that is the limit.")
        shown.append(source)
        taken = kind == "code" and _joins(proposed, source)
        offered = False
        if taken:
            proposed.append(source)
            text = "\n\n".join(proposed)
            offered = await kernel.on_main(lambda: live.propose(text))
        language = "python" if kind == "code" else "markdown"
        display = Display("cell", source, language)
        return ToolOutput(_told(kind, offered, len(proposed)), (display,))

    return Tool(
        NAME,
        "Propose the next cell of the person's notebook; they decide whether to run it.\n"
        "It is put below this cell where the front end can, and always shown to be copied. It is "
        "not run. Several code cells of one answer become one cell.",
        record(
            ("source",),
            source=string("All of the cell's text."),
            kind={
                "type": "string",
                "enum": ["code", "markdown"],
                "default": "code",
                "description": "Markdown is only shown, to be copied.",
            },
        ),
        "control",
        run,
        operand=_operand,
    )


def _joins(proposed: list[str], source: str) -> bool:
    """Whether code can go into one cell with what was proposed before: cell magics cannot."""
    return not proposed or not any(text.lstrip().startswith("%%") for text in (*proposed, source))


def _told(kind: str, offered: bool, count: int) -> str:
    if not offered:
        return f"The {kind} cell is shown to the person, to be copied. It was not run."
    joined = " as one with those before it" if count > 1 else ""
    return (
        f"The code is shown to the person and offered to the front end as the next cell{joined}. "
        "It was not run."
    )


def _operand(arguments: Arguments) -> str:
    first = next((line.strip() for line in arguments["source"].splitlines() if line.strip()), "")
    return printable(first)[:80]
