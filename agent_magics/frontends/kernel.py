"""The user's live IPython, for tools: code in their namespace, on the main thread.

Owns how a piece of code becomes a `CodeOutput`. The stage brings it to the main thread; capturing
is done by `capture`.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol, TypeVar

from agent_magics.errors import AgentMagicsError
from agent_magics.frontends import capture, runner
from agent_magics.frontends.runner_errand import TimeLimit
from agent_magics.messages import Display
from agent_magics.namespace.changes import changes, moment
from agent_magics.namespace.keeping import KeptNames, Undone
from agent_magics.namespace.prints import visible_names
from agent_magics.ports import CodeOutput

T = TypeVar("T")

_OWN_FILES = (capture.__file__, runner.__file__)
"""Where an interrupt or a refusal comes from, which says nothing about the code."""

FRAMES = 12
"""Frames of a traceback that are kept: the first and the last half of these."""


class OnMain(Protocol):
    """Runs a function on the main thread."""

    async def __call__(self, job: Callable[[], T], limit: TimeLimit | None = None) -> T:
        """Its result; a function whose time is up gets an interrupt."""


@dataclass(eq=False, slots=True)
class AwaitLoop:
    """The event loop for top-level `await` in code that the agent runs.

    The kernel's own loop is busy: it is running the cell that waits for us, and asyncio does not
    re-enter a loop. So awaited code gets a loop of its own on the same thread. It is kept from
    call to call, so that what one call makes (a client session, a queue) can be awaited in the
    next. Objects tied to the kernel's loop cannot be awaited here; asyncio says so by itself.
    """

    _loops: list[asyncio.AbstractEventLoop] = field(default_factory=list)

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, also while the thread's own loop is running."""
        with _loop_set_aside():
            if not self._loops or self._loops[0].is_closed():
                self._loops[:] = [asyncio.new_event_loop()]
            loop = self._loops[0]
            task = loop.create_task(coroutine)
            try:
                return loop.run_until_complete(task)
            except BaseException:
                # An interrupt breaks off the loop, not the task: end that too.
                if not task.done():
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        loop.run_until_complete(task)
                raise

    def close(self) -> None:
        """End what is still running on the loop, and the loop."""
        for loop in self._loops:
            if not loop.is_closed() and not loop.is_running():
                with _loop_set_aside():
                    _ended(loop)
        self._loops.clear()


@dataclass(eq=False, slots=True)
class Interpreter:
    """Runs code in the user's namespace and keeps all that comes of it. One per shell.

    Args:
        shell: IPython's shell.
    """

    shell: Any
    _awaits: AwaitLoop = field(default_factory=AwaitLoop)
    # Cells of two subshells may run code at the same time, but there is one standard output.
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    _kept: KeptNames = field(default_factory=KeptNames)

    def run(self, code: str, turn: object = None) -> CodeOutput:
        """Run a cell's worth of code, magics included.

        Args:
            code: What to run.
            turn: Which turn it belongs to, for undoing what it does to names.
        """
        with self._one_at_a_time:
            before = moment(self.names())
            try:
                output = run_captured(self.shell, code, self._awaits)
            finally:
                # Also after an interrupt that came too late for IPython to take it.
                found, after = changes(before, self.names())
                self._kept.note(turn, before, after, found)
            return replace(output, changes=found)

    def names(self) -> Mapping[str, object]:
        """The person's variables."""
        return visible_names(self.shell.user_ns, getattr(self.shell, "user_ns_hidden", {}))

    def undo_names(self) -> Undone | None:
        """Give names of the newest turn back what they stood for; None: there is none."""
        return self._kept.undo(self.shell.user_ns)

    def forget_names(self) -> None:
        """Let go of the objects that are kept for that."""
        self._kept.forget()

    def close(self) -> None:
        """End what awaited code left running."""
        self._awaits.close()
        self._kept.forget()


@dataclass(frozen=True, slots=True)
class LiveKernel:
    """The user's IPython, as `ports.Kernel`.

    Args:
        interpreter: Runs code.
        main: Runs a function on the main thread.
        turn: Tells the runs of one turn from those of others.
    """

    interpreter: Interpreter
    main: OnMain
    turn: object = field(default_factory=object)

    async def run_code(self, code: str, seconds: float = 0) -> CodeOutput:
        """Run code in the user's namespace, on the main thread, through IPython."""
        if not seconds:
            return await self.main(lambda: self.interpreter.run(code, self.turn))
        limit = TimeLimit(seconds)
        output = await self.main(lambda: self.interpreter.run(code, self.turn), limit)
        return replace(output, out_of_time=limit.passed)

    def names(self) -> Mapping[str, object]:
        """The person's variables."""
        return self.interpreter.names()

    async def on_main(self, job: Callable[[], T]) -> T:
        """Run a function on the main thread and give its result."""
        return await self.main(job)


