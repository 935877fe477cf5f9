"""Who answers in a program: a function of its own, or nobody."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_magics.errors import UsageProblem
from agent_magics.events import Event, Question
from agent_magics.policy import Answer
from agent_magics.scripting.options import Approve, Said

Elsewhere: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a function on the thread of the program."""


@dataclass(frozen=True, slots=True)
class Unattended:
    """Refuses every question, and says how such calls are allowed."""

    async def ask(self, question: Question) -> Answer:
        """Refuse."""
        return refusal(question)


@dataclass(frozen=True, slots=True)
class Answering:
    """Asks a function of the program; what it raises ends the turn.

    Args:
        approve: The function.
        on_thread: Runs it where the program waits, so that it may use `input()`.
    """

    approve: Approve
    on_thread: Elsewhere

    async def ask(self, question: Question) -> Answer:
        """The function's answer."""
        said = await self.on_thread(lambda: self.approve(question))
        if inspect.isawaitable(said):
            said = await said
        return _answer(said)


@dataclass(frozen=True, slots=True)
class Silent:
    """Shows nothing."""

    def show(self, event: Event) -> None:
        """Show nothing."""


async def here(job: Callable[[], Any]) -> Any:
    """Run a function at once, on this thread."""
    return job()


def refusal(question: Question) -> Answer:
    """The no of a program that asks nobody."""
    how = (
        f"; allow it beforehand with policy=['allow {question.call.name}'] or in the "
        "configuration file"
    )
    text = "a program asks nobody" + (how if question.editable else "")
    return Answer(False, by="nobody", reason=text)


def _answer(said: Said | object) -> Answer:
    if isinstance(said, Answer):
        return said
    if not isinstance(said, bool):
        raise UsageProblem(
            f"approve gave {said!r:.80}; it is to give True, False or an Answer with a reason."
        )
    return Answer(said, by="option", reason="" if said else "the program's approve= said no")
