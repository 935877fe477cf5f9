"""A front end that a plug-in brings: its renderer and its approver, held to their contracts.

A renderer that raises shows nothing more and breaks no turn; an approver that raises, or says
something that is no answer, is a no.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_magics.events import Event, Question
from agent_magics.frontends.kernel import OnMain
from agent_magics.frontends.routes import Route
from agent_magics.plain import visible
from agent_magics.policy import Answer
from agent_magics.ports import Approver, Renderer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plug-in's front end is told of the cell that it shows.

    Args:
        shell: IPython's shell.
        quiet: Show the answer and the questions only.
        route: Who could answer by the ways that the package knows itself.
        on_main: Runs a function on the thread of the cell.
        timeout: Seconds until an unanswered question counts as refused; None: never.
    """

    shell: Any
    quiet: bool
    route: Route
    on_main: OnMain
    timeout: float | None


@dataclass(slots=True)
class PluggedRenderer:
    """Shows events with a stranger's renderer."""

    renderer: Renderer
    broken: bool = False

    def show(self, event: Event) -> None:
        """Show one event; after the first failure, none."""
        if self.broken:
            return
        try:
            self.renderer.show(event)
        except Exception as error:  # noqa: BLE001  # a broken display must not break a turn
            self.broken = True
            log.warning("the front end's renderer failed: %s: %s", type(error).__name__, error)

    def close(self) -> None:
        """Show the last state, if it wants to."""
        _called(self.renderer, "close")


@dataclass(slots=True)
class PluggedApprover:
    """Asks with a stranger's approver."""

    approver: Approver
    name: str

    async def ask(self, question: Question) -> Answer:
        """Its answer; a no where it gives none."""
        try:
            answer: object = await self.approver.ask(question)
        except Exception as error:  # noqa: BLE001  # nobody could answer, so it is a no
            text = " ".join(visible(str(error)).split())[:300]
            return Answer(False, "nobody", f"{self.name} failed: {type(error).__name__}: {text}")
        if not isinstance(answer, Answer):
            return Answer(False, "nobody", f"{self.name} gave no answer")
        return answer

    def abandon(self) -> None:
        """Close a question that is still open, if it can."""
        _called(self.approver, "abandon")


def plugged_front_end(
    factory: object, name: str, around: Surroundings
) -> tuple[PluggedRenderer, PluggedApprover]:
    """The renderer and the approver that a plug-in's factory makes for one run.

    Args:
        factory: Called with the surroundings; gives both.
        name: Who it is, for refusals.
        around: What it is told.

    Raises:
        Exception: Whatever the factory raises; TypeError where it gives something else.
    """
    make: Callable[[Surroundings], Any] = factory  # type: ignore[assignment]  # else it raises
    renderer, approver = make(around)
    if not callable(getattr(renderer, "show", None)) or not callable(
        getattr(approver, "ask", None)
    ):
        raise TypeError("it gives no renderer and approver")
    return PluggedRenderer(renderer), PluggedApprover(approver, name)


def _called(part: object, name: str) -> None:
    method = getattr(part, name, None)
    if method is None:
        return
    try:
        method()
    except Exception as error:  # noqa: BLE001  # the turn is over, and stays what it was
        log.warning("%s of the front end failed: %s: %s", name, type(error).__name__, error)
