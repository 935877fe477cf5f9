"""The tools that come with the package.

A tool is one function that makes it and one name in `MAKERS`. What they say still holds secrets:
a turn gets them through `discretion.discreet`, like every other tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent_magics.ports import Kernel
from agent_magics.tool import Tool
from agent_magics.tools.changing import edit_tool, write_tool
from agent_magics.tools.listing import glob_tool, ls_tool
from agent_magics.tools.live_python import python_tool
from agent_magics.tools.reading import read_tool
from agent_magics.tools.searching import grep_tool
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.workspace import Workspace

Maker: TypeAlias = Callable[[Workspace], Tool]
KernelMaker: TypeAlias = Callable[[Workspace, Kernel], Tool]

MAKERS: tuple[Maker, ...] = (
    ls_tool,
    glob_tool,
    read_tool,
    grep_tool,
    write_tool,
    edit_tool,
    run_shell_tool,
)
KERNEL_MAKERS: tuple[KernelMaker, ...] = (python_tool,)
"""Tools that act on the user's live kernel; left out where there is none."""


def builtin_tools(workspace: Workspace, kernel: Kernel | None = None) -> tuple[Tool, ...]:
    """Every built-in tool.

    Args:
        workspace: What the file tools work in.
        kernel: The user's IPython; None: without the tools that need it.
    """
    made = [make(workspace) for make in MAKERS]
    if kernel is not None:
        made += [make(workspace, kernel) for make in KERNEL_MAKERS]
    return tuple(made)
