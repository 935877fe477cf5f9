"""What is fixed for one turn, as a value: the model, the tools, the rules, the limits. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent_magics.calls import Limits
from agent_magics.events import Event, TurnEnded
from agent_magics.messages import Attachment
from agent_magics.policy import Policy
from agent_magics.ports import Approver, Checker, Clock, Hooks, Model, Purpose
from agent_magics.skill import Skill
from agent_magics.tool import Tool


def nothing_more(_ended: TurnEnded) -> tuple[Event, ...]:
    """For turns that need no epilogue."""
    return ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that is fixed for one turn.

    Args:
        model: Who answers.
        system: The system prompt.
        tools: What `effective_tools` said: offered in the request and all that is dispatched.
        skills: The active skills, for texts.
        policy: In force at the start; the loop follows changes that a person makes.
        approver: Who is asked.
        check: Says what is wrong with a call's arguments.
        clock: Seconds, for durations.
        limits: See `Limits`.
        window: The model's context in tokens; 0: not known.
        options: Further settings of the provider.
        offered: Gives the part of the tools that the next request shows; None: all of them.
        attachments: What the notebook puts beside the prompt.
        purpose: What the answers are for.
        epilogue: What is to be told of the turn right before its end.
        hooks: The person's own checks around calls; None: there are none.
        small: Whether the model is a small one: tools are described in words, one call of an answer
            is run, each result is followed by the request, a failure by a request of the question
            and the results beside the conversation, and a repeated call or the limit by one such
            request without tools.
    """

    model: Model
    system: str
    tools: tuple[Tool, ...]
    skills: tuple[Skill, ...]
    policy: Policy
    approver: Approver
    check: Checker
    clock: Clock
    limits: Limits = field(default_factory=Limits)
    window: int = 0
    options: dict[str, object] = field(default_factory=dict)
    offered: Callable[[], tuple[Tool, ...]] | None = None
    attachments: tuple[Attachment, ...] = ()
    purpose: Purpose = "answer"
    epilogue: Callable[[TurnEnded], tuple[Event, ...]] = nothing_more
    hooks: Hooks | None = None
    small: bool = False
