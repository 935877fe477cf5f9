"""A session's file read as a whole: the conversation to go on from, and the story to look at.

The two are not the same: a conversation may have been shortened for the model, the story has all
that was said. Pure but for the lines that it is given. Whatever lines are cut off, missing or
unreadable, what comes out is a conversation that the next prompt can follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from agent_magics.differences import Comparison
from agent_magics.errors import UsageProblem
from agent_magics.messages import (
    Assistant,
    Conversation,
    Message,
    ToolResult,
    Usage,
    User,
    appended,
    closed,
    turns,
    unanswered,
)
from agent_magics.policy import Rule
from agent_magics.pricing import total_cost
from agent_magics.records.entries import (
    SCHEMA,
    CallDecided,
    CallEnded,
    Compared,
    Entry,
    Head,
    KeptSkill,
    Named,
    Replaced,
    RulesSet,
    Said,
    SkillsSet,
    TurnBegan,
    TurnClosed,
)
from agent_magics.records.lines import entry_of

BROKE_OFF = "the kernel ended"
"""Why a turn has no end, for the model to read."""
NEVER_RAN = "Not run: the kernel ended before this call was started."


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One turn as it went.

    Args:
        began: The prompt and what was in force.
        messages: All that was said, the prompt first.
        decided: What was decided about its calls, by their ids.
        ended: How its calls ended, by their ids.
        closed: How it ended; None: the kernel ended first.
        replay: What went otherwise than in the recording that was played, if one was.
    """

    began: TurnBegan
    messages: Conversation
    decided: dict[str, CallDecided] = field(default_factory=dict)
    ended: dict[str, CallEnded] = field(default_factory=dict)
    closed: TurnClosed | None = None
    replay: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A session as its file tells it.

    Args:
        head: The first line.
        name: What the person calls it now.
        recorded: The conversation as the lines say, possibly open.
        usage: Tokens of all turns.
        rules: What the person allowed, asked for and denied in it.
        skills: What was in force, in the order of use.
        turns: The story.
        started: Calls that ran, or began to.
        damaged: Lines in the middle that could not be read.
        cost: Of all turns whose price was known; None: of none.
    """

    head: Head
    name: str
    recorded: Conversation = ()
    usage: Usage = Usage()
    rules: tuple[Rule, ...] = ()
    skills: tuple[KeptSkill, ...] = ()
    turns: tuple[StoredTurn, ...] = ()
    started: frozenset[str] = frozenset()
    damaged: int = 0
    cost: float | None = None

    @property
    def conversation(self) -> Conversation:
        """The conversation with every open call answered, for the next prompt to follow."""
        sound = _sound(self.recorded)
        waiting = {call.id for call in unanswered(sound)}
        return tuple(
            replace(message, text=NEVER_RAN)
            if isinstance(message, ToolResult)
            and message.call_id in waiting
            and message.call_id not in self.started
            else message
            for message in closed(sound, BROKE_OFF)
        )

    @property
    def cut_calls(self) -> tuple[str, ...]:
        """The tools whose calls were running when the kernel ended."""
        waiting = unanswered(_sound(self.recorded))
        return tuple(call.name for call in waiting if call.id in self.started)

    @property
    def broke_off(self) -> bool:
        """Whether the kernel ended in the middle of a turn."""
        return bool(self.turns) and self.turns[-1].closed is None


def read_lines(lines: Iterable[bytes]) -> Stored:
    """A file's lines as one value.

    Args:
        lines: With or without their ends; a last one that was half written is left out.

    Raises:
        UsageProblem: It is no session, or one of a newer version.
    """
    story: _Story | None = None
    damaged, bad_last = 0, False
    for line in lines:
        if not line.strip():
            continue
        damaged, bad_last = damaged + bad_last, False
        try:
            entry = entry_of(line)
        except ValueError:
            bad_last = True
            if story is None:
                break
            continue
        if story is None:
            if not isinstance(entry, Head):
                break
            story = _Story(_readable(entry))
        elif entry is not None:
            story.take(entry)
    if story is None:
        raise UsageProblem("Its first line cannot be read, so nothing of it can; delete it.")
    return story.told(damaged)


def held(name: str, conversation: Conversation, usage: Usage) -> Stored:
    """A session that is not on disk, as far as its conversation tells."""
    told = tuple(_taken_over(part).told() for part in turns(conversation))
    return Stored(Head("", name, "", ""), name, conversation, usage, turns=told)


def _readable(head: Head) -> Head:
    if head.schema > SCHEMA:
        raise UsageProblem(
            f"Session {head.id} was written by a newer agent_magics (schema {head.schema}; this "
            f"one reads up to {SCHEMA}). Update agent_magics; the file is left as it is."
        )
    return head


@dataclass(slots=True)
class _Turn:
    began: TurnBegan
    messages: list[Message]
    decided: dict[str, CallDecided] = field(default_factory=dict)
    ended: dict[str, CallEnded] = field(default_factory=dict)
    closed: TurnClosed | None = None
    replay: Comparison | None = None

    def told(self) -> StoredTurn:
        messages = tuple(self.messages)
        return StoredTurn(self.began, messages, self.decided, self.ended, self.closed, self.replay)


class _Story:
    """Takes the entries one by one."""

    def __init__(self, head: Head) -> None:
        self._head, self._name = head, head.name
        self._conversation: list[Message] = []
        self._usage = Usage()
        self._rules: tuple[Rule, ...] = ()
        self._skills: tuple[KeptSkill, ...] = ()
        self._turns: list[_Turn] = []
        self._started: set[str] = set()
        self._cost: float | None = None

    def told(self, damaged: int) -> Stored:
        return Stored(
            self._head,
            self._name,
            tuple(self._conversation),
            self._usage,
            self._rules,
            self._skills,
            tuple(turn.told() for turn in self._turns),
            frozenset(self._started),
            damaged,
            self._cost,
        )

    def take(self, entry: Entry) -> None:
        match entry:
            case TurnBegan():
                self._turns.append(_Turn(entry, [entry.prompt]))
                self._conversation.append(entry.prompt)
            case Said(message):
                self._said(message)
            case Replaced(keep, messages):
                self._replaced(keep, messages)
            case RulesSet(rules):
                self._rules = rules
            case SkillsSet(skills):
                self._skills = skills
            case Named(name):
                self._name = name
            case Head():
                pass
            case _:
                self._told_of_turn(entry)

    def _told_of_turn(self, entry: CallDecided | CallEnded | Compared | TurnClosed) -> None:
        turn = self._turns[-1] if self._turns else _Turn(TurnBegan("", User("")), [])
        match entry:
            case CallDecided():
                turn.decided[entry.id] = entry
                if entry.runs:
                    self._started.add(entry.id)
            case CallEnded():
                turn.ended[entry.id] = entry
            case Compared(comparison):
                turn.replay = comparison
            case TurnClosed():
                turn.closed = entry
                self._usage = entry.total
                self._cost = total_cost(self._cost, entry.cost)

    def _said(self, message: Message) -> None:
        _append(self._conversation, message)
        if self._turns:
            _append(self._turns[-1].messages, message)
        if isinstance(message, Assistant):
            self._usage += message.usage

    def _replaced(self, keep: int, messages: Conversation) -> None:
        self._conversation[keep:] = messages
        parts = turns(tuple(self._conversation))
        if not self._turns:
            # A fork of what was not saved: its story begins with what it took over.
            self._turns = [_taken_over(part) for part in parts]
        elif self._turns[-1].closed is None and parts:
            # An interrupted turn: the answers that its open calls were given belong to its story.
            turn = self._turns[-1]
            if len(parts[-1]) >= len(turn.messages) and parts[-1][0] == turn.messages[0]:
                turn.messages = list(parts[-1])


def _taken_over(part: Conversation) -> _Turn:
    prompt = part[0] if isinstance(part[0], User) else User("")
    return _Turn(TurnBegan("", prompt), list(part), closed=TurnClosed("answered"))


def _append(messages: list[Message], message: Message) -> None:
    """`messages.appended`, without copying all that stands before."""
    messages[-1:] = appended(tuple(messages[-1:]), message)


def _sound(conversation: Conversation) -> Conversation:
    """The conversation without results that answer nothing, which a lost line leaves behind."""
    open_ids: set[str] = set()
    kept: list[Message] = []
    for message in conversation:
        if isinstance(message, ToolResult):
            if message.call_id not in open_ids:
                continue
            open_ids.discard(message.call_id)
        elif isinstance(message, Assistant):
            open_ids.update(call.id for call in message.calls)
        kept.append(message)
    return tuple(kept)
