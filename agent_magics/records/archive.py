"""The folder of all sessions: listing, searching, finding, reading, deleting, expiry.

Owns the names of the files. A file that cannot be read never hides another, and one that a newer
version wrote is never touched.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path

from agent_magics.errors import UsageProblem
from agent_magics.messages import User
from agent_magics.records.entries import (
    SCHEMA,
    Entry,
    Head,
    Named,
    Replaced,
    TurnBegan,
)
from agent_magics.records.journal import InUse, Journal, in_use, whole_lines
from agent_magics.records.lines import entry_of, line_of
from agent_magics.records.stored import Stored, read_lines

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""The characters of an id: those that nobody takes for others."""
ID_LENGTH = 6

_TOLD = (b'{"kind":"turn"', b'{"kind":"name"', b'{"kind":"conversation"')
"""How the lines begin that a listing reads."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a listing says of one session.

    Args:
        path: Its file.
        head: The first line.
        name: What the person calls it now.
        prompts: What was asked, in order.
        changed: When the file was last written.
        size: Its length in bytes.
    """

    path: Path
    head: Head
    name: str
    prompts: tuple[str, ...]
    changed: datetime
    size: int

    @property
    def id(self) -> str:
        """What a person types."""
        return self.head.id

    @property
    def title(self) -> str:
        """The first line of the first prompt."""
        first = next((prompt for prompt in self.prompts if prompt.strip()), "")
        return first.strip().split("\n")[0]

    def says(self, words: str) -> bool:
        """Whether each of the words stands in its name, its id or its prompts."""
        text = "\n".join((self.id, self.name, *self.prompts)).casefold()
        return all(word in text for word in words.casefold().split())


@dataclass(frozen=True, slots=True)
class Archive:
    """The folder.

    Args:
        folder: Made with the first session.
        now: The time, with its zone.
    """

    folder: Path
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())

    def summaries(self) -> tuple[Summary, ...]:
        """Every session that can be read, newest first."""
        found = [summary for path in self._paths() if (summary := _summary(path)) is not None]
        return tuple(sorted(found, key=lambda s: (s.changed, s.path.name), reverse=True))

    def find(self, word: str, folder: str = "", *, alone: bool = False) -> Summary:
        """The session that a word means: its id, the beginning of it, or its name.

        Args:
            word: What the person typed.
            folder: Where they are: of several with this name, the newest of this folder is meant …
            alone: … unless a name must be of one session alone.

        Raises:
            UsageProblem: None is meant, or several.
        """
        known = self.summaries()
        # Newest first, but those of this folder before all others.
        named = sorted((s for s in known if s.name == word), key=lambda s: s.head.folder != folder)
        for meant in (
            [s for s in known if s.id == word],
            named if alone else named[:1],
            [s for s in known if s.id.startswith(word)],
        ):
            if len(meant) == 1:
                return meant[0]
            if meant:
                ids = ", ".join(sorted(s.id for s in meant))
                raise UsageProblem(f"{word!r} can mean several sessions: {ids}.")
        self._say_unreadable(word)
        names = [*(s.id for s in known), *dict.fromkeys(s.name for s in known)]
        near = get_close_matches(word, names, n=2)
        hint = f"Did you mean {' or '.join(near)}?" if near else "%agent sessions lists them."
        raise UsageProblem(f"There is no saved session {word!r}. {hint}")

    def read(self, summary: Summary) -> Stored:
        """All of a session.

        Raises:
            UsageProblem: It cannot be read.
        """
        try:
            return read_lines(whole_lines(summary.path))
        except OSError as error:
            raise UsageProblem(
                f"Session {summary.id} cannot be read: {error.strerror or error}."
            ) from error

    def in_use(self, summary: Summary) -> bool:
        """Whether a kernel, this one included, has the session open."""
        return in_use(summary.path)

    def delete(self, summary: Summary) -> None:
        """Remove a session for good.

        Raises:
            UsageProblem: A kernel has it open, or it cannot be removed.
        """
        try:
            journal = Journal.opened(summary.path)
        except InUse as error:
            raise UsageProblem(
                f"Session {summary.id} is open in a kernel; end that first."
            ) from error
        except OSError:
            journal = None
        try:
            summary.path.unlink()
        except OSError as error:
            raise UsageProblem(
                f"Session {summary.id} cannot be deleted: {error.strerror or error}."
            ) from error
        finally:
            if journal is not None:
                journal.close()

    def expire(self, days: int) -> int:
        """Remove the sessions that were not written for some days, but none that is open.

        Args:
            days: 0: none is ever removed.

        Returns:
            How many were removed.
        """
        removed = 0
        now = self.now()
        for path in tuple(self._paths()) if days > 0 else ():
            with contextlib.suppress(OSError, UsageProblem):
                age = now - _changed(path)
                if age < timedelta(days=days):
                    continue
                summary = _summary(path)
                if summary is not None:
                    self.delete(summary)
                    removed += 1
                elif next(iter(whole_lines(path)), None) is None:
                    path.unlink()  # a crash at its very beginning: there is nothing in it
        return removed

    def new_head(self, name: str, folder: str, parent: str = "") -> Head:
        """The first line of a session to be made, with an id that is free."""
        now = self.now()
        while True:
            ident = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
            if not any(path.stem.endswith(f"-{ident}") for path in self._paths()):
                return Head(ident, name, folder, now.isoformat(timespec="seconds"), parent)

    def path_of(self, head: Head) -> Path:
        """Where a session lies; the names sort by age."""
        day = "".join(c for c in head.created[:19] if c.isdigit())
        return self.folder / f"{day}-{head.id}.jsonl"

    def copy(self, path: Path, head: Head) -> Journal:
        """The lines of a session's file in a new one, below another first line.

        Raises:
            OSError: It cannot be read or made.
        """
        _, *rest = whole_lines(path)
        ended = (line if line.endswith(b"\n") else line + b"\n" for line in rest)
        return Journal.created(self.path_of(head), line_of(head) + b"".join(ended))

    def _paths(self) -> Iterator[Path]:
        # A folder that cannot be read holds nothing to list; writing to it says what is wrong.
        with contextlib.suppress(OSError):
            yield from self.folder.glob("[0-9]*-*.jsonl")

    def _say_unreadable(self, word: str) -> None:
        """Tell why a session that is meant by its id is not listed."""
        for path in self._paths():
            if path.stem.rpartition("-")[2] == word:
                read_lines(whole_lines(path))


def _summary(path: Path) -> Summary | None:
    """None where the file cannot be read here: cut in its first line, or of a newer version."""
    try:
        told = [entry for line in _telling(path) if (entry := _tolerant(line)) is not None]
        size, changed = path.stat().st_size, _changed(path)
    except OSError:
        return None
    head = told[0] if told else None
    if not isinstance(head, Head) or head.schema > SCHEMA:
        return None
    names = [entry.name for entry in told if isinstance(entry, (Head, Named))]
    return Summary(path, head, names[-1], tuple(_prompts(told)), changed, size)


def _telling(path: Path) -> Iterator[bytes]:
    for number, line in enumerate(whole_lines(path)):
        if number == 0 or line.startswith(_TOLD):
            yield line


def _tolerant(line: bytes) -> Entry | None:
    try:
        return entry_of(line)
    except ValueError:
        return None


def _prompts(told: list[Entry]) -> Iterator[str]:
    began = False
    for entry in told:
        match entry:
            case TurnBegan(_, prompt):
                began = True
                yield prompt.text
            case Replaced(_, messages) if not began:
                # A conversation that was begun before it was saved.
                yield from (m.text for m in messages if isinstance(m, User))
            case _:
                pass


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
