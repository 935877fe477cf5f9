"""A thread with an event loop for work that outlives a cell: the servers' own.

Started at its first use, ended for good with `close`. Knows no server.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from contextlib import suppress
from typing import Any, TypeVar

from agent_magics.errors import ToolError

T = TypeVar("T")


class Background:
    """One thread, made when something is to run on it."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether the thread was started."""
        return self._loop is not None

    async def here(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine there and wait for it here; cancelling the wait cancels it.

        Args:
            work: Makes the coroutine; called on the thread.

        Raises:
            ToolError: The thread was ended.
        """
        return await asyncio.wrap_future(self._submitted(work))

    def close(self, work: Callable[[], Coroutine[Any, Any, None]], seconds: float) -> None:
        """Run one last coroutine and end the thread; waits no longer than so many seconds."""
        with self._starting:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return

        async def last() -> None:
            await work()

        with suppress(TooSlow, RuntimeError):
            asyncio.run_coroutine_threadsafe(last(), loop).result(seconds)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(1.0)

    def _submitted(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        async def made() -> T:
            return await work()

        # Under the lock: what comes before `close` is there when the last coroutine runs.
        with self._starting:
            if self._closed:
                # A turn that somebody left behind must not start what was ended around it.
                raise ToolError("The MCP servers were ended.")
            return asyncio.run_coroutine_threadsafe(made(), self._started())

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = _new_loop()
            self._thread = threading.Thread(
                target=self._body, args=(self._loop,), name="agent_magics mcp", daemon=True
            )
            self._thread.start()
        return self._loop

    def _body(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that can run child processes, whatever the kernel chose for its own."""
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()
