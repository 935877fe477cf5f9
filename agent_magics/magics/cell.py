"""One `%%agent` cell: from its options and its body to a turn on the stage."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_magics.calls import Limits
from agent_magics.catalogue import catalogue, with_skill_messages
from agent_magics.context import BASE, system_prompt
from agent_magics.errors import ConfigError
from agent_magics.events import Event, Notice, PolicyChanged
from agent_magics.frontends.stage import StageSettings
from agent_magics.hooks.hook import Hook
from agent_magics.hooks.running import OnThread
from agent_magics.loop import Turn
from agent_magics.magics.activation import Active, visible_tools
from agent_magics.magics.approving import BeforehandApprover
from agent_magics.magics.background import in_background
from agent_magics.magics.costs import priced, unbounded
from agent_magics.magics.hooking import added, told_at_the_end, turn_hooks
from agent_magics.magics.judging import JudgingApprover
from agent_magics.magics.preview import preview_view
from agent_magics.magics.recording import recorded
from agent_magics.magics.selection import selectable, skill_tool
from agent_magics.magics.services import ModelChoice, Services
from agent_magics.magics.small import BASE as SMALL
from agent_magics.magics.small import THRESHOLD, Small, pushed, slim, slimmed
from agent_magics.magics.taping import checked
from agent_magics.magics.tracing import traced
from agent_magics.magics.views import View
from agent_magics.messages import Attachment, Conversation, Usage
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.ports import Approver, Kernel, Model, Renderer
from agent_magics.session import Session
from agent_magics.tools.delegating import Delegation
from agent_magics.tools.finding import NAME as FINDER
from agent_magics.tools.finding import Offer, offer
from agent_magics.tracing.setting import Tracing

if TYPE_CHECKING:
    from agent_magics.events import Question
    from agent_magics.frontends.stage import Performance
    from agent_magics.session import TurnResult


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell asks, and under which conditions.

    Args:
        prompt: The cell's body, byte for byte.
        session: The conversation it belongs to.
        active: The skills of this cell.
        policy: The rules in force.
        limits: Of this turn.
        placement: Where the text of active skills stands: `system` or `message`.
        selection: Who chooses skills: `user`, `model` or `both`.
        window: The model's context in tokens; 0: not known.
        quiet: Show the answer and the questions only.
        save: Whether the turn is saved with its session.
        threshold: How many tools one request shows; the others are found with `find_tools`.
        origin: For the model: where the prompt comes from, if not from a cell.
        attachments: What the notebook puts beside the prompt.
        active_displays: Whether tools of skills show what they like.
        hooks: Functions that the person registered.
        tracing: Whether the turn is traced, and with which texts.
        small: The profile for small models, where it is on.
    """

    prompt: str
    session: Session
    active: Active
    policy: Policy
    limits: Limits
    placement: str = "system"
    selection: str = "user"
    window: int = 0
    quiet: bool = False
    save: bool = True
    threshold: int = 0
    origin: str = ""
    attachments: tuple[Attachment, ...] = ()
    active_displays: bool = False
    hooks: tuple[Hook, ...] = ()
    tracing: Tracing = field(default_factory=Tracing)
    small: Small | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a model would be sent, but for the prompt."""

    system: str
    conversation: Conversation
    offer: Offer


def prepared(
    cell: Cell,
    services: Services,
    kernel: Kernel | None = None,
    delegation: Delegation | None = None,
) -> Prepared:
    """The system prompt, the conversation and the tools of a cell; the one builder of all three."""
    skills = cell.active.skills
    in_system, in_messages = ((), skills) if cell.placement == "message" else (skills, ())
    offered = selectable(services, cell.active) if cell.selection != "user" else ()
    control = skill_tool(offered, lambda: cell.session.conversation)
    listing, _ = catalogue(offered)
    config = services.configuration()
    builtins = services.builtins(kernel, delegation)
    turn = delegation or Delegation()
    foreign = services.mcp.tools(lambda: turn.turn.approver if turn.turn else None)
    tools = visible_tools(
        (*builtins, *foreign),
        cell.active,
        config,
        cell.policy,
        services.workspace.redactor,
        () if control is None else (control,),
        active_displays=cell.active_displays,
    )
    tools = tuple(services.undo.noting(tool) for tool in tools)
    searchless = FINDER in config.disabled_tools or cell.policy.denies_tool(FINDER)
    own = [tool for tool in builtins if not tool.origin]
    always = {tool.name for tool in (*own, *([control] if control else []))}
    threshold = cell.threshold
    if cell.small is not None:
        names = [tool.name for tool in own]
        said = (cell.prompt, cell.session.conversation, services.workspace)
        tools, threshold = slim(tools, names, *said), min(threshold or THRESHOLD, THRESHOLD)
    return Prepared(
        # Instructions come from files, and files can hold secrets.
        services.workspace.redact(
            system_prompt(
                services.project(),
                in_system,
                listing,
                services.notes(),
                planning=cell.policy.mode == "plan",
                origin=cell.origin,
                base=BASE if cell.small is None else SMALL,
            )
        ),
        with_skill_messages(cell.session.conversation, in_messages),
        offer(tools, always, cell.session.found_tools, 0 if searchless else threshold),
    )


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
    await services.mcp.ready(
        lambda line, wrong: renderer.show(Notice(line, "warning" if wrong else "info"))
    )
    model = choice.make()
    active = tuple((item.skill.name, item.skill.digest) for item in cell.active.skills)
    taped = services.tapes.turn(
        cell.session,
        model,
        cell.prompt,
        active,
        lambda text: renderer.show(Notice(text, "warning")),
    )
    reviewer = judge.make() if judge is not None else None
    limits = priced(cell.limits, choice)
    if why := unbounded(limits, choice):
        renderer.show(Notice(why, "warning"))
    keep = _keeper(services, renderer)
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
        if cell.small.warning:
            renderer.show(Notice(cell.small.warning, "warning"))

    def granted(rule: Rule) -> None:
        cell.session.policy = cell.session.policy.with_rule(rule)
        keep(PolicyChanged(rule))

    delegation.turn, delegation.granted = turn, granted
    ending = told_at_the_end(hooks, cell.session, renderer)
    async with _closing(model), _closing(reviewer), ending:
        with (
            services.undo.turn(cell.prompt, cell.session.name) as touched,
            recorded(cell.session, services, renderer, save=cell.save) as seen,
            traced(cell.tracing, cell.session, services, choice, renderer) as watched,
        ):
            delegation.watch = watched.inner
            try:
                result = await cell.session.ask(
                    cell.prompt,
                    turn,
                    renderer,
                    cell.active.skills,
                    [keep, *seen, *taped.observers, *watched.observers],
                )
            finally:
                files = tuple(services.workspace.shown(path) for path in touched)
                if cell.session.last is not None:
                    cell.session.last = replace(cell.session.last, changed_files=files)
            return checked(replace(result, changed_files=files))


async def sent_beside(cell: Cell, services: Services, ready: Prepared) -> tuple[Attachment, ...]:
    """All that goes beside the prompt, without secrets."""
    attachments = cell.attachments
    if cell.small is not None:
        skills = tuple(item.skill for item in cell.active.skills)
        around = (services.workspace, ready.offer.tools, skills, cell.policy, ready.conversation)
        attachments = (*await pushed(*around), *attachments)
    return discreet(attachments, services)


def discreet(attachments: Sequence[Attachment], services: Services) -> tuple[Attachment, ...]:
    """What is put beside a prompt, without secrets; the one way that it goes to a model."""
    redact = services.workspace.redactor()
    return tuple(Attachment(redact(a.title), redact(a.text)) for a in attachments)


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
