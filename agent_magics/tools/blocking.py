"""Blocking work off the event loop, so that an interrupt never waits for a disk.

Owns the one way in which tools use threads, and the words for an operating system's errors.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from agent_magics.errors import ToolError
from agent_magics.tools.plain import printable
from agent_magics.tools.walking import Stop

T = TypeVar("T")


async def in_thread(work: Callable[[Stop], T]) -> T:
    """Run blocking work in a thread; when the call is cancelled, its `Stop` says so.

    Raises:
        ToolError: Also for every error of the operating system.
    """
    ended = threading.Event()
    try:
        with told():
            return await asyncio.to_thread(work, ended.is_set)
    finally:
        ended.set()


@contextmanager
def told() -> Iterator[None]:
    """Turn an operating system's error into one that the model can read."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        where = f"{printable(Path(error.filename).name)}: " if _named(error) else ""
        raise ToolError(f"{where}{reason}.") from error


def _named(error: OSError) -> bool:
    return isinstance(error.filename, str) and bool(error.filename)
