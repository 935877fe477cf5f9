"""Recordings that the sessions of a kernel write, and what a recording means for a turn.

Owns the files: who may write to which, that none is overwritten, that a full disk never breaks a
turn. What stands in them is `providers.taping`'s business, what is played `providers.replay`'s.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from agent_magics.differences import Places
from agent_magics.errors import ConfigError, ReplayDiffers, ToolError, UsageProblem
from agent_magics.events import Event, ReplayCompared, TurnEnded
from agent_magics.magics.own_files import Sort, opened, refusal
from agent_magics.plain import visible
from agent_magics.ports import Model
from agent_magics.providers.recording_lines import (
    MAX_BYTES,
    header_line,
    is_recording,
    load_recording,
)
from agent_magics.providers.replay import ReplayModel
from agent_magics.providers.stand_ins import stand_ins
from agent_magics.providers.taping import TapedModel, TurnTape
from agent_magics.records.journal import Journal
from agent_magics.result import TurnResult
from agent_magics.session import Session
from agent_magics.tool import Tool
from agent_magics.tools.plain import counted
from agent_magics.tools.workspace import Workspace

Skills = tuple[tuple[str, str], ...]
SORT = Sort("%agent record", "recording", is_recording)


def told_nobody(_text: str) -> None:
    """Where nobody is to be told."""


@dataclass(slots=True)
class Tape:
    """One open file.

    Args:
        shown: Its name, as the person gave it.
        journal: The file.
        turns: How many turns it held when it was opened.
        numbers: Gives the numbers of further turns.
        answers: How many answers were written since then.
        problem: Why nothing is written any more, if that is so.
    """

    shown: str
    journal: Journal
    turns: int
    numbers: Iterator[int]
    answers: int = 0
    problem: str = ""

    def write(self, line: bytes) -> None:
        """Append a line, unless something failed before. Never raises."""
        if self.problem:
            return
        self.problem = refusal(self.journal, line, MAX_BYTES, f"{MAX_BYTES:,} bytes")
        if not self.problem:
            self.answers += 1

    def sync(self) -> None:
        """Wait until the disk has it."""
        if not self.problem:
            try:
                self.journal.sync()
            except OSError as error:
                self.problem = error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class Taped:
    """What recording and replaying change about one turn.

    Args:
        model: Who answers.
        observers: Take the turn's events.
        played: The model if it is a replay.
        tape: The file that the turn is written to, if any.
        warn: Tells the person.
    """

    model: Model
    observers: tuple[Callable[[Event], None], ...] = ()
    played: ReplayModel | None = None
    tape: Tape | None = None
    warn: Callable[[str], None] = told_nobody

    def tools(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools of the turn, or what answers in their place."""
        if self.played is None or self.played.replay.tools != "recorded":
            return tools
        return stand_ins(tools, self.played)

    def epilogue(self, ended: TurnEnded) -> tuple[Event, ...]:
        """What is told right before the end of the turn."""
        if self.tape is not None:
            self.tape.sync()
            if self.tape.problem:
                self.warn(f"Nothing more is recorded in {self.tape.shown}: {self.tape.problem}.")
        compared = None if self.played is None else self.played.comparison(ended)
        return () if compared is None else (ReplayCompared(compared),)


@dataclass(slots=True)
class Tapes:
    """The recordings of one kernel.

    Args:
        workspace: Where files are looked for, and what takes secrets out.
    """

    workspace: Workspace
    _open: list[tuple[Session, Tape]] = field(default_factory=list)

    def of(self, session: Session) -> Tape | None:
        """The file that a session is recorded in."""
        return next((tape for known, tape in self._open if known is session), None)

    def others(self, session: Session) -> tuple[tuple[str, str], ...]:
        """Names of other sessions that are recorded, and of their files."""
        return tuple((s.name, tape.shown) for s, tape in self._open if s is not session)

    def start(self, session: Session, words: str) -> Tape:
        """Record a session from now on.

        Args:
            session: Which.
            words: The file, relative to the workspace; a recording is added to.

        Raises:
            UsageProblem: The file cannot be used; the message says why.
        """
        known = self.of(session)
        if known is not None:
            raise UsageProblem(
                f"This session is recorded in {known.shown} already: %agent record stop first."
            )
        tape = _opened(words, self.workspace, session.name)
        self._open.append((session, tape))
        return tape

    def stop(self, session: Session) -> Tape | None:
        """Record a session no longer; gives the file it was recorded in."""
        tape = self.of(session)
        if tape is not None:
            tape.sync()
            tape.journal.close()
            self._open = [pair for pair in self._open if pair[1] is not tape]
        return tape

    def close(self) -> None:
        """Give all files free."""
        for session, _ in tuple(self._open):
            self.stop(session)

    def turn(
        self,
        session: Session,
        model: Model,
        prompt: str = "",
        skills: Skills = (),
        warn: Callable[[str], None] = told_nobody,
    ) -> Taped:
        """A turn with its recording, and with the recording that it plays.

        Args:
            session: Whose turn it is.
            model: Who answers.
            prompt: What the person wrote; empty where a conversation is only shortened.
            skills: Name and digest of what is active.
            warn: Tells the person.
        """
        observers: list[Callable[[Event], None]] = []
        played = model if isinstance(model, ReplayModel) else None
        if played is not None:
            played.begin(prompt, skills, self.workspace.redact)
            observers.append(played.observe)
        tape = self.of(session)
        if tape is not None and not tape.problem:
            places = self._places()
            writer = TurnTape(
                tape.write, warn, self.workspace.redact, places, tape.numbers, prompt, skills
            )
            observers.append(writer.observe)
            model = TapedModel(model, writer)
        return Taped(model, tuple(observers), played, tape, warn)

    def _places(self) -> Places:
        try:
            roots: tuple[str, ...] = (str(self.workspace.root()),)
        except ToolError:
            roots = ()
        return Places(roots, str(Path.home()))


def checked(result: TurnResult) -> TurnResult:
    """The result of a turn, where a strict replay went as it was recorded.

    Raises:
        ReplayDiffers: It did not.
    """
    compared = result.replay
    if compared is not None and compared.strict and compared.differences:
        first, count = compared.differences[0], len(compared.differences)
        # Where only the error is seen, as in a log of CI, it tells what is otherwise.
        lines = "".join(f"\n  {line}" for line in first.lines())
        told = f"{counted(count, 'difference')} from the recording. {first.kind}: {first.where}"
        raise ReplayDiffers(visible(f"The strict replay of {compared.file} has {told}{lines}"))
    return result


def _opened(words: str, workspace: Workspace, title: str) -> Tape:
    journal = opened(words, workspace, SORT)
    try:
        if journal.size == 0:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            journal.append(header_line(title, now))
            journal.sync()
        numbers = [r.turn or 0 for r in load_recording(journal.path).replies]
    except (OSError, ConfigError) as error:
        journal.close()
        raise UsageProblem(f"{words} cannot be recorded to. {error}") from error
    return Tape(words, journal, len(set(numbers)), itertools.count(max(numbers, default=0) + 1))


def state_of(tape: Tape) -> str:
    """One line about an open file."""
    if tape.problem:
        return f"Nothing more is recorded in {tape.shown}: {tape.problem}."
    before = f", after {counted(tape.turns, 'turn')} that it had" if tape.turns else ""
    return f"This session is recorded in {tape.shown}: {counted(tape.answers, 'answer')}{before}."


def names_of(others: Sequence[tuple[str, str]]) -> str:
    """What else is recorded, in words."""
    return "".join(f" Session {name} is recorded in {file}." for name, file in others)
