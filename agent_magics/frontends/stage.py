"""Everything one IPython shell needs to run agent cells live: made once, when the extension loads.

Puts the parts of this package together for the front end that is there. Knows no agent: it runs
any coroutine that is given a `Performance`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agent_magics.errors import AgentMagicsError
from agent_magics.findings import Findings
from agent_magics.frontends.cell_approver import CellApprover
from agent_magics.frontends.findings_browser import FindingsBrowser
from agent_magics.frontends.kernel import Interpreter, LiveKernel, OnMain
from agent_magics.frontends.notebook import NotebookRenderer
from agent_magics.frontends.plugged import Surroundings
from agent_magics.frontends.publisher import CellOutput
from agent_magics.frontends.routes import (
    WORKING,
    Approvals,
    Route,
    StageSettings,
    kernel_route,
    terminal_route,
)
from agent_magics.frontends.runner import AgentInterrupted, Runner
from agent_magics.frontends.tap import CommTap, TapProblem, released, tapped
from agent_magics.frontends.terminal import TerminalApprover, TerminalRenderer
from agent_magics.namespace.keeping import Undone
from agent_magics.ports import Approver, Kernel, Renderer

__all__ = [
    "AgentInterrupted",
    "Approvals",
    "Performance",
    "Route",
    "Stage",
    "StageSettings",
]

T = TypeVar("T")

WIND_DOWN = 1.0
"""Seconds that a new cell waits for one that was left behind by two interrupts."""


class LiveRenderer(Renderer, Protocol):
    """A renderer of one cell."""

    def close(self) -> None:
        """Show the last state; nothing is shown afterwards."""


class LiveApprover(Approver, Protocol):
    """An approver of one cell."""

    def abandon(self) -> None:
        """Close a question that is still open."""


@dataclass(frozen=True, slots=True)
class Performance:
    """What one run may use. All of it is for the agent's thread.

    Args:
        renderer: Shows events in the cell.
        approver: Asks the person.
        kernel: The user's live IPython.
        on_main: Runs a function on the thread of the cell.
    """

    renderer: Renderer
    approver: Approver
    kernel: Kernel
    on_main: OnMain


class Stage:
    """Runs coroutines in cells of one shell.

    Args:
        shell: IPython's shell; None: plain Python, which has no cells to run in.
        settings: For runs that bring none of their own.
        plugged: Gives the front end of a plug-in by its name, or raises.
    """

    def __init__(
        self,
        shell: Any,
        settings: StageSettings | None = None,
        plugged: Callable[[str, Surroundings], tuple[LiveRenderer, LiveApprover]] | None = None,
    ) -> None:
        self._shell = shell
        self._settings = settings or StageSettings()
        self._plugged = plugged
        self._tap: CommTap | None = None
        self._tap_problem = ""
        self._silent_clients: set[str] = set()
        self._interpreter = Interpreter(shell)
        self._runners: list[Runner[Any]] = []
        self._lock = threading.Lock()

    @property
    def tap_state(self) -> str:
        """`working`, or why clicks cannot be heard while a cell runs."""
        if self._kernel is None:
            return "no kernel: a terminal needs none"
        if self._tap is not None:
            return WORKING if self._tap.in_place else "another extension reads the messages"
        return self._tap_problem or "not installed"

    @property
    def _kernel(self) -> Any:
        return getattr(self._shell, "kernel", None)

    def install(self) -> None:
        """Put the tap in place, once per kernel; its state is in `tap_state`.

        A kernel that is still starting (the extension is loaded by a profile) gets it with its
        first agent cell.
        """
        if self._kernel is None or (self._tap is not None and self._tap.in_place):
            return
        if self._tap is not None:
            released(self._tap)
            self._tap = None
        try:
            self._tap = tapped(self._kernel)
        except TapProblem as problem:
            self._tap_problem = str(problem)

    def close(self) -> None:
        """Give back what `install` took."""
        if self._tap is not None:
            released(self._tap)
            self._tap = None
        self._interpreter.close()

    def route(self, settings: StageSettings | None = None) -> Route:
        """Who can answer in the cell that runs now."""
        settings = settings or self._settings
        if self._kernel is None:
            stdin = sys.stdin
            tty = stdin is not None and not stdin.closed and stdin.isatty()
            return terminal_route(settings, tty=tty)
        self.install()
        return kernel_route(
            settings,
            self._kernel.get_parent() or {},
            tap_state=self.tap_state,
            silent_clients=self._silent_clients,
            # Colab names no cell, but is a notebook all the same.
            updates_anyway="google.colab" in sys.modules,
        )

    def names(self) -> Mapping[str, object]:
        """The person's variables; for the thread of a cell."""
        return self._interpreter.names()

    def undo_names(self) -> Undone | None:
        """Give names that the newest turn's code took back what they stood for; None: no turn."""
        return self._interpreter.undo_names()

    def forget_names(self) -> None:
        """Let go of the objects that are kept for undoing."""
        self._interpreter.forget_names()

    def browse(self, findings: Findings, settings: StageSettings | None = None) -> bool:
        """Show findings with controls in the cell that runs now; False where it has none."""
        if self._kernel is None or self.route(settings).kind != "widgets":
            return False
        FindingsBrowser(findings, CellOutput(self._kernel)).show()
        return True

    def run(
        self,
        main: Callable[[Performance], Awaitable[T]],
        *,
        quiet: bool = False,
        settings: StageSettings | None = None,
    ) -> T:
        """Run a coroutine on a thread and event loop of its own while this cell waits.

        Args:
            main: Makes the coroutine; called inside the loop.
            quiet: Show the answer only.
            settings: How questions are put in this run.

        Returns:
            What the coroutine returned; what it raises is raised here.

        Raises:
            AgentInterrupted: The person interrupted the cell.
            AgentMagicsError: This is code that a running agent cell runs.
        """
        settings = settings or self._settings
        route = self.route(settings)
        poll = self._tap.poll if self._tap is not None else None
        runner: Runner[T] = Runner(lambda: main(performance), poll)
        renderer, approver = self._front_end(route, settings, quiet, runner.on_main)
        kernel = LiveKernel(self._interpreter, runner.on_main)
        performance = Performance(renderer, approver, kernel, runner.on_main)
        self._enter(runner)
        try:
            return runner.run()
        finally:
            approver.abandon()
            renderer.close()

    def _enter(self, runner: Runner[Any]) -> None:
        """Take note of a run, if it may start.

        Cells of different subshells may overlap. Code that a run sent to its own cell may not
        start another there: that cell is waiting for the first.
        """
        for left in self._left_behind():
            left.finished.wait(WIND_DOWN)
        with self._lock:
            self._runners = [r for r in self._runners if not r.finished.is_set()]
            for other in self._runners:
                if not other.serving:
                    raise AgentMagicsError(
                        "a tool of the interrupted agent cell is still winding down; run this "
                        "again in a moment, or restart the kernel"
                    )
                if other.occupies(threading.get_ident()):
                    raise AgentMagicsError(
                        "an agent cell is already running, and code that it runs cannot start "
                        "another"
                    )
            self._runners.append(runner)

    def _left_behind(self) -> list[Runner[Any]]:
        return [r for r in self._runners if not r.serving and not r.finished.is_set()]

    def _front_end(
        self, route: Route, settings: StageSettings, quiet: bool, on_main: OnMain
    ) -> tuple[LiveRenderer, LiveApprover]:
        # What was printed before goes first.
        sys.stdout.flush()
        sys.stderr.flush()
        if settings.frontend and self._plugged is not None:
            around = Surroundings(self._shell, quiet, route, on_main, settings.approval_timeout)
            try:
                return self._plugged(settings.frontend, around)
            except AgentMagicsError as problem:
                # Nothing is lost by it: the questions are asked the usual way.
                print(f"{problem} Shown and asked the usual way.")  # noqa: T201  # nothing else is up
        if self._kernel is None:
            colour = sys.stdout.isatty() and str(self._shell.colors).lower() != "nocolor"
            renderer = TerminalRenderer(sys.stdout, quiet=quiet, colour=colour)
            return renderer, TerminalApprover(route, settings, on_main, renderer)
        output = CellOutput(self._kernel)
        return (
            NotebookRenderer(output, quiet=quiet, updates=route.updates, stable=not settings.times),
            CellApprover(output, route, settings, on_main, self._tap, self._silent_clients),
        )
