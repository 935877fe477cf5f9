"""What a server writes beside its messages, kept in a file of bounded size.

Owns the file: two of them at most, the older one replaced as a whole. The text is a stranger's, and
may hold secrets; who shows it makes it safe.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LARGEST = 500_000
"""Bytes after which a new file is begun; with the one before it, twice as much is kept."""
SHOWN = 20_000
"""Characters of the end of the log that are shown."""


class LogFile:
    """The log of one server.

    Args:
        path: The file; made at the first line, readable by its owner alone.
        now: Seconds since the epoch.
    """

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self.path = path
        self._now = now
        self._size = -1

    def note(self, text: str) -> None:
        """A line of our own: what happened to the server, and when."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self._now()))
        self.write(f"[{stamp}] {text}\n".encode("utf-8", "replace"))

    def write(self, data: bytes) -> None:
        """Add what the server wrote. Never raises: a full disk must not end a server."""
        with suppress(OSError):
            if self._size < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._size = self.path.stat().st_size if self.path.is_file() else 0
            if self._size + len(data) > LARGEST:
                self.path.replace(self.older)
                self._size = 0
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(data[-LARGEST:])
            self._size += len(data[-LARGEST:])

    def tail(self) -> str:
        """The end of the log; empty where there is none."""
        text = ""
        for path in (self.older, self.path):
            with suppress(OSError), path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - SHOWN))
                text += file.read(SHOWN).decode("utf-8", "replace")
        return text[-SHOWN:]

    @property
    def older(self) -> Path:
        """The file before this one."""
        return self.path.with_suffix(".1.log")
