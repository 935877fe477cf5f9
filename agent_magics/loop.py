"""One turn: ask the model, run what it calls, until it answers. Says what happens; does no IO.

Owns the order of things: a call is looked up among the effective tools, its arguments are
checked, the policy judges, a person may be asked, and only then it runs. It knows no provider,
no front end and no session: it yields events, and whoever reads them keeps the state.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from agent_magics.asking import Asking
from agent_magics.calls import CallRunner
from agent_magics.errors import ContextOverflow
from agent_magics.events import CallFinished, Ending, Event, MessageAdded, Notice, TurnEnded
from agent_magics.finishing import (
    MADE,
    Step,
    again,
    circling,
    closing,
    fruitless,
    made_before,
    reminder,
)
from agent_magics.finishing import SYSTEM as CLOSING
from agent_magics.messages import (
    Assistant,
    Conversation,
    Stop,
    ToolCall,
    ToolResult,
    User,
)
from agent_magics.repetition import Pair, repeats
from agent_magics.turn import Turn

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


CONTINUATIONS = 2
"""How often a model is asked to go on with an answer that was cut at the output limit."""
CONTINUE = (
    "Your answer was cut at the output limit. Go on exactly where it stopped, without repeating "
    "anything and without an introduction."
)

_ENDINGS: dict[Stop, Ending] = {
    "length": "cut",
    "cut": "cut",
    "refusal": "refused",
    "filter": "refused",
}
_TEXTS: dict[Ending, str] = {
    "cut": "The answer was cut at the output limit. Write “continue” in the next cell to go on.",
    "refused": "The model, or its provider's filter, refused to answer. Ask in other words.",
}


@dataclass(slots=True)
class _Watch:
    """What the loop keeps an eye on within one turn."""

    started: float
    pairs: list[Pair] = field(default_factory=list)
    continued: int = 0
    steps: list[Step] = field(default_factory=list)
    last: Step | None = None


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
    watch = _Watch(turn.clock())
    offered = turn.offered or (lambda: turn.tools)
    asking = Asking(
        turn.model,
        turn.system,
        offered,
        turn.window,
        turn.options,
        (*history, prompt),
        small=turn.small,
        purpose=turn.purpose,
    )
    runner = CallRunner(
        turn.tools,
        turn.skills,
        turn.policy,
        turn.approver,
        turn.check,
        turn.clock,
        turn.limits,
        turn.hooks,
    )
    yield MessageAdded(prompt)
    nudge, stuck = "", ""
    while not stuck and not (limit := _limit_reached(turn, asking, watch)):
        async for event in _next(turn, asking, watch, history, prompt, nudge):
            yield event
        message = asking.last
        nudge = _go_on(turn, message, watch)
        if not message.calls and not nudge:
            async for event in _answered(turn, asking, watch, prompt, message):
                yield event
            return
        message, over = _unrepeated(turn, message, watch)
        async for event in _run_calls(runner, asking, watch, message):
            yield event
        if over:
            async for event in _closed(turn, asking, watch, prompt, "answered"):
                yield event
            return
        count = repeats(watch.pairs)
        if turn.small and message.calls:
            nudge = reminder(prompt.text)
        elif count >= NUDGE_AT:
            nudge = REPEATED.format(count=count)
        if count >= ASK_AT and not await _may_go_on(runner, watch, message.calls[-1], count):
            stuck = f"the same call came {count} times with the same result"
    why = stuck or limit
    ending: Ending = "stopped" if stuck else "limit"
    yield Notice(f"Stopped: {why}. The model is asked to sum up.", "warning")
    short = turn.small and watch.steps
    last = _closed(turn, asking, watch, prompt, ending) if short else None
    async for event in last or _last_word(turn, asking, watch, why, ending):
        yield event


async def _answered(
    turn: Turn, asking: Asking, watch: _Watch, prompt: User, message: Assistant
) -> AsyncIterator[Event]:
    """The end after an answer; a small model's that goes in circles is asked for once more."""
    if turn.small and watch.steps and circling(message.text):
        async for event in _closed(turn, asking, watch, prompt, "answered"):
            yield event
    else:
        yield _ended(turn, asking, watch, _ENDINGS.get(message.stop, "answered"))


async def _next(
    turn: Turn, asking: Asking, watch: _Watch, history: Conversation, prompt: User, nudge: str
) -> AsyncIterator[Event]:
    """Ask for the next answer: in the conversation, or, small models after a failure, beside it."""
    last, watch.last = watch.last, None
    if turn.small and last is not None and fruitless(last):
        # Another search for the same words would find as little.
        others = tuple(t for t in asking.offered() if last.changes or t.name != last.name)
        sent = (*history, again(prompt, watch.steps, last))
        try:
            async for event in asking.apart(turn.system, sent, others):
                yield event
        except ContextOverflow:
            pass  # the conversation itself can be shortened, so it is asked in it after all
        else:
            return
    async for event in asking.answer(nudge):
        yield event


