"""One tool call's way: look up, check, judge, ask, run. The only place that runs tools.

Approval is enforced here, not by tools, so it holds for built-in, bundled and foreign tools alike.
Every way out ends in exactly one `CallFinished` and one `MessageAdded` with the result.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from agent_magics.coercion import coerced
from agent_magics.context import cut_middle
from agent_magics.errors import ToolError
from agent_magics.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallJudged,
    CallProgress,
    CallProposed,
    CallStarted,
    Event,
    MessageAdded,
    Notice,
    PolicyChanged,
    Question,
)
from agent_magics.messages import Display, ToolCall, ToolResult, Usage
from agent_magics.policy import Answer, CallFacts, Policy, Verdict
from agent_magics.ports import Approver, Checker, Clock, Hooks
from agent_magics.pricing import Price
from agent_magics.skill import Skill
from agent_magics.tightening import noted, tightened
from agent_magics.tool import Arguments, Report, Tool, ToolOutput, unavailable

Outcome: TypeAlias = Literal["done", "failed", "refused", "denied", "invalid"]


ASKED_AGAIN = 5
"""How often a person is asked about arguments that they edited and that do not fit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one turn.

    Args:
        requests: How often the model is asked before it has to sum up.
        tokens: Input plus output tokens of the turn; 0: no bound.
        seconds: Wall time of the turn, checked between requests; 0: no bound.
        cost: What the turn may cost, in the currency of `prices`; 0: no bound.
        prices: What a million tokens cost: input, output, and input that was cached; as the person
            set it for all models.
        price: The model's own price, where the person set none; None: not known.
        result: Characters of one result that the model gets.
    """

    requests: int = 50
    tokens: int = 0
    seconds: float = 0
    cost: float = 0
    prices: tuple[float, float, float] = (0, 0, 0)
    price: Price | None = None
    result: int = 60_000

    @property
    def price_in_force(self) -> Price | None:
        """What tokens cost; None: it is not known."""
        return Price(*self.prices) if any(self.prices) else self.price

    def cost_of(self, usage: Usage) -> float:
        """What these tokens cost; nothing where no price is known."""
        return self.known_cost(usage) or 0.0

    def known_cost(self, usage: Usage) -> float | None:
        """What these tokens cost; None without prices."""
        price = self.price_in_force
        return None if price is None else price.of(usage)


@dataclass(slots=True)
class CallRunner:
    """Runs the calls of one turn, one after the other, under a policy that may change meanwhile."""

    tools: Sequence[Tool]
    skills: Sequence[Skill]
    policy: Policy
    approver: Approver
    check: Checker
    clock: Clock
    limits: Limits
    hooks: Hooks | None = None
    rest: Answer | None = None
    """A no that is meant for the calls behind it, too; whoever runs a new message resets it."""
    facts: CallFacts | None = None
    """Of the arguments that were judged last."""
    told: list[Notice] = field(default_factory=list)
    """What hooks have to tell the person, until it is yielded."""

    async def run(self, call: ToolCall, following: int = 0) -> AsyncIterator[Event]:
        """Take one call to its result; yields what happens on the way.

        Args:
            call: As the model made it.
            following: How many calls of the same message wait behind it.
        """
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        arguments = _read(tool, call.arguments)
        yield CallProposed(call, _title(tool, call, arguments))
        problem, why = self._not_to_run(tool, call, arguments)
        if tool is None or problem:
            for event in self._finish(call, problem, why):
                yield event
            return
        try:
            verdict = await self._judged(tool, call, arguments)
            preview = tool.preview(arguments) if verdict.decision == "ask" else ()
        except ToolError as error:
            for event in (*self._news(), *self._finish(call, str(error), "failed")):
                yield event
            return
        for notice in self._news():
            yield notice
        yield CallJudged(call, verdict)
        if verdict.decision == "deny":
            for event in self._finish(call, _denied(call, verdict), "denied"):
                yield event
            return
        if verdict.decision == "allow":
            async for event in self._execute(tool, call, arguments, ""):
                yield event
            return
        question = _question(tool, call, arguments, preview, verdict)
        async for event in self._asked(tool, replace(question, following=following)):
            yield event

    async def _asked(self, tool: Tool, question: Question) -> AsyncIterator[Event]:
        """Ask a person, and do what they say."""
        call = question.call
        yield ApprovalAsked(question)
        answer = await self._answer(tool, question)
        yield ApprovalGiven(question, answer)
        self.rest = answer if answer.rest and not answer.allowed else None
        if answer.allowed and answer.scope is not None:
            self.policy = self.policy.with_rule(answer.scope.rule)
            yield PolicyChanged(answer.scope.rule)
        taken = await self._taken(tool, call, answer)
        for notice in self._news():
            yield notice
        if isinstance(taken, str):
            outcome: Outcome = "invalid" if answer.allowed else "refused"
            for event in self._finish(call, taken, outcome):
                yield event
            return
        async for event in self._execute(tool, *taken):
            yield event

    async def _answer(self, tool: Tool, question: Question) -> Answer:
        """Ask; edited arguments that do not fit are shown again with what is wrong."""
        for _ in range(ASKED_AGAIN):
            answer = await self.approver.ask(question)
            if not answer.allowed or answer.arguments is None:
                return answer
            problem = self.check(tool.parameters, _read(tool, answer.arguments))
            if not problem:
                return answer
            call = replace(question.call, arguments=answer.arguments)
            question = replace(
                question, call=call, reason=f"the edited arguments do not fit: {problem}"
            )
        return answer

    async def ask_to_go_on(self, call: ToolCall, count: int) -> Answer:
        """Ask the person whether a model that repeats itself may go on."""
        title = f"{call.name}: the same call with the same result, {count} times"
        return await self.approver.ask(
            Question(
                call,
                title,
                reason="the model repeats itself",
                heading="Go on?",
                editable=False,
            )
        )

    def _not_to_run(
        self, tool: Tool | None, call: ToolCall, arguments: Arguments
    ) -> tuple[str, Outcome]:
        """Why the call is not even judged, for the model; an empty text where it is."""
        if self.rest is not None:
            return _refused(call, self.rest), "refused"
        if call.problem or tool is None:
            return call.problem or unavailable(call.name, self.tools, self.skills), "invalid"
        return self.check(tool.parameters, arguments), "invalid"

    async def _judged(self, tool: Tool, call: ToolCall, arguments: Arguments) -> Verdict:
        """The policy's verdict on these arguments, as strict as the hooks want it."""
        self.facts = tool.facts(arguments)
        verdict = self.policy.judge(self.facts)
        meant = replace(call, arguments=json.dumps(arguments))
        verdict, notices = await tightened(self.hooks, meant, self.facts, verdict)
        self.told.extend(notices)
        return verdict

    def _news(self) -> list[Notice]:
        told, self.told = self.told, []
        return told

    async def _taken(
        self, tool: Tool, call: ToolCall, answer: Answer
    ) -> tuple[ToolCall, Arguments, str] | str:
        """What may run after an answer, or the text for the model when nothing may."""
        if not answer.allowed:
            return _refused(call, answer)
        if answer.arguments is None:
            return call, _read(tool, call.arguments), ""
        arguments = _read(tool, answer.arguments)
        edited = replace(call, arguments=answer.arguments)
        problem = self.check(tool.parameters, arguments)
        if problem:
            return f"The person edited the arguments, but they do not fit: {problem}"
        verdict = await self._judged(tool, edited, arguments)
        if verdict.decision == "deny":
            return _denied(edited, verdict)
        note = f"(The person changed the arguments. The call ran with {answer.arguments})\n"
        return edited, arguments, note

    async def _execute(
        self, tool: Tool, call: ToolCall, arguments: Arguments, note: str
    ) -> AsyncIterator[Event]:
        yield CallStarted(call, edited=bool(note))
        started = self.clock()
        output: ToolOutput | None = None
        async for item in _running(tool, arguments):
            if isinstance(item, str):
                yield CallProgress(call.id, item)
            else:
                output = item
        assert output is not None
        text = note + cut_middle(output.text, self.limits.result)
        result = ToolResult(call.id, text, output.ok, output.images, output.display)
        outcome: Outcome = "done" if output.ok else "failed"
        seconds = self.clock() - started
        assert self.facts is not None
        result, notices = await noted(self.hooks, call, self.facts, result, seconds)
        for notice in notices:
            yield notice
        yield CallFinished(call, result, seconds, outcome, output.usage)
        yield MessageAdded(result)

    def _finish(self, call: ToolCall, text: str, outcome: Outcome) -> tuple[Event, ...]:
        """A result for a call that did not run."""
        result = ToolResult(call.id, cut_middle(text, self.limits.result), ok=False)
        return CallFinished(call, result, 0.0, outcome), MessageAdded(result)


