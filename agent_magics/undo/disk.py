"""What the store needs of the disk: private folders, locks, lines that are there once written.

Knows no turn and no journal.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""For every file of the store: no link in it is ever followed."""


def private(folder: Path) -> None:
    """Make a folder that is ours alone; what is there must be a folder and no link."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise OSError(None, "not a folder of its own", os.fspath(folder))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def size(folder: Path) -> int:
    """Bytes of a turn's files."""
    total = 0
    for place in (folder, folder / "blobs"):
        with suppress(OSError), os.scandir(place) as scan:
            sizes = (entry.stat(follow_symlinks=False) for entry in scan)
            total += sum(status.st_size for status in sizes if stat.S_ISREG(status.st_mode))
    return total


def lock(handle: int) -> bool:
    """Take the journal for this process; False if another has it.

    Where the operating system has no such locks a turn never counts as running.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def write(handle: int, text: str) -> None:
    """Append to a journal and force it to the disk.

    What a full disk took only a part of is taken away again.

    Raises:
        OSError: The disk refuses; the journal is as it was.
    """
    data = text.encode("ascii")
    start = os.lseek(handle, 0, os.SEEK_END)
    try:
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, start)
        raise


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    # Windows opens no folders; some file systems sync none.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
