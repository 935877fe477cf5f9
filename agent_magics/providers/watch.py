"""A bound on silence that costs next to nothing per wait.

`asyncio.timeout` makes and cancels a timer for each wait, which for a stream means for each piece.
Here one timer lives as long as the answer and looks, when it fires, whether a wait is overdue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Silent(Exception):
    """Nothing came within the limit."""


class Watch:
    """Bounds waits, one after the other, within one task at a time.

    Args:
        limit: Seconds that a wait may last; can be changed between waits.
    """

    __slots__ = ("_due", "_loop", "_overdue", "_timer", "_waiting", "limit")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Task[object] | None = None
        self._overdue = False

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """The awaitable's result.

        Raises:
            Silent: It took longer than the limit; it was cancelled.
        """
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        self._due = self._loop.time() + self.limit
        if self._timer is None or self._timer.when() > self._due:
            self._start()
        self._waiting = task
        try:
            return await awaitable
        except asyncio.CancelledError:
            # As in `asyncio.timeout`: ours only if nobody else cancelled meanwhile.
            if self._overdue:
                self._overdue = False
                if task.uncancel() <= cancelling:
                    raise Silent from None
            raise
        finally:
            self._waiting = None
            if self._overdue:  # it came in the last moment, or broke in another way
                self._overdue = False
                task.uncancel()

    def stop(self) -> None:
        """End the watch; waits after this start it again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self) -> None:
        self.stop()
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if self._loop.time() < self._due:
            self._start()
        else:
            self._overdue = True
            self._waiting.cancel()
