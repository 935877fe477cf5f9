"""Everything that can happen in a turn, as a closed list of values.

The loop says these and does nothing else; sessions, renderers, recorders and tests read them.
A new event is a new class here and one more name in `Event`: the type checker then names every
`match` that has to learn it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_magics.differences import Comparison
from agent_magics.messages import Display, Message, ToolCall, ToolResult, Usage
from agent_magics.policy import Answer, Rule, Scope, Verdict


@dataclass(frozen=True, slots=True)
class Question:
    """One call that needs a person's word.

    Args:
        call: What would run.
        title: One line: the tool and its operand.
        preview: What the person must see before answering, whole.
        scopes: The "always" choices on offer, narrowest first.
        reason: Why the policy asks.
        origin: Who brought the tool: `built-in`, `skill NAME`, or `MCP server NAME`.
        outside: Whether the call reaches outside the workspace.
        heading: What a yes means.
        editable: Whether the call may run with other arguments; not where it stands for a question
            of another kind.
        following: How many calls of the same message wait behind this one.
        hook: The hook that wants a person's word; only a person may give it.
    """

    call: ToolCall
    title: str
    preview: tuple[Display, ...] = ()
    scopes: tuple[Scope, ...] = ()
    reason: str = ""
    origin: str = "built-in"
    outside: bool = False
    heading: str = "Run this?"
    editable: bool = True
    following: int = 0
    hook: str = ""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A prompt was taken. `skills` holds (name, digest) pairs of what is active."""

    prompt: str
    model: str
    skills: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the visible answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A call that is still being written by the model.

    Args:
        key: Tells calls of one answer apart.
        name: As far as it is known.
        arguments: The text so far; may be cut anywhere.
    """

    key: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AnswerRestarted:
    """What has been streamed of this answer is void: the connection broke and it is asked again."""

    reason: str


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """The conversation is longer by this message."""

    message: Message


@dataclass(frozen=True, slots=True)
class CallProposed:
    """The model asks for a call. `title` is its one-line summary."""

    call: ToolCall
    title: str


@dataclass(frozen=True, slots=True)
class CallJudged:
    """The policy has spoken about a call."""

    call: ToolCall
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A person is being asked."""

    question: Question


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """A person, or whoever stood in for them, has answered."""

    question: Question
    answer: Answer


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call runs from now on. `edited` tells that a person changed its arguments."""

    call: ToolCall
    edited: bool = False


@dataclass(frozen=True, slots=True)
class CallProgress:
    """Live output of a running call."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call has its result, whether it ran, failed, or was refused.

    Args:
        call: With the arguments that ran.
        result: What the model reads.
        seconds: How long it ran; zero if it did not.
        outcome: `done`, `failed`, `refused`, `denied` (by policy), `invalid` (never judged).
        usage: Tokens that the call itself used.
    """

    call: ToolCall
    result: ToolResult
    seconds: float
    outcome: Literal["done", "failed", "refused", "denied", "invalid"]
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """A rule is in force from now on, since a person said so."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed and is sent again.

    Args:
        reason: What went wrong, in a few words.
        seconds: How long until then.
        attempt: The number of the coming try, from 2.
        limit: How many tries there are.
    """

    reason: str
    seconds: float
    attempt: int
    limit: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know that is neither answer nor call."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True)
class Compacted:
    """Older parts of the conversation were shortened; sizes in tokens, estimated."""

    before: int
    after: int
    conversation: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ReplayCompared:
    """A replayed turn was compared with its recording; comes right before `TurnEnded`."""

    comparison: Comparison


Ending: TypeAlias = Literal[
    "answered", "limit", "interrupted", "failed", "stopped", "cut", "refused"
]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn.

    Args:
        reason: `answered`, `limit`, `interrupted`, `failed`, `stopped` (it went in circles),
            `cut` (the answer hit the output limit, again and again), or `refused` (the model, or
            the provider's filter, would not answer).
        usage: Tokens of the whole turn.
        seconds: Wall time.
        requests: How often the model was asked.
        text: What to tell the person, when the turn did not end with an answer.
        cost: Of the whole turn, in the currency of the prices; None: no prices are known.
    """

    reason: Ending
    usage: Usage
    seconds: float
    requests: int
    text: str = ""
    cost: float | None = None


Event: TypeAlias = (
    TurnStarted
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | AnswerRestarted
    | MessageAdded
    | CallProposed
    | CallJudged
    | ApprovalAsked
    | ApprovalGiven
    | CallStarted
    | CallProgress
    | CallFinished
    | PolicyChanged
    | Retrying
    | Notice
    | Compacted
    | ReplayCompared
    | TurnEnded
)
