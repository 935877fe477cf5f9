"""The folder in which copies lie: one folder per turn, with a journal and the contents by digest.

    turns/00001764518716123456789-4242-9f3a/journal.jsonl
                                           /blobs/<SHA-256 of the content>

Owns private permissions, what is on the disk when, the bound on the size, and that two kernels
never get in each other's way: a turn belongs to the process that holds its journal. No link in it
is ever followed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_magics.tools.states import ABSENT, CHUNK, State, link_above, state_of, unfollowed
from agent_magics.undo.disk import FLAGS, lock, private, size, sync_folder, write
from agent_magics.undo.journal import (
    Change,
    Header,
    Journal,
    change_lines,
    header_line,
    read_journal,
)

MAX_TURNS = 200
"""Turns that are kept, whatever their size."""
SYNCED_ONE_BY_ONE = 50
"""New copies up to which each is forced to the disk by itself; of more, all of it at once."""
LEFTOVER = 86_400
"""Seconds after which a folder that no kernel finished is taken away."""
_NEW = ".new-"


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of turns; made at the first one.

    Args:
        folder: In the user's data folder; ours alone.
    """

    folder: Path

    @property
    def turns_folder(self) -> Path:
        """Where the turns lie."""
        return self.folder / "turns"

    def begin(self, header: Header) -> OpenTurn:
        """A new turn, locked until it is closed.

        Raises:
            OSError: The disk refuses.
        """
        private(self.folder)
        private(self.turns_folder)
        suffix = f"{os.getpid()}-{os.urandom(3).hex()}"
        name = f"{time.time_ns():020d}-{suffix}"
        new = self.turns_folder / f"{_NEW}{name}"
        new.mkdir(mode=0o700)
        (new / "blobs").mkdir(mode=0o700)
        handle = os.open(
            new / "journal.jsonl", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | FLAGS, 0o600
        )
        try:
            lock(handle)
            write(handle, header_line(header))
            new.rename(self.turns_folder / name)
            sync_folder(self.turns_folder)
        except BaseException:
            os.close(handle)
            raise
        return OpenTurn(self.turns_folder / name, handle)

    def names(self) -> list[str]:
        """The turns, oldest first."""
        try:
            with os.scandir(self.turns_folder) as scan:
                return sorted(
                    e.name
                    for e in scan
                    if e.is_dir(follow_symlinks=False) and not e.name.startswith(_NEW)
                )
        except OSError:
            return []

    def journals(self) -> Iterator[Journal]:
        """What is kept, newest first; what cannot be read is left out."""
        for name in reversed(self.names()):
            with suppress(OSError, UnicodeDecodeError):
                with unfollowed(self.turns_folder / name / "journal.jsonl") as file:
                    journal = read_journal(name, file.read().decode("utf-8"))
                if journal is not None:
                    yield journal

    def running(self, name: str) -> bool:
        """Whether a kernel is in that turn now."""
        try:
            handle = os.open(self.turns_folder / name / "journal.jsonl", os.O_RDWR | FLAGS)
        except OSError:
            return False
        try:
            return not lock(handle)
        finally:
            os.close(handle)

    def blob(self, name: str, digest: str) -> Path:
        """Where a turn's copy of a content lies."""
        return self.turns_folder / name / "blobs" / digest

    def sound(self, name: str, digest: str) -> bool:
        """Whether the copy of a content is there and is that content."""
        try:
            return state_of(self.blob(name, digest)).digest == digest
        except OSError:
            return False

    def make_room(self, needed: int, limit: int, keep: str = "") -> int:
        """Drop the oldest turns until there is room.

        Args:
            needed: Bytes that will come.
            limit: Bytes that all turns may have.
            keep: A turn that stays, as do running ones.

        Returns:
            Bytes that are left below the limit before anything comes; less than `needed` when
            there is no room.
        """
        self._sweep()
        names = self.names()
        sizes = {name: size(self.turns_folder / name) for name in names}
        total = sum(sizes.values())
        for name in names:
            if total + needed <= limit and len(sizes) <= MAX_TURNS:
                break
            if name != keep and not self.running(name):
                self._drop(name)
                total -= sizes.pop(name)
        return limit - total

    def _drop(self, name: str) -> None:
        folder = self.turns_folder / name
        with suppress(OSError):
            # Without its journal it is no turn any more, whatever happens next.
            (folder / "journal.jsonl").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def _sweep(self) -> None:
        """Take away what a kernel that ended in the middle of `begin` left."""
        with suppress(OSError):
            for entry in list(os.scandir(self.turns_folder)):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFTOVER
                if entry.name.startswith(_NEW) and old:
                    shutil.rmtree(entry.path, ignore_errors=True)


class OpenTurn:
    """A turn that is being written, by this process alone.

    Args:
        folder: The turn's folder.
        handle: Its journal, open and locked.
    """

    def __init__(self, folder: Path, handle: int) -> None:
        self.folder = folder
        self._handle = handle
        self._last: dict[Path, Change] = {}

    @property
    def name(self) -> str:
        """Names the turn."""
        return self.folder.name

    def knows(self, path: Path) -> bool:
        """Whether something of this path was kept already."""
        return path in self._last

    def keep(self, wanted: Sequence[tuple[Path, State]]) -> tuple[Change, ...]:
        """Keep what stands at these paths; on the disk when this returns.

        Args:
            wanted: Paths, and what will stand there.

        Raises:
            OSError: It cannot be read, or there is no room; no change may happen then.
        """
        changes: list[Change] = []
        fresh: list[Path] = []
        for path, will in wanted:
            # Behind a link that takes a folder's place for now, nothing of ours stands.
            was = state_of(path) if link_above(path) is None else ABSENT
            if was.kind == "other":
                raise OSError(None, "not an ordinary file", os.fspath(path))
            if was.kind == "file" and self._needs_copy(path, was):
                was, blob = self._copied(path, was)
                fresh.append(blob)
            change = Change(path, was, will)
            self._last[path] = change
            changes.append(change)
        self._force(fresh)
        write(self._handle, change_lines(changes))
        return tuple(changes)

    def write(self, line: str) -> None:
        """Add a line of the journal.

        Raises:
            OSError: The disk refuses.
        """
        write(self._handle, line)

    def close(self) -> None:
        """End the turn; it can be undone from now on."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _needs_copy(self, path: Path, was: State) -> bool:
        """Only the first content is needed, and one that someone else put there meanwhile."""
        last = self._last.get(path)
        return last is None or not (was.same(last.will) or was.same(last.was))

    def _copied(self, path: Path, seen: State) -> tuple[State, Path]:
        spare = self.folder / "blobs" / f".{os.urandom(6).hex()}"
        digest = hashlib.sha256()
        count = 0
        handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS, 0o600)
        try:
            with os.fdopen(handle, "wb") as copy, unfollowed(path) as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
                    count += len(chunk)
                    copy.write(chunk)
            blob = self.folder / "blobs" / digest.hexdigest()
            spare.replace(blob)
        finally:
            spare.unlink(missing_ok=True)
        return State("file", digest.hexdigest(), count, mode), blob

    def _force(self, blobs: Sequence[Path]) -> None:
        if len(blobs) > SYNCED_ONE_BY_ONE and hasattr(os, "sync"):
            os.sync()
            return
        for blob in blobs:
            handle = os.open(blob, os.O_RDWR | FLAGS)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        if blobs:
            sync_folder(self.folder / "blobs")
