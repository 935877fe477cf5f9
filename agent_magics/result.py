"""What a turn came to, as a value for the person: answer, calls, what they changed and cost.

Knows nothing of how it came about; `session` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_magics.differences import Comparison
from agent_magics.findings import Findings, findings_of
from agent_magics.messages import JSON, Conversation, Display, Usage
from agent_magics.namespace.changes import folded
from agent_magics.plain import visible


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as it went.

    Args:
        name: The tool.
        asked: The arguments the model wrote.
        ran: The arguments that ran; None if it did not run.
        decision: `allow`, `deny`, `approved`, `refused`, or empty for calls that were never judged.
        by: Who decided: `policy`, `hook NAME`, or see `Answer.by`.
        reason: The words that came with the decision.
        outcome: See `CallFinished`.
        result: What the model read.
        seconds: How long it ran.
        display: What the person saw in place of `result`, if anything.
    """

    name: str
    asked: JSON
    ran: JSON | None
    decision: str
    by: str
    reason: str
    outcome: str
    result: str
    seconds: float
    display: tuple[Display, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What one turn brought; `%%agent --out NAME` binds it.

    Args:
        text: The final answer.
        prompt: What was asked.
        model: Who answered.
        skills: (name, digest) of what was active.
        calls: Every call, in order.
        conversation: The messages of this turn.
        usage: Tokens.
        reason: Why the turn ended, see `TurnEnded`.
        requests: How often the model was asked.
        seconds: Wall time.
        changed_files: Paths that its tools changed, in order; commands of a shell tell nothing.
        replay: What went otherwise than in the recording that was played; None: none was.
        cost: See `TurnEnded`.
    """

    text: str
    prompt: str
    model: str
    skills: tuple[tuple[str, str], ...]
    calls: tuple[CallRecord, ...]
    conversation: Conversation
    usage: Usage
    reason: str
    requests: int
    seconds: float
    changed_files: tuple[str, ...] = ()
    replay: Comparison | None = None
    cost: float | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def refused(self) -> tuple[CallRecord, ...]:
        """The calls that were not allowed to run."""
        return tuple(call for call in self.calls if call.outcome in ("refused", "denied"))

    @property
    def findings(self) -> Findings:
        """What the turn's calls reported, the most severe first; empty where none reported."""
        return findings_of(item for call in self.calls for item in call.display) or Findings()

    @property
    def changed_names(self) -> dict[str, str]:
        """The variables that code of the turn made, changed or deleted, each with that word."""
        return folded(item for call in self.calls for item in call.display)

    def _repr_pretty_(self, printer: object, _cycle: bool) -> None:
        names = ", ".join(call.name for call in self.calls) or "none"
        printer.text(  # type: ignore[attr-defined]  # IPython's pretty printer has no public type
            visible(
                f"TurnResult({self.reason}, {self.requests} requests, calls: {names})\n{self.text}"
            )
        )
