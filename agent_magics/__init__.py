"""agent_magics: an agent that lives in Jupyter notebooks and IPython.

`%load_ext agent_magics` registers `%skills`, `%use`, `%unuse`, `%agent` and `%%agent`. Importing
the package does nothing and costs next to nothing. `from agent_magics import tool` gives the
decorator for a skill's `tools.py`; `run`, `arun` and `map` are the agent for programs; `hook` is
the decorator for a person's own checks.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from agent_magics.extension.hooking import hook as hook
    from agent_magics.extension.scripts import arun as arun
    from agent_magics.extension.scripts import map as map  # noqa: A004  # agent_magics.map
    from agent_magics.extension.scripts import run as run
    from agent_magics.marking import tool as tool

__version__ = "0.1.0"


class _Package(ModuleType):
    """This module, with a `tool` that is imported when it is asked for."""

    @property
    def tool(self) -> Any:
        """The decorator `@tool`."""
        from agent_magics.marking import tool

        return tool

    @tool.setter
    def tool(self, module: ModuleType) -> None:
        """Importing `agent_magics.tool`, the module, would put it in the decorator's place."""


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """What is for programs, imported when it is asked for."""
    if name == "hook":
        from agent_magics.extension.hooking import hook

        return hook
    if name not in ("run", "arun", "map"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent_magics.extension import scripts

    return getattr(scripts, name)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext agent_magics`."""
    from agent_magics.extension import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%unload_ext agent_magics`."""
    from agent_magics.extension import unload

    unload(shell)
