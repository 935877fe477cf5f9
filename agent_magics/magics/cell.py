"""One `%%agent` cell: from its options and its body to a turn on the stage."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_magics.context import system_prompt
from agent_magics.errors import ConfigError
from agent_magics.events import Event, Notice, PolicyChanged
from agent_magics.frontends.stage import StageSettings
from agent_magics.hooks.running import OnThread
from agent_magics.magics.approving import BeforehandApprover
from agent_magics.magics.background import in_background
from agent_magics.magics.costs import priced, unbounded
from agent_magics.magics.hooking import added, told_at_the_end, turn_hooks
from agent_magics.magics.judging import JudgingApprover
from agent_magics.magics.preparing import Cell, prepared, sent_beside
from agent_magics.magics.preview import preview_view
from agent_magics.magics.recording import recorded
from agent_magics.magics.services import ModelChoice, Services
from agent_magics.magics.small import slimmed
from agent_magics.magics.taping import checked
from agent_magics.magics.tracing import traced
from agent_magics.magics.views import View
from agent_magics.messages import Usage
from agent_magics.policy import Answer, Rule
from agent_magics.ports import Approver, Kernel, Model, Renderer
from agent_magics.records.recorder import Observer
from agent_magics.session import Session
from agent_magics.tools.delegating import Delegation
from agent_magics.turn import Turn

if TYPE_CHECKING:
    from agent_magics.events import Question
    from agent_magics.frontends.stage import Performance
    from agent_magics.result import TurnResult


def run_cell(
    cell: Cell,
    services: Services,
    choice: ModelChoice,
    settings: StageSettings,
    judge: ModelChoice | None = None,
) -> TurnResult:
    """Run the turn while the cell waits; what it raises ends the cell with one line.

    Args:
        cell: What is asked.
        services: What it works with.
        choice: Who answers.
        settings: How a person is asked.
        judge: The model that reviews calls before the person is asked; None: none does.
    """

    async def main(performance: Performance) -> TurnResult:
        return await cell_turn(
            cell,
            services,
            choice,
            judge,
            performance.renderer,
            performance.approver,
            performance.kernel,
        )

    choice.prepare()
    if judge is not None:
        judge.prepare()
    return services.stage.run(main, quiet=cell.quiet, settings=settings)


async def cell_turn(
    cell: Cell,
    services: Services,
    choice: ModelChoice,
    judge: ModelChoice | None,
    renderer: Renderer,
    approver: Approver,
    kernel: Kernel | None,
    on_thread: OnThread | None = None,
) -> TurnResult:
    """The turn itself, wherever it is shown.

    Args:
        cell: What is asked.
        services: What it works with; a script's has no stage.
        choice: Who answers.
        judge: As for `run_cell`.
        renderer: Shows what happens.
        approver: Is asked.
        kernel: The user's live IPython; None: there is none.
        on_thread: Runs the person's functions where the program waits; None: on main, or elsewhere.
    """
    cell.session.policy = cell.policy

    def tell(text: str, warning: bool = True) -> None:
        renderer.show(Notice(text, "warning" if warning else "info"))

    await services.mcp.ready(tell)
    model, reviewer = choice.make(), judge.make() if judge is not None else None
    digests = tuple((item.skill.name, item.skill.digest) for item in cell.active.skills)
    taped = services.tapes.turn(cell.session, model, cell.prompt, digests, tell)
    limits = priced(cell.limits, choice)
    for problem in (unbounded(limits, choice), cell.small.warning if cell.small else ""):
        if problem:
            tell(problem)
    delegation = Delegation(policy=lambda: cell.session.policy)
    ready = prepared(cell, services, kernel, delegation)
    on_main = kernel.on_main if kernel is not None else on_thread
    hooks = turn_hooks(cell.hooks, services, cell.session, model.name, on_main)
    skills = tuple(item.skill for item in cell.active.skills)
    first = not cell.session.conversation
    notes = await added(hooks, cell.prompt, skills, renderer, first=first)
    cell.session.conversation = ready.conversation
    turn = Turn(
        model=taped.model,
        system=ready.system,
        tools=taped.tools(ready.offer.tools),
        skills=skills,
        policy=cell.policy,
        approver=BeforehandApprover(
            _reviewed(approver, cell.session, reviewer), services.preapproved
        ),
        check=services.check,
        clock=time.monotonic,
        limits=limits,
        window=cell.window,
        offered=ready.offer.offered,
        attachments=(*await sent_beside(cell, services, ready), *notes),
        epilogue=taped.epilogue,
        hooks=hooks,
    )
    if cell.small is not None:
        turn = slimmed(turn, cell.small)
    delegation.turn = turn
    ending = told_at_the_end(hooks, cell.session, renderer)
    async with _closing(model), _closing(reviewer), ending:
        result = await _asked(cell, services, choice, renderer, delegation, taped.observers)
        return checked(result)


async def _asked(
    cell: Cell,
    services: Services,
    choice: ModelChoice,
    renderer: Renderer,
    delegation: Delegation,
    observers: Sequence[Observer],
) -> TurnResult:
    """Run a turn that is ready, keep what it changes, and save it while it happens."""
    turn, session = delegation.turn, cell.session
    assert turn is not None
    keep = _keeper(services, renderer)

    def granted(rule: Rule) -> None:
        session.policy = session.policy.with_rule(rule)
        keep(PolicyChanged(rule))

    delegation.granted = granted
    with (
        services.undo.turn(cell.prompt, session.name) as touched,
        recorded(session, services, renderer, save=cell.save) as seen,
        traced(cell.tracing, session, services, choice, renderer) as watched,
    ):
        delegation.watch = watched.inner
        watching = [keep, *seen, *observers, *watched.observers]
        try:
            result = await session.ask(cell.prompt, turn, renderer, cell.active.skills, watching)
        finally:
            files = tuple(services.workspace.shown(path) for path in touched)
            if session.last is not None:
                session.last = replace(session.last, changed_files=files)
        return replace(result, changed_files=files)


def _reviewed(person: Approver, session: Session, reviewer: Model | None) -> Approver:
    """The person, behind the reviewer if there is one."""
    if reviewer is None:
        return person

    def used(usage: Usage) -> None:
        session.usage += usage

    return JudgingApprover(person, reviewer, lambda: session.conversation, used)


def _keeper(services: Services, renderer: Renderer) -> Callable[[Event], None]:
    """Keeps the rules that a person made to last while the turn runs."""

    def keep(event: Event) -> None:
        if isinstance(event, PolicyChanged) and event.rule.source == "user":
            try:
                services.keep(event.rule)
            except ConfigError as error:
                renderer.show(Notice(f"This rule holds in this cell only: {error}", "warning"))

    return keep


def compact_session(
    session: Session, services: Services, choice: ModelChoice, settings: StageSettings
) -> tuple[int, int]:
    """Shorten a conversation while the line waits; gives its size before and after in tokens."""

    async def main(performance: Performance) -> tuple[int, int]:
        model = choice.make()
        system = system_prompt(services.project(), session.active)
        taped = services.tapes.turn(session, model)
        async with _closing(model):
            return await session.compact(taped.model, system, performance.renderer)

    return services.stage.run(main, settings=settings)


def put_question(question: Question, services: Services, settings: StageSettings) -> Answer:
    """A person's answer to a question that belongs to no turn, with the card of a call."""

    async def main(performance: Performance) -> Answer:
        approver = BeforehandApprover(performance.approver, services.preapproved)
        return await approver.ask(question)

    return services.stage.run(main, settings=settings)


@asynccontextmanager
async def _closing(model: Model | None) -> AsyncIterator[None]:
    """A provider's connections belong to this cell's event loop, which ends with it."""
    try:
        yield
    finally:
        close = getattr(model, "aclose", None)
        if close is not None:
            await close()


def preview_cell(cell: Cell, services: Services) -> View:
    """Exactly what `run_cell` would send first; nothing is sent."""
    lines: list[str] = []
    in_background(lambda: services.mcp.ready(lambda line, _wrong: lines.append(line)))
    for line in lines:
        print(line)
    ready = prepared(cell, services)
    return preview_view(
        ready.system,
        ready.conversation,
        cell.prompt,
        ready.offer.offered(),
        in_background(lambda: sent_beside(cell, services, ready)),
        cell.small.told() if cell.small is not None else "",
    )
