"""Whole entries of folders, as `delete` and `move` take them: all that they hold.

Owns the look at everything below a path, its bounds, and the rule that one protected name in it
makes the whole entry one that needs a person's word. Follows no link and changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.tools.plain import counted, printable, size
from agent_magics.tools.states import State, changeable, state_of
from agent_magics.tools.workspace import Workspace

MAX_ENTRIES = 5_000
"""Files and folders in one entry that a copy for undo is made of."""
MAX_BYTES = 100_000_000
"""Bytes of one entry that a copy for undo is made of."""
REPOSITORIES = frozenset((".git", ".hg", ".svn"))


@dataclass(frozen=True, slots=True)
class Survey:
    """What an entry holds, itself first, each folder before what is in it.

    Args:
        top: The entry.
        paths: All of it, as far as it was looked at.
        status: What the file system says of each.
        too_large: Why it is more than the bounds; the rest was not looked at then.
    """

    top: Path
    paths: tuple[Path, ...]
    status: tuple[os.stat_result, ...]
    too_large: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """The ordinary files."""
        return tuple(p for p, s in zip(self.paths, self.status, strict=True) if _is_file(s))

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders, the entry itself included if it is one."""
        pairs = zip(self.paths, self.status, strict=True)
        return tuple(p for p, s in pairs if stat.S_ISDIR(s.st_mode))

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(s.st_size for s in self.status if _is_file(s))

    @property
    def special(self) -> Path | None:
        """A FIFO, a socket or a device in it."""
        kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        for path, status in zip(self.paths, self.status, strict=True):
            if not any(kind(status.st_mode) for kind in kinds):
                return path
        return None

    def counted(self) -> str:
        """`3 files, 1 folder, 2.4 kB`, the entry itself not counted if it is a folder."""
        inner = len(self.folders) - 1
        links = len(self.paths) - len(self.files) - len(self.folders)
        parts = [counted(len(self.files), "file")]
        parts += [counted(inner, "folder")] if inner > 0 else []
        parts += [counted(links, "link")] if links else []
        return ", ".join((*parts, size(self.bytes)))

    def states(self) -> tuple[State, ...]:
        """The state of each path, with its content's digest."""
        return tuple(state_of(path) for path in self.paths)


def survey(top: Path) -> Survey:
    """Look at an entry and all below it.

    Raises:
        ToolError: A folder in it cannot be listed, or another file system begins there.
        OSError: The entry itself is not there.
    """
    first = top.lstat()
    paths, status, total, problem = [top], [first], first.st_size, ""
    for path, one in _below(top, first) if stat.S_ISDIR(first.st_mode) else ():
        paths.append(path)
        status.append(one)
        total += one.st_size if _is_file(one) else 0
        if len(paths) > MAX_ENTRIES or total > MAX_BYTES:
            break
    if len(paths) > MAX_ENTRIES:
        problem = f"it holds more than {MAX_ENTRIES:,} files and folders"
    elif total > MAX_BYTES and not stat.S_ISDIR(first.st_mode):
        problem = f"it is larger than {size(MAX_BYTES)}"
    elif total > MAX_BYTES:
        problem = f"it holds more than {size(MAX_BYTES)}"
    return Survey(top, tuple(paths), tuple(status), problem)


def _below(folder: Path, first: os.stat_result) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        with os.scandir(folder) as scan:
            names = sorted(entry.name for entry in scan)
    except OSError as error:
        raise ToolError(
            f"{printable(str(folder))} cannot be looked into: {error.strerror}."
        ) from error
    for name in names:
        path = folder / name
        status = path.lstat()
        if status.st_dev != first.st_dev:
            raise ToolError(f"Another file system begins at {printable(str(path))}.")
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _below(path, first)


def fingerprint(look: Survey) -> bytes:
    """A digest of all that was seen: names, kinds, permissions and contents.

    Of an entry that is too large, sizes and times stand for the contents.
    """
    digest = hashlib.sha256()
    for path, status in zip(look.paths, look.status, strict=True):
        line: object = state_of(path)
        if look.too_large:
            line = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)
        digest.update(f"{os.fspath(path)!r} {line}\n".encode("utf-8", "surrogatepass"))
    return digest.digest()


def named(workspace: Workspace, path: str) -> str:
    """An entry as people, models and rules read it: the link itself, not where it leads."""
    try:
        return workspace.shown(workspace.entry(path))
    except ToolError:
        return printable(path)


def needs_word(workspace: Workspace, path: str) -> bool:
    """Whether an entry is outside, or protected, or holds anything that is.

    A text that can never be a path is not: its call fails by itself.
    """
    try:
        entry = workspace.entry(path)
    except ToolError:
        return workspace.outside(path, write=True)
    try:
        return bool(workspace.guarded(entry, write=True)) or bool(guarded_in(workspace, entry))
    except (ToolError, OSError):
        # What cannot be looked at now may be there when the call runs.
        return True


def guarded_in(workspace: Workspace, top: Path, moved_to: Path | None = None) -> tuple[Path, ...]:
    """The protected paths at or below an entry; the entry itself when it is too large to tell.

    Args:
        workspace: Says what is protected.
        top: The entry.
        moved_to: Where it would be; names that are protected there count.
    """
    if not os.path.lexists(top):
        return ()
    look = survey(top)
    if look.too_large and stat.S_ISDIR(look.status[0].st_mode):
        return (top,)
    places = (path if moved_to is None else moved_to / path.relative_to(top) for path in look.paths)
    return tuple(place for place in places if workspace.guarded(place, write=True))


def refuse_unmovable(folder: Path, shown: str) -> None:
    """Find out before anyone is asked that nothing can be taken out of a folder.

    Raises:
        ToolError: Its permissions do not let it.
    """
    if not changeable(folder):
        raise ToolError(
            f"{shown} cannot be taken away: {printable(folder.name)} is write-protected."
        )


def _is_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)
