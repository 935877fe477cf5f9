"""Where a replay stands: which turn of a file comes next, and how far a dialogue was played."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from agent_magics.messages import Assistant, Conversation, ToolCall, ToolResult, User
from agent_magics.providers.recording import Kind, Recording, Result


@dataclass(slots=True)
class Replay:
    """A file that is played in one kernel: which of several turns with one prompt comes next.

    Args:
        recording: What it holds.
        file: Its name, as the person gave it.
        strict: Whether what is otherwise than recorded is an error.
        tools: `run`, or `recorded`: calls are answered from the file.
    """

    recording: Recording
    file: str
    strict: bool = False
    tools: str = "run"
    _asked: Counter[tuple[Kind, str]] = field(default_factory=Counter)

    def turn(self, kind: Kind, prompt: str) -> int | None:
        """The turn to play; those with the same prompt in their order, then from the first again.

        Raises:
            LookupError: The file has none.
        """
        turns = self.recording.turns(kind, prompt)
        if not turns:
            raise LookupError(prompt)
        number = self._asked[kind, prompt]
        self._asked[kind, prompt] += 1
        return turns[number % len(turns)]


@dataclass(slots=True)
class Lane:
    """One dialogue that is played: the turn's own, or a sub-agent's.

    Args:
        kind: Which of the two.
        prompt: What it answers, as recordings spell it.
        places: Of its replies in the recording.
        summaries: Of the summaries that were made in the turn.
        step: How many replies were played.
        played: Their places.
        calls: Of the newest reply.
        waiting: The arguments and the recorded results of those that nobody asked for yet.
    """

    kind: Kind
    prompt: str
    places: tuple[int, ...]
    summaries: tuple[int, ...] = ()
    step: int = 0
    played: list[int] = field(default_factory=list)
    calls: tuple[ToolCall, ...] = ()
    waiting: list[tuple[str, Result]] = field(default_factory=list)


def same_arguments(first: str, second: str) -> bool:
    """Whether two JSON texts mean the same."""
    return bool(json.loads(first) == json.loads(second))


def newest_prompt(conversation: Conversation) -> str:
    """What the person said last."""
    return next((m.text for m in reversed(conversation) if isinstance(m, User)), "")


def answers_since(conversation: Conversation) -> int:
    """How many answers the newest prompt has had."""
    step = 0
    for message in conversation:
        step = 0 if isinstance(message, User) else step + isinstance(message, Assistant)
    return step


def results_since(conversation: Conversation) -> tuple[ToolResult, ...]:
    """The results since the last answer."""
    found: list[ToolResult] = []
    for message in reversed(conversation):
        if not isinstance(message, ToolResult):
            break
        found.append(message)
    return tuple(reversed(found))
