"""One turn: ask the model, run what it calls, until it answers. Says what happens; does no IO.

Owns the order of things: a call is looked up among the effective tools, its arguments are
checked, the policy judges, a person may be asked, and only then it runs. It knows no provider,
no front end and no session: it yields events, and whoever reads them keeps the state.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_magics.calls import CallRunner, Limits
from agent_magics.context import estimated_tokens
from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.events import Event, MessageAdded, Notice, TurnEnded
from agent_magics.fitting import Fitter
from agent_magics.messages import (
    Assistant,
    Conversation,
    ToolCall,
    ToolResult,
    Usage,
    User,
    known_ids,
    normalised,
)
from agent_magics.policy import Policy
from agent_magics.ports import Approver, Checker, Clock, Model, Request
from agent_magics.repetition import Pair, repeats
from agent_magics.skill import Skill
from agent_magics.tool import Tool

NUDGE_AT, ASK_AT = 3, 4
"""After how many identical (call, result) pairs the model is told, and the person is asked."""

SUM_UP = (
    "Stop here: {why}. No tool can be called any more. Say what was found and done so far, what is "
    "still open, and what the next step would be."
)
REPEATED = (
    "You have made the same call with the same result {count} times. Do not make it again: use "
    "what you know, try something else, or answer."
)


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


@dataclass(slots=True)
class _Progress:
    """What one turn has used so far."""

    conversation: Conversation
    started: float
    requests: int = 0
    usage: Usage = Usage()
    pairs: list[Pair] = field(default_factory=list)


async def run_turn(turn: Turn, history: Conversation, prompt: User) -> AsyncIterator[Event]:
    """Run one turn and yield what happens; the last event is `TurnEnded`.

    Args:
        turn: What is fixed.
        history: A closed conversation.
        prompt: What the person said.

    Raises:
        ModelError: The provider gave no usable answer. What was yielded before stands.
        CancelledError: Someone interrupted; open calls are left to `messages.closed`.
    """
    progress = _Progress((*history, prompt), turn.clock())
    yield MessageAdded(prompt)
    runner = CallRunner(
        turn.tools, turn.skills, turn.policy, turn.approver, turn.check, turn.clock, turn.limits
    )
    fitter = Fitter(turn.model, turn.system, _schema_tokens(turn.tools), turn.window, turn.options)
    nudge, circling = "", ""
    while not circling and not (limit := _limit_reached(turn, progress)):
        request = Request(
            turn.system, progress.conversation, turn.tools, nudge=nudge, options=turn.options
        )
        async for event in _answer(turn, progress, fitter, request):
            yield event
        message = progress.conversation[-1]
        assert isinstance(message, Assistant)
        if not message.calls:
            yield _ended(turn, progress, "cut" if message.stop in ("length", "cut") else "answered")
            return
        async for event in _run_calls(runner, progress, message):
            yield event
        count = repeats(progress.pairs)
        nudge = REPEATED.format(count=count) if count >= NUDGE_AT else ""
        if count >= ASK_AT and not await _may_go_on(runner, progress, message.calls[-1], count):
            circling = f"the same call came {count} times with the same result"
    why = circling or limit
    yield Notice(f"Stopped: {why}. The model is asked to sum up.", "warning")
    async for event in _last_word(turn, progress, fitter, why, "stopped" if circling else "limit"):
        yield event


async def _run_calls(
    runner: CallRunner, progress: _Progress, message: Assistant
) -> AsyncIterator[Event]:
    """Run the calls of one message in their order."""
    for call in message.calls:
        async for event in runner.run(call):
            if isinstance(event, MessageAdded) and isinstance(event.message, ToolResult):
                progress.conversation = (*progress.conversation, event.message)
                progress.pairs.append((call.name, call.arguments, event.message.text))
            yield event


async def _may_go_on(runner: CallRunner, progress: _Progress, call: ToolCall, count: int) -> bool:
    """Ask the person whether a model that goes in circles may go on; a yes starts a new count."""
    answer = await runner.ask_to_go_on(call, count)
    if answer.allowed:
        progress.pairs.clear()
    return answer.allowed


async def _answer(
    turn: Turn, progress: _Progress, fitter: Fitter, request: Request
) -> AsyncIterator[Event]:
    """Make the request fit, stream one answer, and add it to the conversation."""
    async for event in _fitted(progress, fitter, must=False):
        yield event
    try:
        async for event in _streamed(turn, progress, fitter, request):
            yield event
    except ContextOverflow:
        before = progress.conversation
        async for event in _fitted(progress, fitter, must=True):
            yield event
        if progress.conversation == before:
            raise
        async for event in _streamed(turn, progress, fitter, request):
            yield event


async def _fitted(progress: _Progress, fitter: Fitter, *, must: bool) -> AsyncIterator[Event]:
    async for event in fitter.fit(progress.conversation, must=must):
        yield event
    progress.conversation = fitter.conversation
    progress.usage, fitter.usage = progress.usage + fitter.usage, Usage()


async def _streamed(
    turn: Turn, progress: _Progress, fitter: Fitter, request: Request
) -> AsyncIterator[Event]:
    answer: Assistant | None = None
    progress.requests += 1
    sent = progress.conversation
    async with aclosing(turn.model.stream(replace(request, conversation=sent))) as stream:  # type: ignore[type-var]  # generators close
        async for item in stream:
            if isinstance(item, Assistant):
                answer = item
            else:
                yield item
    if answer is None or not (answer.text or answer.calls):
        raise ModelError(
            f"{turn.model.name} gave an empty answer; run the cell again or change the model."
        )
    progress.usage += answer.usage
    message = replace(normalised(answer, known_ids(sent)), model=turn.model.name)
    progress.conversation = (*sent, message)
    yield MessageAdded(message)
    suspicion = fitter.suspicion(sent, answer)
    if suspicion:
        yield Notice(suspicion, "warning")


async def _last_word(
    turn: Turn, progress: _Progress, fitter: Fitter, why: str, reason: Literal["limit", "stopped"]
) -> AsyncIterator[Event]:
    """One last request without tools that sums up, then the end."""
    request = Request(
        turn.system,
        progress.conversation,
        tool_choice="none",
        nudge=SUM_UP.format(why=why),
        options=turn.options,
    )
    async for event in _answer(turn, progress, fitter, request):
        if isinstance(event, MessageAdded) and isinstance(event.message, Assistant):
            # A model that calls a tool all the same is not given one.
            text = event.message.text or f"(No summary came: the model called a tool again. {why}.)"
            final = replace(event.message, calls=(), text=text)
            progress.conversation = (*progress.conversation[:-1], final)
            yield MessageAdded(final)
        else:
            yield event
    yield _ended(
        turn, progress, reason, f"Ended early: {why}. Go on in the next cell, or raise the limit."
    )


def _schema_tokens(tools: tuple[Tool, ...]) -> int:
    return sum(estimated_tokens(t.description + json.dumps(dict(t.parameters))) for t in tools)


def _limit_reached(turn: Turn, progress: _Progress) -> str:
    limits = turn.limits
    seconds = turn.clock() - progress.started
    if progress.requests >= limits.requests:
        return f"{limits.requests} requests to the model in this turn"
    if limits.tokens and progress.usage.input + progress.usage.output >= limits.tokens:
        return f"the budget of {limits.tokens} tokens is used up"
    if limits.seconds and seconds >= limits.seconds:
        return f"{limits.seconds:g} seconds have passed"
    return ""


def _ended(
    turn: Turn,
    progress: _Progress,
    reason: Literal["answered", "limit", "stopped", "cut"],
    text: str = "",
) -> TurnEnded:
    if reason == "cut":
        text = "The answer was cut at the output limit. Write “continue” in the next cell to go on."
    return TurnEnded(
        reason, progress.usage, turn.clock() - progress.started, progress.requests, text
    )
