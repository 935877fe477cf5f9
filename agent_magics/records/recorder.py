"""Writes a session while it happens: from events to lines, before and after each call.

Owns when something is written, and that a disk which is full or read-only never breaks a turn. The
file holds what the session holds: where the two came apart (an interrupt, a full disk that has
room again, a shortened conversation), the next line brings them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent_magics.events import (
    ApprovalGiven,
    CallFinished,
    CallJudged,
    CallProposed,
    CallStarted,
    Compacted,
    Event,
    MessageAdded,
    PolicyChanged,
    ReplayCompared,
    TurnEnded,
    TurnStarted,
)
from agent_magics.messages import Conversation, User
from agent_magics.policy import Rule
from agent_magics.records.archive import Archive
from agent_magics.records.encoding import Redact
from agent_magics.records.entries import (
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
from agent_magics.records.journal import Journal
from agent_magics.records.lines import line_of
from agent_magics.session import Session

Observer: TypeAlias = Callable[[Event], None]
Warn: TypeAlias = Callable[[str], None]


@dataclass(slots=True)
class Written:
    """What the file holds now, as far as it is needed to write the next line."""

    conversation: Conversation = ()
    rules: tuple[Rule, ...] = ()
    skills: tuple[KeptSkill, ...] = ()
    name: str = ""


class Recorder:
    """Writes one session.

    Args:
        session: What is written.
        archive: Where.
        head: The first line of the file, for one that is still to be made.
        discreet: Gives, afresh for each turn, what takes secrets out of a text.
        journal: The file, if there is one.
        written: What it holds.
    """

    def __init__(
        self,
        session: Session,
        archive: Archive,
        head: Head,
        discreet: Callable[[], Redact],
        journal: Journal | None = None,
        written: Written | None = None,
    ) -> None:
        self.session = session
        self.head = head
        self.problem = ""
        self._archive = archive
        self._discreet = discreet
        self._redact: Redact = str
        self._journal = journal
        self._written = written or Written()
        self._turn: TurnStarted | None = None
        self._ended: TurnEnded | None = None
        self._titles: dict[str, str] = {}
        self._decided: dict[str, CallDecided] = {}
        self._broken = False
        self._warn: Warn = _nobody

    @property
    def journal(self) -> Journal | None:
        """The file; None before the first turn, or when it could not be made."""
        return self._journal

    @property
    def written(self) -> Written:
        """What the file holds."""
        return replace(self._written)

    @contextmanager
    def turn(self, warn: Warn) -> Iterator[Observer]:
        """Record what happens inside; gives the observer of a turn's events.

        Args:
            warn: Told once, in one sentence, when the session is not saved.
        """
        self._warn, self._broken = warn, False
        self._guarded(self._catch_up)
        try:
            yield self.observe
        finally:
            self._guarded(self._finish)

    def save(self) -> None:
        """Bring the file up to date; `problem` says why it is not."""
        self._broken = False
        self._guarded(self._catch_up)
        self._guarded(self._sync)

    def close(self) -> None:
        """Give the file free."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def observe(self, event: Event) -> None:
        """Take one event, after the session has taken it. Never raises."""
        self._guarded(lambda: self._take(event))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do it, unless something failed before; the lines of a turn have no gap."""
        if self._broken:
            return
        try:
            work()
        except Exception as error:  # noqa: BLE001  # whatever is off with the disk, the turn goes on
            self._broken = True
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            known, self.problem = self.problem, reason
            if not known:
                self._warn(
                    f"This conversation is not being saved ({reason}); the turn goes on. "
                    "%agent log says where it would be."
                )

    def _take(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn, self._ended = event, None
                self._titles.clear()
                self._decided.clear()
            case MessageAdded(User() as prompt) if self._turn is not None:
                at = self._archive.now().isoformat(timespec="seconds")
                self._write(TurnBegan(at, prompt, self._turn.model, self._turn.skills))
                self._turn = None
                self._written.conversation = self.session.conversation
            case MessageAdded(message):
                self._write(Said(message))
                self._written.conversation = self.session.conversation
            case Compacted():
                self._write_conversation()
            case PolicyChanged():
                self._write_rules()
            case ReplayCompared(comparison):
                self._write(Compared(comparison))
            case TurnEnded():
                self._ended = event
            case _:
                self._take_call(event)

    def _take_call(self, event: Event) -> None:
        match event:
            case CallProposed(call, title):
                self._titles[call.id] = title
            case CallJudged(call, verdict):
                decided = CallDecided(
                    call.id, self._title(call.id), verdict.decision, verdict.by, verdict.reason
                )
                self._decided[call.id] = decided
            case ApprovalGiven(question, answer):
                ident = question.call.id
                word = "approved" if answer.allowed else "refused"
                reason = answer.scope.label if answer.scope else answer.reason or question.reason
                if question.hook and answer.reason:
                    reason = f"{answer.reason} (asked, since {question.reason})"
                self._decided[ident] = CallDecided(
                    ident, self._title(ident), word, answer.by, reason
                )
            case CallStarted(call, edited):
                arguments = call.arguments if edited else None
                self._write(replace(self._decision(call.id), arguments=arguments, runs=True))
                self._decided.pop(call.id, None)
                self._titles.pop(call.id, None)
            case CallFinished(call, _, seconds, outcome):
                if call.id in self._titles:
                    self._write(self._decision(call.id))
                self._write(CallEnded(call.id, outcome, seconds))
            case _:
                pass

    def _title(self, ident: str) -> str:
        return self._titles.get(ident, "")

    def _decision(self, ident: str) -> CallDecided:
        return self._decided.get(ident) or CallDecided(ident, self._title(ident))

    def _catch_up(self) -> None:
        """Have the file hold what the session holds; it is made if there is none."""
        self._redact = self._discreet()
        if self._journal is not None and self._journal.gone:
            self.close()
        if self._journal is None:
            self._journal = Journal.created(
                self._archive.path_of(self.head), line_of(self.head, self._redact)
            )
            self._written = Written(name=self.head.name)
        if self.session.name != self._written.name:
            self._write(Named(self.session.name))
            self._written.name = self.session.name
        self._write_rules()
        self._write_skills()
        self._write_conversation()

    def _finish(self) -> None:
        self._catch_up()
        if self._ended is not None:
            event, total = self._ended, self.session.usage
            words = (event.reason, event.usage, total, event.seconds, event.requests, event.text)
            self._write(TurnClosed(*words, cost=event.cost))
        self._sync()

    def _sync(self) -> None:
        if self._journal is not None:
            self._journal.sync()
        self.problem = ""

    def _write(self, entry: Entry) -> None:
        if self._journal is not None:
            self._journal.append(line_of(entry, self._redact))

    def _write_rules(self) -> None:
        rules = self.session.policy.from_source("session")
        if rules != self._written.rules:
            self._write(RulesSet(rules))
            self._written.rules = rules

    def _write_skills(self) -> None:
        skills = tuple(
            KeptSkill(a.skill.name, a.skill.digest, str(a.skill.root), a.arguments)
            for a in self.session.active
        )
        if skills != self._written.skills:
            self._write(SkillsSet(skills))
            self._written.skills = skills

    def _write_conversation(self) -> None:
        """Write where the conversation goes another way than the file's."""
        there, here = self._written.conversation, self.session.conversation
        if there is here:
            return
        if there != here:
            keep = _same(there, here)
            self._write(Replaced(keep, here[keep:]))
        self._written.conversation = here


def _same(there: Conversation, here: Conversation) -> int:
    """How many messages both begin with."""
    count = 0
    for old, new in zip(there, here, strict=False):
        if old is not new and old != new:
            break
        count += 1
    return count


def _nobody(_text: str) -> None:
    """Nobody is to be told; `problem` holds it."""
