"""What a hook is told: a call or a turn, as a value for functions and as JSON for commands.

Each hook gets a value of its own, so that nothing it changes there reaches the call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from agent_magics.hooks.hook import Hook, Point
from agent_magics.hooks.said import Said
from agent_magics.messages import JSON, ToolCall, ToolResult
from agent_magics.policy import CallFacts, Decision, Verdict
from agent_magics.result import TurnResult


@dataclass(frozen=True, slots=True)
class Around:
    """What is the same for all hooks of a turn.

    Args:
        session: The conversation's name.
        folder: The workspace, an absolute path.
        model: Who answers.
    """

    session: str
    folder: str
    model: str


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call, as a hook is told of it.

    Args:
        point: `before_call` or `after_call`.
        tool: The tool's name.
        arguments: A copy of what runs or ran.
        operand: The one text that rules are matched on: a path, a command, an address.
        effect: What the tool can do: `read`, `write`, `delete`, `run`, `fetch`, `bundled`,
            `control`.
        skill: The skill that brought the tool; empty: none did.
        outside: Whether it reaches outside the workspace.
        decision: Before: what happens if no hook objects, `allow` or `ask`. After: empty.
        reason: Why.
        text: After: what the model will read.
        ok: After: whether it worked; before: None.
        seconds: After: how long it ran.
        id: The call's.
        session: The conversation's name.
        folder: The workspace.
        model: Who made the call.
    """

    point: Point
    tool: str
    arguments: dict[str, JSON]
    operand: str
    effect: str
    skill: str
    outside: bool
    decision: Decision | str = ""
    reason: str = ""
    text: str = ""
    ok: bool | None = None
    seconds: float = 0.0
    id: str = ""
    session: str = ""
    folder: str = ""
    model: str = ""

    def ask(self, reason: str = "") -> Said:
        """Have a person asked about the call, whatever the rules say."""
        return Said("ask", str(reason))

    def deny(self, reason: str = "") -> Said:
        """Have it not run; the model reads the reason."""
        return Said("deny", str(reason))

    def note(self, text: str) -> Said:
        """Have the model read a text behind the result."""
        return Said(note=str(text))

    def json(self, hook: Hook) -> dict[str, JSON]:
        """The same for a command."""
        return {"hook": hook.name, **asdict(self)}


@dataclass(frozen=True, slots=True)
class HookTurn:
    """A turn, as a hook is told of it.

    Args:
        point: `session_start`, `turn_start` or `turn_end`.
        prompt: What was asked.
        session: The conversation's name.
        folder: The workspace.
        model: Who answers.
        skills: Names of the active skills.
        result: At its end: what it brought.
    """

    point: Point
    prompt: str
    session: str
    folder: str
    model: str
    skills: tuple[str, ...] = ()
    result: TurnResult | None = field(default=None, repr=False)

    def note(self, text: str) -> Said:
        """At a start: have the model read a text beside the prompt. At the end: show one."""
        return Said(note=str(text))

    def json(self, hook: Hook) -> dict[str, JSON]:
        """The same for a command; of a result, what can be written."""
        told: dict[str, JSON] = {
            "hook": hook.name,
            "point": self.point,
            "prompt": self.prompt,
            "session": self.session,
            "folder": self.folder,
            "model": self.model,
            "skills": list(self.skills),
        }
        if self.result is not None:
            told["result"] = _result(self.result)
        return told


def call_before(call: ToolCall, facts: CallFacts, verdict: Verdict, around: Around) -> HookCall:
    """A call that may run."""
    told = _call("before_call", call, facts, around)
    return HookCall(**told, decision=verdict.decision, reason=verdict.reason)


def call_after(
    call: ToolCall, facts: CallFacts, result: ToolResult, seconds: float, around: Around
) -> HookCall:
    """A call that ran."""
    told = _call("after_call", call, facts, around)
    return HookCall(**told, text=result.text, ok=result.ok, seconds=seconds)


def _call(point: Point, call: ToolCall, facts: CallFacts, around: Around) -> dict[str, JSON]:
    return {
        "point": point,
        "tool": facts.tool,
        "arguments": json.loads(call.arguments),
        "operand": facts.operand,
        "effect": facts.effect,
        "skill": facts.skill,
        "outside": facts.outside,
        "id": call.id,
        "session": around.session,
        "folder": around.folder,
        "model": around.model,
    }


def _result(result: TurnResult) -> Mapping[str, JSON]:
    usage = result.usage
    return {
        "text": result.text,
        "reason": result.reason,
        "requests": result.requests,
        "seconds": round(result.seconds, 3),
        "usage": {"input": usage.input, "output": usage.output, "cached": usage.cached},
        "changed_files": list(result.changed_files),
        "calls": [
            {
                "tool": call.name,
                "arguments": call.asked if call.ran is None else call.ran,
                "decision": call.decision,
                "by": call.by,
                "outcome": call.outcome,
            }
            for call in result.calls
        ],
    }
