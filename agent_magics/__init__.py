"""agent_magics: an agent that lives in Jupyter notebooks and IPython.

`%load_ext agent_magics` registers `%skills`, `%use`, `%unuse`, `%agent` and `%%agent`. Importing
the package does nothing and costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext agent_magics`."""
    from agent_magics.extension import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%unload_ext agent_magics`."""
    from agent_magics.extension import unload

    unload(shell)
