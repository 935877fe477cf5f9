"""One function on its way from the agent to the thread of the cell, and its result on the way back.

Knows nothing of who runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_magics.errors import AgentMagicsError


@dataclass(slots=True)
class TimeLimit:
    """How long a function may take, from its start on.

    Args:
        seconds: After which it is interrupted.
        passed: Whether it was.
    """

    seconds: float
    passed: bool = False


@dataclass(eq=False, slots=True)
class Errand:
    """A function that the agent sends to the stage, and where its result goes."""

    job: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    recalled: bool = False
    limit: TimeLimit | None = None

    @property
    def unwanted(self) -> bool:
        """Whether it is to be stopped: nobody waits for it, or its time is up."""
        return self.recalled or (self.limit is not None and self.limit.passed)

    def start_clock(self, time_up: Callable[[Errand], None]) -> None:
        """Begin to count its time.

        Args:
            time_up: Called in the agent's loop when none is left.
        """
        assert self.limit is not None
        seconds = self.limit.seconds

        def begin() -> None:
            self.loop.call_later(seconds, time_up, self)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(begin)

    def answer(self, result: object) -> None:
        """Hand the result over, if someone still waits for it."""
        self._settle(lambda: self.future.set_result(result))

    def fail(self, error: BaseException) -> None:
        """Hand an error over, in a form that a future can carry."""
        if isinstance(error, KeyboardInterrupt):
            error = AgentMagicsError("interrupted")
        elif isinstance(error, StopIteration) or not isinstance(error, Exception):
            error = AgentMagicsError(f"{type(error).__name__}: {error}")
        self._settle(lambda: self.future.set_exception(error))

    def _settle(self, setter: Callable[[], None]) -> None:
        def settle() -> None:
            if not self.future.done():
                setter()

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(settle)
