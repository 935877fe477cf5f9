"""Code that a person asked to be run, run as a cell of theirs: all that it shows is shown."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_magics.frontends.kernel import AwaitLoop


def run_shown(shell: Any, code: str) -> bool:
    """Run a cell's worth of code inside the running cell, outside of the history.

    Args:
        shell: IPython's shell.
        code: Anything that a cell may hold.

    Returns:
        Whether it ran to its end; otherwise its error was shown.
    """
    if asyncio._get_running_loop() is None:
        return bool(shell.run_cell(code, store_history=False).success)
    # The kernel's own loop runs the cell that waits for this.
    awaits, before = AwaitLoop(), shell.loop_runner
    shell.loop_runner = awaits
    try:
        return bool(shell.run_cell(code, store_history=False).success)
    finally:
        shell.loop_runner = before
        awaits.close()
