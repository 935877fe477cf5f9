"""What another program says about a search, as soon as it has said it.

Owns the form of that answer, and how long it is waited for. Knows neither program.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection

PATIENCE = 10
"""Seconds that an adviser is waited for before the search goes on by itself, as it began."""
AGREED, BROKEN = b"+", b"-"
"""What its answer begins with: whether it can be relied on."""


class Advice:
    """In which files there can be a match, from another program, as soon as it has said so.

    Args:
        answer: Brings what it says, in its own time: `AGREED` or `BROKEN`, a digit that is 1 if it
            could not read some files, then the files' paths below the start, each with a NUL at
            its end. None: there is no adviser.
    """

    def __init__(self, answer: Callable[[], bytes] | None = None) -> None:
        self._folders: dict[str, set[str]] | None = None
        self._came = threading.Event()
        self.unreadable = False
        self.expected = answer is not None
        if answer is not None:
            # It blocks; a search that is done meanwhile ends without it.
            threading.Thread(target=self._take, args=(answer,), daemon=True).start()

    def _take(self, answer: Callable[[], bytes]) -> None:
        try:
            said = answer()
            if said.startswith(AGREED):
                self.unreadable = said[1:2] == b"1"
                self._folders = _by_folder(os.fsdecode(said[2:]))
        finally:
            self._came.set()

    def wait(self) -> None:
        """Give it the time that it usually needs."""
        if self.expected:
            self._came.wait(PATIENCE)

    def candidates(self, below: str, names: Collection[str]) -> Collection[str]:
        """Those of a folder's files that may hold a match, as far as is known now.

        Args:
            below: The folder's path below the start: empty, or with a `/` at its end.
            names: The files' names.
        """
        if self._folders is None:
            return names
        return self._folders.get(below, ())


def _by_folder(paths: str) -> dict[str, set[str]]:
    folders: dict[str, set[str]] = {}
    for path in paths.split("\0"):
        folder, slash, name = path.removeprefix("./").rpartition("/")
        folders.setdefault(folder + slash, set()).add(name)
    return folders