def _go_on(turn: Turn, message: Assistant, watch: _Watch) -> str:
    """What to say to a model whose answer was cut at the output limit; empty when it was not."""
    if message.stop != "length" or message.calls or watch.continued >= CONTINUATIONS:
        return ""
    if turn.small and circling(message.text):
        return ""
    watch.continued += 1
    return CONTINUE


async def _run_calls(
    runner: CallRunner, asking: Asking, watch: _Watch, message: Assistant
) -> AsyncIterator[Event]:
    """Run the calls of one message in their order."""
    runner.rest = None
    for number, call in enumerate(message.calls, start=1):
        async for event in runner.run(call, len(message.calls) - number):
            if isinstance(event, CallFinished):
                asking.usage += event.usage
                watch.last = _step(runner, call, event)
                if not call.problem:
                    watch.steps.append(watch.last)
            if isinstance(event, MessageAdded) and isinstance(event.message, ToolResult):
                asking.add(event.message)
                watch.pairs.append((call.name, call.arguments, event.message.text))
            yield event


def _step(runner: CallRunner, call: ToolCall, finished: CallFinished) -> Step:
    effect = next((tool.effect for tool in runner.tools if tool.name == call.name), "read")
    return Step(
        call.name,
        call.arguments,
        finished.result.text,
        finished.result.ok,
        changes=effect not in ("read", "control"),
        refused=finished.outcome in ("refused", "denied"),
    )


def _unrepeated(turn: Turn, message: Assistant, watch: _Watch) -> tuple[Assistant, bool]:
    """The answer with repeated calls marked not to run, and whether that is the end."""
    if not turn.small:
        return message, False
    calls: list[ToolCall] = []
    over = False
    for call in message.calls:
        before = made_before(watch.steps, call.name, call.arguments)
        if before is not None and not call.problem:
            call, over = replace(call, problem=MADE), True
        calls.append(call)
    return replace(message, calls=tuple(calls)), over


async def _closed(
    turn: Turn, asking: Asking, watch: _Watch, prompt: User, ending: Ending
) -> AsyncIterator[Event]:
    """Ask for the answer in a fresh short prompt without tools, then the end."""
    yield Notice("The model is asked for its answer from the results so far, without tools.")
    async for event in asking.apart(CLOSING, (closing(prompt, watch.steps),)):
        yield event
    yield _ended(turn, asking, watch, ending)


async def _may_go_on(runner: CallRunner, watch: _Watch, call: ToolCall, count: int) -> bool:
    """Ask the person whether a model that goes in circles may go on; a yes starts a new count."""
    answer = await runner.ask_to_go_on(call, count)
    if answer.allowed:
        watch.pairs.clear()
    return answer.allowed


async def _last_word(
    turn: Turn, asking: Asking, watch: _Watch, why: str, ending: Ending
) -> AsyncIterator[Event]:
    """One last request without tools that sums up, then the end."""
    async for event in asking.answer(SUM_UP.format(why=why), "none"):
        if isinstance(event, MessageAdded) and isinstance(event.message, Assistant):
            # A model that calls a tool all the same is not given one.
            text = event.message.text or f"(No summary came: the model called a tool again. {why}.)"
            yield MessageAdded(replace(event.message, calls=(), text=text))
        else:
            yield event
    text = f"Ended early: {why}. Go on in the next cell, or raise the limit."
    yield _ended(turn, asking, watch, ending, text)


def _limit_reached(turn: Turn, asking: Asking, watch: _Watch) -> str:
    limits = turn.limits
    if asking.requests >= limits.requests:
        plural = "" if limits.requests == 1 else "s"
        return f"{limits.requests} request{plural} to the model in this turn"
    if limits.tokens and asking.usage.input + asking.usage.output >= limits.tokens:
        return f"the budget of {limits.tokens} tokens is used up"
    if limits.cost and limits.cost_of(asking.usage) >= limits.cost:
        return f"the budget of {limits.cost:g} is used up"
    if limits.seconds and turn.clock() - watch.started >= limits.seconds:
        return f"{limits.seconds:g} seconds have passed"
    return ""


def _ended(turn: Turn, asking: Asking, watch: _Watch, ending: Ending, text: str = "") -> TurnEnded:
    seconds = turn.clock() - watch.started
    return TurnEnded(
        ending,
        asking.usage,
        seconds,
        asking.requests,
        text or _TEXTS.get(ending, ""),
        turn.limits.known_cost(asking.usage),
    )
