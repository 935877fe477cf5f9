"""What is known of one call, and how its state reads in a few words.

Owns the words of a call's one line. Draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_magics.events import Question
from agent_magics.frontends.blocks_payload import object_of
from agent_magics.frontends.blocks_question import NAME, TITLE, decision_words
from agent_magics.frontends.summary import printed, safe_line
from agent_magics.frontends.theme import Tone
from agent_magics.messages import ToolCall, ToolResult
from agent_magics.plain import reason_of
from agent_magics.policy import Answer, Verdict

TAIL = 2_000
"""Characters that are kept of a running call's output."""
WHY = 160
"""Characters of a failure's reason in the one line."""
RAN = ("done", "failed")
"""Outcomes of calls that ran."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What is known of a call so far.

    Args:
        key: The block's place.
        call: As the model wrote it.
        title: Its one-line summary.
        verdict: What the policy said.
        question: What a person is asked, or was.
        answer: What they said.
        ran: As it runs or ran, once it started.
        tail: The end of its live output.
        result: What came back.
        outcome: As in `CallFinished`; `unfinished`: the turn ended before.
        seconds: How long it ran.
    """

    key: str
    call: ToolCall
    title: str
    verdict: Verdict | None = None
    question: Question | None = None
    answer: Answer | None = None
    ran: ToolCall | None = None
    tail: str = ""
    result: ToolResult | None = None
    outcome: str = ""
    seconds: float = 0.0

    def with_progress(self, text: str) -> CallRecord:
        """The record with a piece of live output; only its end is kept."""
        return replace(self, tail=(self.tail + text[-TAIL:])[-TAIL:])

    @property
    def edited(self) -> str | None:
        """The arguments that a person wrote in place of the model's."""
        return self.answer.arguments if self.answer else None

    @property
    def shown_title(self) -> str:
        """The title, safe; where a person edited what it names, it names what ran."""
        title, before = self.title, object_of(self.call.arguments) or {}
        after = object_of(self.edited or "") or {}
        for name, value in before.items():
            changed = after.get(name)
            if isinstance(changed, str) and title.endswith(f" {value}"):
                return safe_line(title.removesuffix(str(value)) + changed, TITLE)
        return safe_line(title, TITLE)

    @property
    def untold(self) -> bool:
        """Whether there is an argument that the title does not show whole."""
        values = object_of(self.call.arguments)
        if values is None:
            return bool(self.call.arguments)
        operand = self.shown_title.removeprefix(safe_line(self.call.name, NAME)).strip()
        return any(value != operand for value in values.values())


@dataclass(frozen=True, slots=True)
class State:
    """Where a call stands.

    Args:
        sign: One character.
        word: What it means.
        tone: Its colour.
        said: Whether the line says the word, too.
    """

    sign: str
    word: str
    tone: Tone
    said: bool = True


_FINISHED = {
    "done": State("✓", "done", "good", said=False),
    "failed": State("✗", "failed", "bad"),
    "refused": State("⊘", "not run", "warn", said=False),
    "denied": State("⊘", "denied by policy", "warn"),
    "invalid": State("✗", "not run", "bad"),
    "unfinished": State("✗", "not finished", "bad"),
}
_WAITING = State("?", "waiting for your answer", "warn")
_RUNNING = State("▸", "running", "plain")
_PROPOSED = State("▸", "proposed", "plain", said=False)


def state_of(record: CallRecord) -> State:
    """Where the call stands."""
    if record.outcome:
        return _FINISHED.get(record.outcome, _FINISHED["unfinished"])
    if record.question and record.answer is None:
        return _WAITING
    return _RUNNING if record.ran else _PROPOSED


def words_of(record: CallRecord) -> list[str]:
    """The decision, and how it went."""
    state = state_of(record)
    words = []
    if record.answer:
        words.append(decision_words(record.answer))
    elif record.outcome == "refused":
        words.append("denied with a call before it")
    elif record.verdict and record.verdict.decision == "allow":
        words.append("allowed")
    if state.said:
        why = why_of(record)
        words.append(f"{state.word}: {why}" if why else state.word)
    return words


def why_of(record: CallRecord) -> str:
    """Why it went wrong, in one line; empty where it did not."""
    if record.outcome == "denied" and record.verdict:
        return safe_line(record.verdict.reason, WHY)
    if record.outcome in ("failed", "invalid") and record.result:
        return safe_line(reason_of(printed(record.result.text)), WHY)
    if record.outcome == "unfinished" and record.question and not record.answer:
        return "it was not run, since it was not answered"
    return ""
