"""The tool `delegate`: a sub-agent with a conversation of its own.

The sub-agent asks the same model with a part of the same tools, under the same policy and with
the same person to ask. Owns what it is told, what it may use, and what of its work is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace

from agent_magics.calls import Limits
from agent_magics.context import BASE
from agent_magics.errors import ModelError, ToolError
from agent_magics.events import (
    CallFinished,
    CallProposed,
    CallStarted,
    Event,
    MessageAdded,
    Notice,
    PolicyChanged,
    Question,
    Retrying,
    TurnEnded,
    TurnStarted,
)
from agent_magics.loop import run_turn
from agent_magics.messages import Assistant, Display, Usage, User
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.ports import Approver
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.schemas import record, string
from agent_magics.tools.workspace import Workspace
from agent_magics.turn import Turn

NAME = "delegate"
NOT_PASSED_ON = (NAME, "todo")
"""A sub-agent has none of its own, and the plan in the cell is the main agent's."""
REQUESTS = 25
"""Requests to the model in one task; half of what a turn of the main agent has by default."""
SHARE = 0.5
"""Of the turn's bound on tokens, how much one task may use."""
TITLE = 120
"""Characters of a call's line."""

TASK = """\
You are a sub-agent: another agent gave you one task. You see nothing of its conversation, and it
sees only your final answer. Work on the task alone, with the tools you have. Answer with the result
and what it rests on (files and lines); say plainly what you could not find out."""


@dataclass(slots=True)
class Delegation:
    """What a running cell lends to its sub-agents.

    Args:
        turn: The main agent's turn; None where no cell runs.
        policy: The rules in force at this moment.
        granted: Takes note of a rule that a person made for a sub-agent's call.
        watch: Makes a reader of one sub-agent's events, for as long as it works.
    """

    turn: Turn | None = None
    policy: Callable[[], Policy] = Policy
    granted: Callable[[Rule], None] = lambda _rule: None
    watch: Callable[[], AbstractContextManager[Callable[[Event], None]]] = lambda: nullcontext(
        lambda _event: None
    )


@dataclass(frozen=True, slots=True)
class _ForSubAgent:
    """Says in each question that it is a sub-agent who asks."""

    approver: Approver

    async def ask(self, question: Question) -> Answer:
        """The person's answer."""
        reason = f"for a sub-agent; {question.reason}" if question.reason else "for a sub-agent"
        return await self.approver.ask(replace(question, reason=reason))


def delegate_tool(_workspace: Workspace, delegation: Delegation) -> Tool:
    """`delegate`: one task for a sub-agent.

    Args:
        delegation: What the running cell lends; filled in when its turn begins.
    """

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        turn = delegation.turn
        if turn is None:
            raise ToolError("No cell is running, so nothing can be delegated.")
        task = arguments["task"].strip()
        if not task:
            raise ToolError("The task is empty: say what is to be found out or done.")
        inner = _turn(turn, delegation.policy(), arguments.get("tools"))
        with delegation.watch() as observe:
            return await _worked(inner, task, report, delegation.granted, observe)

    return Tool(
        NAME,
        "Give one task to a sub-agent with a fresh conversation.\n"
        "For a search or a piece of work whose steps need not be seen. It knows only what the task "
        "says, uses your tools under the same rules, and gives back its final answer.",
        record(
            ("task",),
            task=string("Everything that it has to know, and the form of the answer."),
            tools={
                "type": "array",
                "items": {"type": "string"},
                "description": "Names of the tools it may use, of those you have; default: all.",
            },
        ),
        "control",
        run,
        operand=lambda arguments: " ".join(str(arguments["task"]).split())[:TITLE],
    )


