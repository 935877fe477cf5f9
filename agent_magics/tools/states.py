"""What stands at a path: nothing, a file with its content, a link, a folder. Values, and a look.

Owns the comparison by content: time stamps are too coarse, and formatters change them alone.
Follows no link: a path here is a real folder's path and one name in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["absent", "file", "link", "folder", "other"]
CHUNK = 1 << 20
"""Bytes that are read at once."""


@dataclass(frozen=True, slots=True)
class State:
    """What stands at a path.

    Args:
        kind: `other` is a FIFO, a socket or a device.
        digest: SHA-256 of a file's content.
        size: Bytes of a file.
        mode: Permission bits of a file or a folder; None: whatever they are.
        target: Where a link points, as it is written.
    """

    kind: Kind
    digest: str = ""
    size: int = 0
    mode: int | None = None
    target: str = ""

    def same(self, other: State) -> bool:
        """Whether both are the same, as far as both say."""
        modes = None in (self.mode, other.mode) or self.mode == other.mode
        return self.content == other.content and modes

    @property
    def content(self) -> tuple[str, str, str]:
        """All but the permissions."""
        return self.kind, self.digest, self.target


ABSENT = State("absent")
FOLDER = State("folder")


def file_of(content: bytes, mode: int | None = None) -> State:
    """A file with this content."""
    return State("file", hashlib.sha256(content).hexdigest(), len(content), mode)


def state_of(path: Path) -> State:
    """What stands at a path now; a link is not followed.

    Raises:
        OSError: It cannot be looked at, or a file cannot be read.
    """
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return State("link", target=os.fspath(path.readlink()))
    if stat.S_ISDIR(status.st_mode):
        return State("folder", mode=mode)
    if not stat.S_ISREG(status.st_mode):
        return State("other")
    with unfollowed(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
    return State("file", digest, size, mode)


def unfollowed(path: Path) -> io.BufferedReader:
    """An ordinary file, open for reading; a link or a FIFO that took its place is not opened.

    Raises:
        OSError: It cannot be opened, or is no ordinary file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "not an ordinary file", os.fspath(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def link_above(path: Path) -> Path | None:
    """The uppermost folder on the way to a path that is a link now; None if there is none."""
    return next((folder for folder in reversed(path.parents) if folder.is_symlink()), None)


def changeable(folder: Path) -> bool:
    """Whether entries of a folder may be made and taken away."""
    by_effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=by_effective)


def new_parents(path: Path) -> tuple[Path, ...]:
    """The folders above a path that do not exist yet, the uppermost first."""
    found = []
    for folder in path.parents:
        if folder.exists():
            break
        found.append(folder)
    return tuple(reversed(found))
