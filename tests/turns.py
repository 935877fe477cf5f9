"""Hand-made parts for whole turns: tools, an approver, a renderer, and a one-line way to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.calls import Limits
from agent_magics.context import ActiveSkill
from agent_magics.events import Event, Question
from agent_magics.messages import Assistant, ToolCall
from agent_magics.policy import Answer, Policy
from agent_magics.providers.scripted import ScriptedModel
from agent_magics.result import TurnResult
from agent_magics.session import Session
from agent_magics.skill import Skill
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.checking import check
from agent_magics.turn import Turn

NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def call(name: str, ident: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(ident, name, json.dumps(arguments))


def calls(*wanted: ToolCall, text: str = "") -> Assistant:
    return Assistant(text, wanted, "calls")


@dataclass
class Spy:
    """A tool that notes each run."""

    name: str = "look"
    effect: str = "read"
    answer: Callable[[Arguments], str] = lambda arguments: f"seen {arguments.get('n')}"
    skill: str = ""
    ran: list[Any] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def tool(self) -> Tool:
        async def run(arguments: Arguments, report: Report) -> ToolOutput:
            self.ran.append(dict(arguments))
            report("working\n")
            return ToolOutput(self.answer(arguments))

        return Tool(
            self.name,
            f"{self.name} at a number.",
            NUMBER,
            self.effect,  # type: ignore[arg-type]
            run,
            self.skill,
            operand=lambda arguments: str(arguments.get("n", "")),
            **self.extra,
        )


@dataclass
class Person:
    """Answers questions from a list; silence is a refusal."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else Answer(False, reason="no more answers")


@dataclass
class Log:
    """A renderer that keeps the events."""

    events: list[Event] = field(default_factory=list)

    def show(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class Scene:
    """A session with a scripted model, ready to ask."""

    replies: Iterable[Any]
    tools: Sequence[Tool] = ()
    answers: Sequence[Answer] = ()
    skills: tuple[Skill, ...] = ()
    policy: Policy = Policy()
    limits: Limits = field(default_factory=Limits)
    session: Session = field(default_factory=Session)
    window: int = 0

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.replies)
        self.person = Person(list(self.answers))
        self.log = Log()
        self.session.policy = self.policy

    def turn(self) -> Turn:
        return Turn(
            self.model,
            "Be exact.",
            tuple(self.tools),
            self.skills,
            self.session.policy,
            self.person,
            check,
            lambda: 0.0,
            self.limits,
            self.window,
        )

    def ask(self, prompt: str = "Go.") -> TurnResult:
        return asyncio.run(self.asking(prompt))

    async def asking(self, prompt: str = "Go.") -> TurnResult:
        active = [ActiveSkill(skill) for skill in self.skills]
        return await self.session.ask(prompt, self.turn(), self.log, active)
