"""The tools that come with the package.

A tool is one function that makes it and one name in `MAKERS`. What they say still holds secrets:
a turn gets them through `discretion.discreet`, like every other tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent_magics.notebook import LiveNotebook, NoNotebook
from agent_magics.ports import Kernel
from agent_magics.tool import Tool
from agent_magics.tools.cells.proposing import propose_cell_tool
from agent_magics.tools.cells.tools import (
    notebook_edit_tool,
    notebook_outline_tool,
    notebook_read_tool,
)
from agent_magics.tools.changing import edit_tool, write_tool
from agent_magics.tools.delegating import Delegation, delegate_tool
from agent_magics.tools.deleting import delete_tool
from agent_magics.tools.fetching import fetch_tool
from agent_magics.tools.listing import glob_tool, ls_tool
from agent_magics.tools.live_python import python_tool
from agent_magics.tools.memory import Memory, memory_tools
from agent_magics.tools.moving import move_tool
from agent_magics.tools.planning import todo_tool
from agent_magics.tools.reading import read_tool
from agent_magics.tools.searching import grep_tool
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.variables import variables_tool
from agent_magics.tools.web.pages import Web
from agent_magics.tools.workspace import Workspace

Maker: TypeAlias = Callable[[Workspace], Tool]
CellMaker: TypeAlias = Callable[[Workspace, Delegation], Tool]
KernelMaker: TypeAlias = Callable[[Workspace, Kernel], Tool]
WebMaker: TypeAlias = Callable[[Workspace, Web], Tool]
NotebookMaker: TypeAlias = Callable[[Workspace, LiveNotebook], Tool]
ProposalMaker: TypeAlias = Callable[[Kernel, LiveNotebook], Tool]

MAKERS: tuple[Maker, ...] = (
    ls_tool,
    glob_tool,
    read_tool,
    grep_tool,
    write_tool,
    edit_tool,
    delete_tool,
    move_tool,
    run_shell_tool,
    todo_tool,
)
CELL_MAKERS: tuple[CellMaker, ...] = (delegate_tool,)
"""Tools that need the turn of the running cell."""
KERNEL_MAKERS: tuple[KernelMaker, ...] = (python_tool, variables_tool)
"""Tools that act on the user's live kernel; left out where there is none."""
WEB_MAKERS: tuple[WebMaker, ...] = (fetch_tool,)
"""Tools that ask the web."""

NOTEBOOK_MAKERS: tuple[NotebookMaker, ...] = (
    notebook_outline_tool,
    notebook_read_tool,
    notebook_edit_tool,
)
"""Tools that know which notebook the running cell is in."""
PROPOSAL_MAKERS: tuple[ProposalMaker, ...] = (propose_cell_tool,)
"""Tools that put something into the person's notebook; left out where no kernel is."""


def builtin_tools(
    workspace: Workspace,
    kernel: Kernel | None = None,
    delegation: Delegation | None = None,
    memory: Memory | None = None,
    web: Web | None = None,
    live: LiveNotebook | None = None,
) -> tuple[Tool, ...]:
    """Every built-in tool.

    Args:
        workspace: What the file tools work in.
        kernel: The user's IPython; None: without the tools that need it.
        delegation: What the running cell lends to sub-agents; None: there is no cell.
        memory: Notes that outlive a conversation; None: there are none.
        web: What may be asked there, and pages that were; None: the public web, directly.
        live: The notebook that the running cell is in; None: nothing is known of it.
    """
    made = [make(workspace) for make in MAKERS]
    here = live or NoNotebook()
    made += [make(workspace, here) for make in NOTEBOOK_MAKERS]
    made += [make(workspace, web or Web()) for make in WEB_MAKERS]
    made += [make(workspace, delegation or Delegation()) for make in CELL_MAKERS]
    if memory is not None:
        made += memory_tools(memory)
    if kernel is not None:
        made += [make(kernel, here) for make in PROPOSAL_MAKERS]
        made += [make(workspace, kernel) for make in KERNEL_MAKERS]
    return tuple(made)
