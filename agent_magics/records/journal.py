"""One file that is only ever appended to, by one process at a time.

Owns the lock, the mode of the file, and the mending of a last line that a killed process or a full
disk left half written. Knows nothing of what the lines say.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
TAIL = 65_536
"""Bytes that are read at once while the beginning of the last line is looked for."""


class InUse(Exception):
    """Another kernel writes to the file."""


class Journal:
    """An open file, locked until it is closed or the process ends, however it ends.

    Args:
        path: Where it lies.
        descriptor: Open for reading and appending, and locked.
        size: Its length in bytes; it ends with a whole line.
    """

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self.path = path
        self.size = size
        self._descriptor = descriptor
        self._appending = threading.Lock()

    @classmethod
    def created(cls, path: Path, content: bytes) -> Journal:
        """A new file with its first lines.

        Raises:
            OSError: It cannot be made, or there is one of this name.
        """
        private_folder(path.parent)
        descriptor = os.open(path, _flags() | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            with contextlib.suppress(OSError):
                # Nobody else can know of this file yet; where locks do not work, it has none.
                _lock(descriptor)
            journal = cls(path, descriptor, 0)
            journal.append(content)
            journal.sync()
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        return journal

    @classmethod
    def opened(cls, path: Path) -> Journal:
        """A file that is there, mended if its last line was cut off.

        Raises:
            InUse: Another kernel writes to it.
            OSError: It is gone, or it cannot be written or locked.
        """
        descriptor = os.open(path, _flags())
        try:
            _lock(descriptor)
            return cls(path, descriptor, _mended(descriptor))
        except BaseException:
            os.close(descriptor)
            raise

    @property
    def gone(self) -> bool:
        """Whether the file was deleted: what is appended would be lost."""
        try:
            there, here = self.path.stat(), os.fstat(self._descriptor)
        except OSError:
            return True
        return (there.st_ino, there.st_dev) != (here.st_ino, here.st_dev)

    def append(self, lines: bytes) -> None:
        """Write whole lines at the end; after a failure the file is as it was.

        Raises:
            OSError: They cannot be written.
        """
        with self._appending:
            rest = memoryview(lines)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self.size)
                raise
            self.size += len(lines)

    def sync(self) -> None:
        """Wait until the disk has all that was appended.

        Raises:
            OSError: It has not.
        """
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Give the file free."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def in_use(path: Path) -> bool:
    """Whether a kernel, this one included, writes to the file now."""
    try:
        descriptor = os.open(path, _flags())
    except OSError:
        return False
    try:
        _lock(descriptor)
    except InUse:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file that are complete, and a last one that only lacks its end.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n") or _complete(line):
                yield line


def private_folder(folder: Path) -> None:
    """Make a folder for its owner alone; one that is there is closed to others.

    Raises:
        OSError: It cannot be made.
    """
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        # Some file systems know no modes; what cannot be closed is used as it is.
        with contextlib.suppress(OSError):
            folder.chmod(FOLDER_MODE)


def _flags() -> int:
    return os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)


def _mended(descriptor: int) -> int:
    """Give a last line without an end one if it is complete, else take it out; gives the size."""
    size = os.fstat(descriptor).st_size
    tail, start = b"", size
    while start > 0 and b"\n" not in tail:
        step = min(TAIL, start)
        start -= step
        os.lseek(descriptor, start, os.SEEK_SET)
        tail = _read(descriptor, step) + tail
    last = tail[tail.rfind(b"\n") + 1 :]
    if not last:
        return size
    if _complete(last):
        os.write(descriptor, b"\n")
        return size + 1
    os.ftruncate(descriptor, size - len(last))
    return size - len(last)


def _read(descriptor: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0 and (part := os.read(descriptor, count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _complete(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8", "surrogatepass")), dict)
    except (ValueError, RecursionError):
        return False


def _sync_folder(folder: Path) -> None:
    """Have the disk know the file's name; systems that cannot open folders do it by themselves."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    _FAR = 2**40
    """A byte that no session reaches: Windows keeps others from reading what is locked."""

    def _lock(descriptor: int) -> None:
        """Lock the file.

        Raises:
            InUse: Someone else has.
        """
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise InUse from error

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock the file; the lock ends with the process.

        `flock`, not `lockf`: that one is lost when the same process closes any other descriptor of
        the file, as every listing does.

        Raises:
            InUse: Someone else has.
            OSError: The file system knows no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUse from error
