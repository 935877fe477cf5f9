"""The hooks around one turn: which there are, what they add to it, what they are told of its end.

The calls in between are `tightening`'s business; what a hook is and how it runs, `hooks`'.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from agent_magics.errors import AgentMagicsError
from agent_magics.events import Notice
from agent_magics.hooks.hook import Hook
from agent_magics.hooks.running import OnThread, TurnHooks
from agent_magics.hooks.threads import on_own_thread
from agent_magics.hooks.told import Around
from agent_magics.magics.recording import folder_of
from agent_magics.magics.services import Services
from agent_magics.messages import Attachment
from agent_magics.ports import Renderer
from agent_magics.session import Session
from agent_magics.skill import Skill
from agent_magics.tightening import problems


def turn_hooks(
    own: Sequence[Hook],
    services: Services,
    session: Session,
    model: str,
    on_thread: OnThread | None,
) -> TurnHooks | None:
    """The hooks of a turn; None: there are none.

    Args:
        own: Functions that the person registered, or the program gave; told first.
        services: For the commands of the configuration.
        session: The conversation.
        model: Who answers.
        on_thread: Runs functions; None: each gets a thread of its own.
    """
    hooks = (*own, *services.configuration().hooks)
    if not hooks:
        return None
    return TurnHooks(
        hooks,
        Around(session.name, folder_of(services), model),
        on_thread or on_own_thread,
        services.hook_environment,
        services.workspace.redact,
    )


async def added(
    hooks: TurnHooks | None,
    prompt: str,
    skills: Sequence[Skill],
    renderer: Renderer,
    *,
    first: bool,
) -> tuple[Attachment, ...]:
    """What hooks put beside a prompt; those that failed are shown.

    Args:
        hooks: None: there are none.
        prompt: What was asked.
        skills: The active ones.
        renderer: Shows what failed.
        first: Whether the conversation begins with it.
    """
    if hooks is None:
        return ()
    words = await hooks.turn_start(prompt, [skill.name for skill in skills], first=first)
    for notice in problems(words):
        renderer.show(notice)
    return tuple(Attachment(f"from {word.hook}", word.note) for word in words if word.note)


@asynccontextmanager
async def told_at_the_end(
    hooks: TurnHooks | None, session: Session, renderer: Renderer
) -> AsyncIterator[None]:
    """Tell the hooks what the turn inside brought, unless the person interrupted it."""
    try:
        yield
    except AgentMagicsError:
        await _tell(hooks, session, renderer)
        raise
    await _tell(hooks, session, renderer)


async def _tell(hooks: TurnHooks | None, session: Session, renderer: Renderer) -> None:
    if hooks is None or session.last is None:
        return
    words = await hooks.turn_end(session.last)
    for word in words:
        if word.note:
            renderer.show(Notice(f"{word.hook}: {word.note}"))
    for notice in problems(words):
        renderer.show(notice)
