"""One prompt of a program: from its options to a turn on the services of the composition root."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agent_magics.frontends.runner import Runner
from agent_magics.magics.activation import Active, activated, swap
from agent_magics.magics.cell import cell_turn
from agent_magics.magics.preparing import Cell
from agent_magics.magics.services import ModelChoice, ModelSettings, Services
from agent_magics.magics.small import small_for
from agent_magics.magics.trusting import Gatekeeper
from agent_magics.policy import Policy
from agent_magics.ports import Renderer
from agent_magics.result import TurnResult
from agent_magics.scripting.answering import Answering, Elsewhere, Silent, Unattended, here, refusal
from agent_magics.scripting.given import sorted_out
from agent_magics.scripting.options import Options
from agent_magics.scripting.serving import started
from agent_magics.session import Session
from agent_magics.tool import Tool

ORIGIN = (
    "This request does not come from a cell but from a program, which reads your final answer. "
    "Nobody can answer questions meanwhile: do what can be done, and say what could not."
)


class Running(Protocol):
    """Takes note of turns that run, so that another thread can end them."""

    def enter(self, runner: Runner[Any]) -> None:
        """One begins."""

    def leave(self, runner: Runner[Any]) -> None:
        """It is over."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn that could begin: everything that can be wrong beforehand was looked at.

    Args:
        options: What was asked for.
        services: What it works with.
        choice: Who answers.
        active: The skills and the program's own tools.
        session: The conversation, empty so far.
    """

    options: Options
    services: Services
    choice: ModelChoice
    active: Active
    session: Session = field(default_factory=Session)

    def skill_digests(self) -> tuple[tuple[str, str], ...]:
        """(name, digest) of the active skills."""
        return tuple((item.skill.name, item.skill.digest) for item in self.active.skills)

    async def turn(
        self, prompt: str, renderer: Renderer | None, on_thread: Elsewhere
    ) -> TurnResult:
        """Run it.

        Args:
            prompt: Byte for byte.
            renderer: Shows it; None: nothing is shown.
            on_thread: Runs a function where the program waits.

        Raises:
            AgentMagicsError: No usable answer came, or a server that is needed is not there.
        """
        options, config = self.options, self.services.configuration()
        # One that ended since may start again; without it nothing is asked.
        await started(self.services.mcp, options.mcp)
        approver = (
            Unattended() if options.approve is None else Answering(options.approve, on_thread)
        )
        cell = Cell(
            prompt=prompt,
            session=self.session,
            active=self.active,
            policy=Policy((*config.rules, *options.rules), options.mode or config.mode),
            limits=options.limits,
            window=options.window,
            save=False,
            origin=ORIGIN,
            hooks=options.hooks,
            small=small_for(options.small, self.choice),
        )
        # In the event loop of a program, a function that blocks would keep all of it waiting.
        elsewhere = None if on_thread is here else on_thread
        return await cell_turn(
            cell, self.services, self.choice, None, renderer or Silent(), approver, None, elsewhere
        )

    def run(
        self, prompt: str, renderer: Renderer | None = None, running: Running | None = None
    ) -> TurnResult:
        """Run it on a thread and event loop of its own while this thread waits.

        Raises:
            AgentInterrupted: An interrupt, or somebody who knows it through `running`.
        """

        def main() -> Awaitable[TurnResult]:
            return self.turn(prompt, renderer, runner.on_main)

        runner: Runner[TurnResult] = Runner(main)
        if running is None:
            return runner.run()
        running.enter(runner)
        try:
            return runner.run()
        finally:
            running.leave(runner)


def prepared(
    options: Options,
    services: Services,
    session: Session,
    *,
    warn: Callable[[str], None] | None = None,
) -> Prepared:
    """Load the skills, sort out the tools, choose the model; nothing is sent.

    Args:
        options: What is asked for.
        services: Of this turn alone, since it remembers what was read.
        session: The empty conversation that the services know.
        warn: Takes what is off in the configuration files; default: a Python warning.

    Raises:
        AgentMagicsError: Something is off; the message says what.
    """
    for problem in services.configuration().problems:
        (warn or _warned)(f"Configuration: {problem}")
    active = _active(options, services)
    builtins = services.builtins()
    taken = {tool.name for tool in active.bundled}
    names, own = sorted_out(options.tools, builtins, taken, services.workspace.root)

    def chosen(*around: Any) -> tuple[Tool, ...]:
        return tuple(tool for tool in services.builtins(*around) if tool.name in names)

    active = Active(active.skills, (*active.bundled, *own))
    swap(session, active)
    settings = ModelSettings(
        options.model, options.base_url, "the program's model=", endpoint=options.endpoint
    )
    choice = services.choose(settings)
    return Prepared(options, replace(services, builtins=chosen), choice, active, session)


def _active(options: Options, services: Services) -> Active:
    gate = Gatekeeper(services.trust, "ask", refusal)
    active = Active()
    for name in options.skills:
        active = activated(name, services=services, before=active, gate=gate, add=True)
    return active


def _warned(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)
