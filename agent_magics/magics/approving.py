"""Approvals that the person gave beforehand, by an option, before anyone is asked in the cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_magics.events import Question
from agent_magics.policy import Answer
from agent_magics.ports import Approver


@dataclass(frozen=True, slots=True)
class BeforehandApprover:
    """Answers what an option already answered; everything else goes on to the real one."""

    then: Approver
    preapproved: Callable[[Question], Answer | None]

    async def ask(self, question: Question) -> Answer:
        """The option's answer, or the person's; what a hook asks is for the person."""
        beforehand = None if question.hook else self.preapproved(question)
        return beforehand or await self.then.ask(question)


@dataclass(frozen=True, slots=True)
class Preapproval:
    """What a headless run was allowed by name.

    Args:
        tools: Names of tools.
        inside: The folder that the workspace must lie in.
        workspace: The folder the tools work in now.
    """

    tools: tuple[str, ...]
    inside: Path | None
    workspace: Callable[[], Path]

    def __call__(self, question: Question) -> Answer | None:
        """Yes for a named tool that stays inside; no opinion otherwise."""
        if self.inside is None or question.call.name not in self.tools or question.outside:
            return None
        if not self.workspace().resolve().is_relative_to(self.inside.resolve()):
            return None
        return Answer(True, "option", "allowed beforehand by name for this folder")
