"""The tools that come with the package.

A tool is one function that makes it and one name in `MAKERS`. Owns what all of them share on
the way out: no secret leaves, and every text can be sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import JSON, Display
from agent_magics.ports import Kernel
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.changing import edit_tool, write_tool
from agent_magics.tools.delegating import Delegation, delegate_tool
from agent_magics.tools.fetching import fetch_tool
from agent_magics.tools.listing import glob_tool, ls_tool
from agent_magics.tools.live_python import python_tool
from agent_magics.tools.memory import Memory, memory_tools
from agent_magics.tools.plain import sendable
from agent_magics.tools.planning import todo_tool
from agent_magics.tools.reading import read_tool
from agent_magics.tools.searching import grep_tool
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.web.pages import Web
from agent_magics.tools.workspace import Workspace

Maker: TypeAlias = Callable[[Workspace], Tool]
CellMaker: TypeAlias = Callable[[Workspace, Delegation], Tool]
KernelMaker: TypeAlias = Callable[[Workspace, Kernel], Tool]
WebMaker: TypeAlias = Callable[[Workspace, Web], Tool]

MAKERS: tuple[Maker, ...] = (
    ls_tool,
    glob_tool,
    read_tool,
    grep_tool,
    write_tool,
    edit_tool,
    run_shell_tool,
    todo_tool,
)
CELL_MAKERS: tuple[CellMaker, ...] = (delegate_tool,)
"""Tools that need the turn of the running cell."""
KERNEL_MAKERS: tuple[KernelMaker, ...] = (python_tool,)
"""Tools that act on the user's live kernel; left out where there is none."""
WEB_MAKERS: tuple[WebMaker, ...] = (fetch_tool,)
"""Tools that ask the web."""


def builtin_tools(
    workspace: Workspace,
    kernel: Kernel | None = None,
    delegation: Delegation | None = None,
    memory: Memory | None = None,
    web: Web | None = None,
) -> tuple[Tool, ...]:
    """Every built-in tool.

    Args:
        workspace: What the file tools work in.
        kernel: The user's IPython; None: without the tools that need it.
        delegation: What the running cell lends to sub-agents; None: there is no cell.
        memory: Notes that outlive a conversation; None: there are none.
        web: What may be asked there, and pages that were; None: the public web, directly.
    """
    made = [make(workspace) for make in MAKERS]
    made += [make(workspace, web or Web()) for make in WEB_MAKERS]
    made += [make(workspace, delegation or Delegation()) for make in CELL_MAKERS]
    if memory is not None:
        made += memory_tools(memory)
    if kernel is not None:
        made += [make(workspace, kernel) for make in KERNEL_MAKERS]
    return tuple(_discreet(tool, workspace) for tool in made)


def _discreet(tool: Tool, workspace: Workspace) -> Tool:
    """The tool, with everything it says freed of secrets and of what no server takes."""

    def clean(text: str) -> str:
        return workspace.redact(sendable(text))

    def shown(displays: tuple[Display, ...]) -> tuple[Display, ...]:
        return tuple(replace(d, text=clean(d.text), data=_each(d.data)) for d in displays)

    def _each(value: JSON) -> JSON:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, dict):
            return {name: _each(part) for name, part in value.items()}
        return [_each(part) for part in value] if isinstance(value, list) else value

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        try:
            output = await tool.run(arguments, lambda text: report(clean(text)))
        except ToolError as error:
            raise ToolError(clean(str(error))) from error
        return replace(output, text=clean(output.text), display=shown(output.display))

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        try:
            return shown(tool.preview(arguments))
        except ToolError as error:
            raise ToolError(clean(str(error))) from error

    return replace(tool, run=run, preview=preview)
