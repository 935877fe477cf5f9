"""One `%%agent` cell: from its options and its body to a turn on the stage."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_magics.calls import Limits
from agent_magics.catalogue import catalogue, with_skill_messages
from agent_magics.context import system_prompt
from agent_magics.frontends.stage import StageSettings
from agent_magics.loop import Turn
from agent_magics.magics.activation import Active, visible_tools
from agent_magics.magics.approving import BeforehandApprover
from agent_magics.magics.preview import preview_view
from agent_magics.magics.recording import recorded
from agent_magics.magics.selection import selectable, skill_tool
from agent_magics.magics.services import ModelChoice, Services
from agent_magics.magics.views import View
from agent_magics.messages import Conversation
from agent_magics.policy import Policy
from agent_magics.ports import Kernel, Model
from agent_magics.session import Session
from agent_magics.tool import Tool

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a model would be sent, but for the prompt."""

    system: str
    conversation: Conversation
    tools: tuple[Tool, ...]


def prepared(cell: Cell, services: Services, kernel: Kernel | None = None) -> Prepared:
    """The system prompt, the conversation and the tools of a cell; the one builder of all three."""
    skills = cell.active.skills
    in_system, in_messages = ((), skills) if cell.placement == "message" else (skills, ())
    offered = selectable(services, cell.active) if cell.selection != "user" else ()
    control = skill_tool(offered, lambda: cell.session.conversation)
    listing, _ = catalogue(offered)
    return Prepared(
        system_prompt(services.project(), in_system, listing),
        with_skill_messages(cell.session.conversation, in_messages),
        visible_tools(
            services.builtins(kernel) if kernel is not None else services.builtins(),
            cell.active,
            services.configuration(),
            cell.policy,
            () if control is None else (control,),
        ),
    )


def run_cell(
    cell: Cell, services: Services, choice: ModelChoice, settings: StageSettings
) -> TurnResult:
    """Run the turn while the cell waits; what it raises ends the cell with one line."""
    cell.session.policy = cell.policy

    async def main(performance: Performance) -> TurnResult:
        model = choice.make()
        ready = prepared(cell, services, performance.kernel)
        cell.session.conversation = ready.conversation
        turn = Turn(
            model=model,
            system=ready.system,
            tools=ready.tools,
            skills=tuple(item.skill for item in cell.active.skills),
            policy=cell.policy,
            approver=BeforehandApprover(performance.approver, services.preapproved),
            check=services.check,
            clock=time.monotonic,
            limits=cell.limits,
            window=cell.window,
        )
        async with _closing(model):
            with recorded(cell.session, services, performance.renderer, save=cell.save) as seen:
                return await cell.session.ask(
                    cell.prompt, turn, performance.renderer, cell.active.skills, seen
                )

    return services.stage.run(main, quiet=cell.quiet, settings=settings)


def compact_session(
    session: Session, services: Services, choice: ModelChoice, settings: StageSettings
) -> tuple[int, int]:
    """Shorten a conversation while the line waits; gives its size before and after in tokens."""

    async def main(performance: Performance) -> tuple[int, int]:
        model = choice.make()
        system = system_prompt(services.project(), session.active)
        async with _closing(model):
            return await session.compact(model, system, performance.renderer)

    return services.stage.run(main, settings=settings)


@asynccontextmanager
async def _closing(model: Model) -> AsyncIterator[None]:
    """A provider's connections belong to this cell's event loop, which ends with it."""
    try:
        yield
    finally:
        close = getattr(model, "aclose", None)
        if close is not None:
            await close()


def preview_cell(cell: Cell, services: Services) -> View:
    """Exactly what `run_cell` would send first; nothing is sent."""
    ready = prepared(cell, services)
    return preview_view(ready.system, ready.conversation, cell.prompt, ready.tools)


def news_of(active: Active, services: Services) -> Iterable[str]:
    """What has become of the active skills on the disk since they were loaded."""
    if not active.skills:
        return
    fresh = {entry.skill.root: entry.skill for entry in services.library.entries()}
    for item in active.skills:
        name = item.skill.name
        skill = fresh.get(item.skill.root)
        if skill is None:
            yield f"Skill {name} is gone from the disk; it stays active as it was."
        elif skill.digest != item.skill.digest:
            yield f"Skill {name} changed on disk; %use {name} takes the change."
