"""One cell's run: the agent on a thread of its own, the calling thread waiting for it.

Owns the two threads' meeting points: work that must be on the calling thread (user code,
`input()`), interrupts, and the end. Knows nothing of agents, kernels or what is shown.

The calling thread is called the *stage* here; it is the main thread, but for cells of a subshell.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Generic, TypeVar

from agent_magics.frontends.runner_errand import Errand, TimeLimit

R = TypeVar("R")
T = TypeVar("T")

GRACE = 2.0
"""Seconds that an interrupted turn may take to end itself before the cell ends without it.

A turn that only waits ends in milliseconds; killing a process group that ignores the first signal
takes about one second.
"""

SLICE = 0.1
"""Seconds between looks at the clock; signals and new errands cut the wait short."""

AGAIN = 1.0
"""Seconds after which code whose time is up, and which goes on all the same, is interrupted again.

Long enough for what code does when it is interrupted.
"""

POLLED_SLICE = 0.02
"""As `SLICE`, where incoming messages have to be polled for (ipykernel 6)."""


class AgentInterrupted(KeyboardInterrupt):
    """The person stopped the turn; the cell ends with an error, so that Run All stops there."""

    def _render_traceback_(self) -> list[str]:
        """IPython calls this in place of its own traceback."""
        return [f"AgentInterrupted: {self}"]


@dataclass(eq=False, slots=True)
class Runner(Generic[T]):
    """Runs one coroutine to its end, with the calling thread at its service. For one use.

    Args:
        main: Makes what is awaited; called on the agent's thread, inside its loop.
        poll: Called about 50 times a second by the waiting thread, where messages have to be
            polled for; None: never.
        grace: Seconds, see `GRACE`.
    """

    main: Callable[[], Awaitable[T]]
    poll: Callable[[], None] | None = None
    grace: float = GRACE
    serving: bool = True
    finished: threading.Event = field(default_factory=threading.Event)
    presses: int = 0
    _pressed_at: float = 0.0
    # Not a SimpleQueue: in CPython 3.11 a signal near the end of a timed wait makes it endless.
    _errands: deque[Errand] = field(default_factory=deque)
    _wake: threading.Event = field(default_factory=threading.Event)
    _running: Errand | None = None
    _own_signal: bool = False
    _signals: bool = False
    _stage: int = 0
    _cancellable: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = field(
        default_factory=list
    )
    _thread: threading.Thread | None = None
    _result: list[T] = field(default_factory=list)
    _error: BaseException | None = None

    def occupies(self, thread: int) -> bool:
        """Whether a thread is one of the two; work sent to it from here would wait for itself."""
        return thread in (self._stage, self._thread.ident if self._thread else None)

    async def on_main(self, job: Callable[[], R], limit: TimeLimit | None = None) -> R:
        """Run a function on the stage and give its result.

        Cancelling the wait stops the function as an interrupt would, where signals can reach it.

        Args:
            job: The function.
            limit: Interrupts it when its time is up, again and again until it ends, where signals
                can reach it. What it makes of that is its result.

        Raises:
            AgentMagicsError: The function was stopped, or ended with an exit.
        """
        loop = asyncio.get_running_loop()
        errand = Errand(job, loop.create_future(), loop, limit=limit)
        self._errands.append(errand)
        self._wake.set()
        try:
            result: R = await errand.future
        except asyncio.CancelledError:
            self._recall(errand)
            raise
        return result

    def cancel(self) -> None:
        """End the run from another thread, as an interrupt does that cannot reach this one."""
        self._cancel()

    def run(self) -> T:
        """Start the agent's thread and serve it until it is done.

        Returns:
            What the coroutine returned.

        Raises:
            AgentInterrupted: The person stopped it.
        """
        # The copy carries the kernel's parent header, so that what user code or libraries publish
        # from the agent's thread belongs to this cell.
        self._stage = threading.get_ident()
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._agent,), name="agent_magics", daemon=True
        )
        self._signals = threading.current_thread() is threading.main_thread()
        # getsignal gives None for a handler that was not set by Python.
        before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
        try:
            if self._signals:
                signal.signal(signal.SIGINT, self._on_interrupt)
            self._thread.start()
            self._serve()
        except KeyboardInterrupt:
            if not self.presses:
                raise
        finally:
            if self._signals:
                signal.signal(signal.SIGINT, before)
            self.serving = False
            self._cancel()
            if not self._thread.is_alive():
                self.finished.set()
        return self._outcome()

    def _outcome(self) -> T:
        if self.presses:
            late = "" if self.finished.is_set() else "; a tool is still winding down"
            raise AgentInterrupted(f"stopped, the next cell can go on from here{late}")
        if isinstance(self._error, asyncio.CancelledError):
            raise AgentInterrupted("the turn was cancelled")
        if self._error is not None:
            raise self._error
        return self._result[0]

    # On the agent's thread ----------------------------------------------------------------------

    def _agent(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._top())
        except BaseException as error:  # noqa: BLE001  # it is raised again on the stage
            self._error = self._error or error
        finally:
            self._finish()

    async def _top(self) -> None:
        """The coroutine, and the word that it is done.

        The stage goes on from here: what follows on this thread (leftover tasks, worker threads
        that a tool left blocked) must not hold up the cell.
        """
        task = asyncio.current_task()
        assert task is not None
        self._cancellable.append((asyncio.get_running_loop(), task))
        try:
            if self.presses:
                raise asyncio.CancelledError
            self._result.append(await self.main())
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._finish()

    def _finish(self) -> None:
        self.finished.set()
        self._wake.set()

    def _recall(self, errand: Errand) -> None:
        """Drop an errand nobody waits for; stop it if it runs."""
        errand.recalled = True
        if self._signals and self._running is errand and not self.presses:
            self._own_signal = True
            _signal_main_thread()
            # A signal that comes just before a blocking call does not wake it.
            errand.loop.call_later(SLICE, self._recall, errand)

    def _time_up(self, errand: Errand) -> None:
        """Stop an errand that took too long; it still has someone who waits for it."""
        if not self._signals or self._running is not errand or self.presses or errand.recalled:
            return
        assert errand.limit is not None
        errand.limit.passed = True
        self._own_signal = True
        _signal_main_thread()
        errand.loop.call_later(AGAIN, self._time_up, errand)

    # On the stage -------------------------------------------------------------------------------

    def _serve(self) -> None:
        """Run errands until the agent is done, or an interrupt has waited long enough."""
        wait = POLLED_SLICE if self.poll else SLICE
        while not self.finished.is_set():
            try:
                if self.poll:
                    self.poll()
                self._wake.wait(wait)
                self._wake.clear()
                while self._errands:
                    self._perform(self._errands.popleft())
            except KeyboardInterrupt:
                if self.presses > 1:
                    return
                if not self.presses:
                    self._stopped_late()
            if self.presses:
                self._cancel()
                if time.monotonic() - self._pressed_at > self.grace:
                    return

    def _perform(self, errand: Errand) -> None:
        if errand.recalled or self._pressed():
            errand.fail(KeyboardInterrupt())
            return
        self._running = errand
        if errand.limit is not None:
            errand.start_clock(self._time_up)
        settle: Callable[[], None]
        try:
            result = errand.job()
        except BaseException as error:  # noqa: BLE001  # it belongs to whoever sent the errand
            settle = functools.partial(errand.fail, error)
        else:
            settle = functools.partial(errand.answer, result)
        self._running = None
        if self._pressed():
            # Before the result: the turn must not go on with it.
            self._cancel()
        settle()

    def _stopped_late(self) -> None:
        """Answer for an errand whose own interrupt came just behind its end."""
        errand, self._running = self._running, None
        if errand is not None:
            errand.fail(KeyboardInterrupt())

    def _pressed(self) -> bool:
        """Whether there was an interrupt; it can come between any two steps."""
        return self.presses > 0

    def _on_interrupt(self, _signum: int, _frame: FrameType | None) -> None:
        """The first press ends the turn, and user code if that runs; the second ends the cell."""
        running = self._running
        if self._own_signal:
            self._own_signal = False
            if running is not None and running.unwanted:
                raise KeyboardInterrupt
            return
        self.presses += 1
        self._pressed_at = self._pressed_at or time.monotonic()
        if running is not None:
            # The turn is cancelled when the code has ended, so that it is not left behind.
            raise KeyboardInterrupt
        self._cancel()
        if self.presses > 1:
            raise KeyboardInterrupt

    def _cancel(self) -> None:
        """Cancel the turn, once; without effect when it is done or not yet there.

        Takes no lock: the signal handler may come in the middle of the stage's own call.
        """
        with contextlib.suppress(IndexError, RuntimeError):  # not there, or the loop is closed
            loop, task = self._cancellable.pop()
            loop.call_soon_threadsafe(task.cancel)


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that can run child processes, whatever the kernel chose for its own."""
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()


def _signal_main_thread() -> None:
    """Wake the main thread with SIGINT, also out of a blocking read where the system can."""
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main(signal.SIGINT)
        return
    identity = threading.main_thread().ident
    assert identity is not None
    signal.pthread_kill(identity, signal.SIGINT)
