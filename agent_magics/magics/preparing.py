"""What one cell asks, and all that is sent for it: prompts, tools, conversation, attachments.

Sends nothing: `cell` does, and a preview shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_magics.calls import Limits
from agent_magics.catalogue import catalogue, with_skill_messages
from agent_magics.context import BASE, SMALL, system_prompt
from agent_magics.hooks.hook import Hook
from agent_magics.magics.activation import Active, visible_tools
from agent_magics.magics.selection import selectable, skill_tool
from agent_magics.magics.services import Services
from agent_magics.magics.small import THRESHOLD, Small, Surroundings, pushed, slim
from agent_magics.messages import Attachment, Conversation
from agent_magics.policy import Policy
from agent_magics.ports import Kernel
from agent_magics.session import Session
from agent_magics.tools.delegating import Delegation
from agent_magics.tools.finding import NAME as FINDER
from agent_magics.tools.finding import Offer, offer
from agent_magics.tracing.setting import Tracing


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


async def sent_beside(cell: Cell, services: Services, ready: Prepared) -> tuple[Attachment, ...]:
    """All that goes beside the prompt, without secrets."""
    attachments = cell.attachments
    if cell.small is not None:
        skills = tuple(item.skill for item in cell.active.skills)
        around = Surroundings(
            services.workspace,
            ready.offer.tools,
            skills,
            cell.policy,
            ready.conversation,
            hooked=bool(cell.hooks or services.configuration().hooks),
        )
        attachments = (*await pushed(cell.prompt, around), *attachments)
    return discreet(attachments, services)


def discreet(attachments: Sequence[Attachment], services: Services) -> tuple[Attachment, ...]:
    """What is put beside a prompt, without secrets; the one way that it goes to a model."""
    redact = services.workspace.redactor()
    return tuple(Attachment(redact(a.title), redact(a.text)) for a in attachments)