def _turn(turn: Turn, policy: Policy, wanted: list[str] | None) -> Turn:
    """The sub-agent's turn: never more than the main agent has."""
    mine = [tool for tool in turn.tools if tool.name not in NOT_PASSED_ON]
    if wanted is not None:
        unknown = sorted(set(wanted) - {tool.name for tool in mine})
        if unknown:
            have = ", ".join(tool.name for tool in mine) or "none"
            raise ToolError(f"There is no {', '.join(unknown)} to pass on; there are: {have}.")
        mine = [tool for tool in mine if tool.name in wanted]
    limits = Limits(
        requests=min(REQUESTS, turn.limits.requests),
        tokens=int(turn.limits.tokens * SHARE),
        seconds=turn.limits.seconds,
        cost=turn.limits.cost * SHARE,
        prices=turn.limits.prices,
        price=turn.limits.price,
        result=turn.limits.result,
    )
    return replace(
        turn,
        system=f"{BASE}\n\n{TASK}",
        tools=tuple(mine),
        skills=(),
        policy=policy,
        approver=_ForSubAgent(turn.approver),
        limits=limits,
        offered=_passed_on(turn, mine) if wanted is None else None,
        purpose="task",
    )


def _passed_on(turn: Turn, mine: list[Tool]) -> Callable[[], tuple[Tool, ...]] | None:
    """Where tools wait to be found, the sub-agent finds them, too."""
    if turn.offered is None:
        return None
    main, names = turn.offered, {tool.name for tool in mine}
    return lambda: tuple(tool for tool in main() if tool.name in names)


async def _worked(
    turn: Turn,
    task: str,
    report: Report,
    granted: Callable[[Rule], None],
    observe: Callable[[Event], None],
) -> ToolOutput:
    """Run the task to its end; its calls are reported as they go."""
    work = _Work(report, granted)
    observe(TurnStarted(task, turn.model.name))
    try:
        async with aclosing(run_turn(turn, (), User(task))) as events:  # type: ignore[type-var]
            async for event in events:
                work.take(event)
                observe(event)
    except ModelError as error:
        raise ToolError(f"The sub-agent got no answer from the model: {error}") from error
    return work.output()


class _Work:
    """What is kept of a sub-agent's events: a line for each call, and the last answer."""

    def __init__(self, report: Report, granted: Callable[[Rule], None]) -> None:
        self._report, self._granted = report, granted
        self._titles: dict[str, str] = {}
        self._lines: list[str] = []
        self._answer = ""
        self._usage = Usage()
        self._ended: TurnEnded | None = None

    def take(self, event: Event) -> None:
        match event:
            case CallProposed(call, title):
                self._titles[call.id] = " ".join(title.split())[:TITLE]
            case CallStarted(call):
                self._report(f"… {self._titles.get(call.id, call.name)}\n")
            case CallFinished(call=call, outcome=outcome):
                sign = {"done": "✓", "failed": "✗"}.get(outcome, "⊘")
                words = "" if outcome == "done" else f" ({outcome})"
                self._line(f"{sign} {self._titles.get(call.id, call.name)}{words}")
                self._usage += event.usage
            case MessageAdded(Assistant() as message):
                self._answer = message.text or self._answer
                self._usage += message.usage
            case PolicyChanged(rule):
                self._granted(rule)
            case Notice(text, level) if level != "info":
                self._line(f"⚠ {text}")
            case Retrying(reason=reason):
                self._report(f"↻ {reason}\n")
            case TurnEnded():
                self._ended = event
            case _:
                pass

    def _line(self, text: str) -> None:
        self._lines.append(text)
        self._report(text + "\n")

    def output(self) -> ToolOutput:
        """The final text for the model; the calls and the text for the person."""
        answered = self._ended is not None and self._ended.reason == "answered"
        text = self._answer or "The sub-agent gave no answer."
        if not answered and self._ended is not None and self._ended.text:
            text += f"\n\n[{self._ended.text}]"
        steps = "\n".join(self._lines) or "(no tool was called)"
        displays = (Display("text", steps), Display("text", text))
        return ToolOutput(text, displays, ok=bool(self._answer), usage=self._usage)
