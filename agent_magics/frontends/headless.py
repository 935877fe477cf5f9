"""The answer where nobody is: no, at once, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.events import Question
from agent_magics.policy import Answer


@dataclass(frozen=True, slots=True)
class Nobody:
    """Refuses every question.

    Args:
        why: Why nobody can answer, in a few words.
    """

    why: str

    async def ask(self, question: Question) -> Answer:
        """Refuse."""
        return self.refusal(question)

    def refusal(self, question: Question) -> Answer:
        """The refusal, with the way to allow such calls beforehand."""
        how = f"%agent allow {question.call.name}"
        beforehand = f"; allow it beforehand with {how!r} or in the configuration file"
        return Answer(
            False,
            by="nobody",
            reason=f"nobody can answer here: {self.why}"
            + (beforehand if question.editable else ""),
        )
