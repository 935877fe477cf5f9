"""What another program says about a search, as soon as it has said it.

Owns the form of that answer, and how long it is waited for. Knows neither program.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import BinaryIO

PATIENCE = 10
"""Seconds that an adviser is waited for before the search goes on by itself, as it began."""
AGREED, BROKEN = b"+", b"-"
"""What its answer begins with: whether it can be relied on."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to search.

    Args:
        name: Its path below the start; empty when it is the start itself.
        path: Its real path.
        sure: Whether ripgrep would have seen every match in it: it reads some ignore files
            differently, and notebooks as they are on the disk.
    """

    name: str
    path: str
    sure: bool


class Advice:
    """In which files there can be a match, from another program, as soon as it has said so.

    Args:
        source: Brings its answer: `AGREED` or `BROKEN`, a digit that is 1 if it could not read
            some files, then the names, each with a NUL at its end.
    """

    def __init__(self, source: BinaryIO | None = None) -> None:
        self._names: frozenset[str] | None = None
        self._came = threading.Event()
        self.unreadable = False
        self.expected = source is not None
        if source is not None:
            # Reading it blocks; a search that is done meanwhile ends without it.
            threading.Thread(target=self._take, args=(source,), daemon=True).start()

    def _take(self, source: BinaryIO) -> None:
        answer = source.read()
        if answer.startswith(AGREED):
            self.unreadable = answer[1:2] == b"1"
            names = os.fsdecode(answer[2:]).split("\0")
            self._names = frozenset(name.removeprefix("./") for name in names)
        self._came.set()

    def wait(self) -> None:
        """Give it the time that it usually needs."""
        if self.expected:
            self._came.wait(PATIENCE)

    def excludes(self, file: File) -> bool:
        """Whether a file surely holds no match."""
        return self._names is not None and file.sure and file.name not in self._names