def run_captured(shell: Any, code: str, awaits: AwaitLoop) -> CodeOutput:
    """Run a cell's worth of code and keep all that comes of it.

    Args:
        shell: IPython's shell.
        code: Anything that a cell may hold, magics included.
        awaits: The loop for awaited code.
    """
    output = capture.Capture(shell)
    try:
        output.start()
        if asyncio._get_running_loop() is not None:
            # Without a running loop, as in a terminal, IPython awaits on the user's own.
            output.replace(shell, "loop_runner", awaits)
        result = shell.run_cell(code, store_history=False)
    finally:
        try:
            output.stop()
        except KeyboardInterrupt:
            output.stop()
            raise
    error = result.error_before_exec or result.error_in_exec
    return CodeOutput(
        ok=error is None and result.success,
        stdout=output.printed.text,
        value="\n".join(output.values),
        error="" if error is None else short_traceback(error),
        displays=tuple(Display("bundle", data=data) for data in output.displays),
    )


def short_traceback(error: BaseException) -> str:
    """The error as a person would want it: from the cell's own code on, without the machinery."""
    if isinstance(error, SystemExit):
        return f"SystemExit: {error.code}. The code asked to exit; the kernel goes on running."
    if isinstance(error, AgentMagicsError) or type(error).__name__ == "UsageError":
        return f"{type(error).__name__}: {error}"
    lines = []
    for number, link in enumerate(_chain(error)):
        if number:
            lines.append("\nThen this error came:\n")
        shown = traceback.TracebackException(
            type(link), link, _own_frames(link.__traceback__), lookup_lines=True, compact=True
        )
        shown.__cause__ = shown.__context__ = None
        lines += [_cell_names(line) for line in _limited(shown)]
    return "".join(lines).rstrip("\n")


def _chain(error: BaseException) -> list[BaseException]:
    """The error and those it came from, oldest first."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain[::-1]


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame of the cell on; all of it where there is none."""
    start, link = trace, trace
    while link is not None:
        code = link.tb_frame.f_code
        # Everything down to here is IPython's way to the cell.
        if code.co_name in ("run_code", "ast_parse") and "IPython" in code.co_filename:
            start = link.tb_next
        link = link.tb_next
    return start


def _limited(shown: traceback.TracebackException) -> Iterator[str]:
    stack = [frame for frame in shown.stack if frame.filename not in _OWN_FILES]
    shown.stack = traceback.StackSummary.from_list(stack)
    if len(stack) > FRAMES:
        half = FRAMES // 2
        left_out = len(stack) - FRAMES
        yield "Traceback (most recent call last):\n"
        yield from traceback.StackSummary.from_list(stack[:half]).format()
        yield f"  [{left_out} frames left out]\n"
        yield from traceback.StackSummary.from_list(stack[-half:]).format()
        yield from shown.format_exception_only()
    else:
        yield from shown.format(chain=False)


def _cell_names(line: str) -> str:
    """IPython's made-up file names say nothing to a reader."""
    if not line.lstrip().startswith('File "'):
        return line
    before, _, rest = line.partition('File "')
    name, quote, after = rest.partition('"')
    if name.startswith("<ipython-input-") or "ipykernel_" in name:
        return f"{before}Cell{after.replace(', in <module>', '', 1)}" if quote else line
    return line


@contextlib.contextmanager
def _loop_set_aside() -> Iterator[None]:
    """Let this thread run a loop although one is running, and put that one back afterwards.

    asyncio notes per thread which loop runs and which of its tasks; both notes are set aside, or
    it refuses a second loop (and, from Python 3.12 on, a task inside a task).
    """
    running = asyncio._get_running_loop()
    if running is None:
        yield
        return
    swap = getattr(asyncio.tasks, "_swap_current_task", None)
    task = swap(running, None) if swap else None
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(running)
        if swap:
            swap(running, task)


def _ended(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left on a loop, let it end, and close the loop."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