def _read(tool: Tool | None, text: str) -> Arguments:
    """The arguments, with what a schema makes plain put right: "5" where a number is due."""
    arguments: Arguments = json.loads(text)
    return arguments if tool is None else coerced(tool.parameters, arguments)


async def _running(tool: Tool, arguments: Arguments) -> AsyncIterator[str | ToolOutput]:
    """Run the tool; yields its live output, then its output. Whatever it raises becomes a text."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[str | None] = asyncio.Queue()

    def report(text: str) -> None:
        loop.call_soon_threadsafe(pieces.put_nowait, text)

    task = asyncio.ensure_future(_guarded(tool, arguments, report))
    task.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        yield task.result()
    finally:
        if not task.done():
            # An interrupt: the tool gets the time it needs to end its own processes.
            task.cancel()
            await asyncio.wait([task])


async def _guarded(tool: Tool, arguments: Arguments, report: Report) -> ToolOutput:
    try:
        return await tool.run(arguments, report)
    except ToolError as error:
        return ToolOutput(str(error), ok=False)
    except Exception as error:  # noqa: BLE001  # a tool's own fault must not end the turn
        return ToolOutput(f"{tool.name} failed: {type(error).__name__}: {error}", ok=False)


def _title(tool: Tool | None, call: ToolCall, arguments: Arguments) -> str:
    if tool is None:
        return call.name
    try:
        operand = tool.operand(arguments)
    except Exception:  # noqa: BLE001  # arguments are not checked yet, so anything can be in them
        operand = ""
    return f"{call.name} {operand}".strip()


def _question(
    tool: Tool, call: ToolCall, arguments: Arguments, preview: tuple[Display, ...], verdict: Verdict
) -> Question:
    hook = "" if verdict.by == "policy" else verdict.by
    return Question(
        call,
        _title(tool, call, arguments),
        preview,
        # A rule would not silence a hook, so none is offered.
        () if hook else tool.scopes(arguments),
        verdict.reason,
        tool.origin or (f"skill {tool.skill}" if tool.skill else "built-in"),
        tool.outside(arguments),
        hook=hook,
    )


def _refused(call: ToolCall, answer: Answer) -> str:
    reason = f": {answer.reason}" if answer.reason else ""
    if answer.by in ("nobody", "timeout"):
        return f"This call of {call.name} was not run, since nobody answered{reason}."
    if answer.by == "judge":
        return f"A reviewer refused this call of {call.name}{reason}. It was not run."
    return f"The person refused this call of {call.name}{reason}. It was not run."


def _denied(call: ToolCall, verdict: Verdict) -> str:
    return f"This call of {call.name} is not allowed ({verdict.reason}). It was not run."
