"""What a session's file says, line by line, as values. Pure; `lines` makes JSON of them.

    {"kind":"session","schema":1,"id":"k3f9qa","name":"default","folder":"/…","created":"…"}
    {"kind":"turn","at":"…","model":"…","skills":[["explore","<digest>"]],"message":{…}}
    {"kind":"message","message":{"role":"assistant","text":"…","calls":[…]}}
    {"kind":"call","id":"…","title":"…","decision":"allow","by":"policy","runs":true}
    {"kind":"called","id":"…","outcome":"done","seconds":0.2}
    {"kind":"message","message":{"role":"tool","call":"…","text":"…"}}
    {"kind":"end","reason":"answered","usage":{…},"total":{…},"seconds":4.1,"requests":2}

The first line is always the first of these; its schema is raised when a reader of an older one
would misread a file. Kinds that a reader does not know are left out. `kind` stands first in every
line, so that a listing can pick lines without reading them as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agent_magics.differences import Comparison
from agent_magics.messages import Conversation, Message, Usage, User
from agent_magics.policy import Rule

SCHEMA = 1
"""The schema that this version writes, and the newest that it reads."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line.

    Args:
        id: Unique among the person's sessions; short enough to be typed.
        name: What the person called the conversation at first.
        folder: The workspace it was held in.
        created: When, in ISO 8601.
        parent: The session it was forked from, if any.
        schema: See `SCHEMA`.
    """

    id: str
    name: str
    folder: str
    created: str
    parent: str = ""
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A prompt was taken; `skills` holds (name, digest) pairs."""

    at: str
    prompt: User
    model: str = ""
    skills: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """The conversation is longer by this message, as `messages.appended` does it."""

    message: Message


@dataclass(frozen=True, slots=True)
class CallDecided:
    """What was decided about a call; written before it runs.

    Args:
        id: The call's.
        title: Its one line.
        decision: `allow`, `deny`, `approved`, `refused`, or empty for a call that was never judged.
        by: Who decided; see `Answer.by`.
        reason: The words that came with it.
        arguments: What runs, if the person changed it.
        runs: Whether it runs from now on.
    """

    id: str
    title: str = ""
    decision: str = ""
    by: str = ""
    reason: str = ""
    arguments: str | None = None
    runs: bool = False


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has its result, which follows as a message; `outcome` as in `CallFinished`."""

    id: str
    outcome: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Replaced:
    """The conversation is its first `keep` messages and these."""

    keep: int
    messages: Conversation


@dataclass(frozen=True, slots=True)
class RulesSet:
    """All rules that the person set in the session."""

    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class KeptSkill:
    """A skill that was in force: what it takes to find it again, and to see that it changed."""

    name: str
    digest: str
    root: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class SkillsSet:
    """All skills that are in force for the session, in the order of their use."""

    skills: tuple[KeptSkill, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """The session has another name from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The turn was a replay, and this is what went otherwise."""

    comparison: Comparison


@dataclass(frozen=True, slots=True)
class TurnClosed:
    """A turn ended; `total` are the tokens of the session up to here, `cost` that of the turn."""

    reason: str
    usage: Usage = Usage()
    total: Usage = Usage()
    seconds: float = 0.0
    requests: int = 0
    text: str = ""
    cost: float | None = None


Entry: TypeAlias = (
    Head
    | TurnBegan
    | Said
    | CallDecided
    | CallEnded
    | Replaced
    | RulesSet
    | SkillsSet
    | Named
    | Compared
    | TurnClosed
)
