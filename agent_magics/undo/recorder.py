"""What the running turn changes, told by the tools as it happens: the store's side of their seam.

Owns which turn a change belongs to. Cells of one kernel may overlap, so the turn goes with the
running task and with the threads that it starts.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_magics.plain import visible
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.backup import Coming
from agent_magics.tools.plain import size
from agent_magics.tools.states import changeable
from agent_magics.undo.journal import Header, missed_line, ran_line
from agent_magics.undo.store import OpenTurn, Store

PROMPT = 120
"""Characters of a prompt by which a person knows the turn again."""
SHARE = 2
"""One change may take this part of the whole room: half of it."""
KEPT_EFFECTS = ("read", "write", "delete", "control")
"""Effects of calls that need no mention: they change nothing, or what they change is kept."""


@dataclass(slots=True)
class _Running:
    """A turn; its folder is made with the first line that it needs.

    A tool that an interrupt left behind in its thread may still change a file after the end.
    """

    header: Header
    touched: list[Path]
    open: OpenTurn | None = None
    ended: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Recorder:
    """Keeps copies for the running turn; fulfils `tools.backup.Backup`.

    Args:
        store: Where copies lie.
        limit: Bytes that all copies may have; 0: none are made.
        root: The workspace.
        redact: Takes secrets out of a text.
    """

    def __init__(
        self,
        store: Store,
        limit: Callable[[], int],
        root: Callable[[], Path],
        redact: Callable[[str], str] = str,
    ) -> None:
        self.store = store
        self.kernel = f"{os.getpid()}-{os.urandom(4).hex()}"
        self.redact = redact
        self._limit = limit
        self._root = root
        self._current: ContextVar[_Running | None] = ContextVar("turn", default=None)
        self._failure = ""

    def root(self) -> str:
        """The workspace by its real path."""
        return os.path.realpath(self._root())

    def header(self, prompt: str, session: str) -> Header:
        """Whose changes those of a turn are."""
        first = next((line for line in prompt.splitlines() if line.strip()), "").strip()
        words = visible(self.redact(first))
        words = words if len(words) <= PROMPT else f"{words[:PROMPT]}…"
        return Header("turn", self.root(), session, words, time.time(), self.kernel)

    @contextmanager
    def turn(self, prompt: str, session: str) -> Iterator[list[Path]]:
        """What happens inside belongs to one turn; gives the paths that it is about to change.

        Args:
            prompt: What the person asked.
            session: The conversation's name.
        """
        running = _Running(self.header(prompt, session), [])
        token = self._current.set(running)
        try:
            yield running.touched
        finally:
            self._current.reset(token)
            with running.lock:
                running.ended = True
                _closed(running)

    def noting(self, tool: Tool) -> Tool:
        """The tool; if nobody keeps what it changes, each run is noted in the turn."""
        if tool.effect in KEPT_EFFECTS:
            return tool

        async def run(arguments: Arguments, report: Report) -> ToolOutput:
            running = self._current.get()
            if running is not None:
                self._note(running, ran_line(tool.name))
            return await tool.run(arguments, report)

        return replace(tool, run=run)

    # -- what tools ask and tell ------------------------------------------------------------

    def obstacle(self, paths: Sequence[Path]) -> str:
        """Why what stands at these paths could not be kept; empty: it can."""
        if not self._limit():
            return ""
        try:
            needed = _bytes(paths)
            problem = self._too_much(needed) or self._failure
            return problem or _no_place(self.store.folder, needed)
        except OSError as error:
            return _words(error)

    def keep(self, coming: Sequence[Coming]) -> str:
        """Keep what stands at these paths; see `tools.backup.Backup`."""
        running = self._current.get()
        if running is not None:
            files = [c.path for c in coming if c.will.kind != "folder"]
            running.touched += [path for path in files if path not in running.touched]
        if not self._limit():
            return ""
        if running is None:
            # Not in a cell: a turn of its own.
            with self.turn("", ""):
                return self.keep(coming)
        with running.lock:
            try:
                problem = self._room(running, [c.path for c in coming])
                if not problem:
                    self._opened(running).keep([(c.path, c.will) for c in coming])
            except OSError as error:
                problem = _words(error)
                self._failure = problem
                return problem
            finally:
                if running.ended:
                    _closed(running)
            self._failure = ""
        return problem

    def missed(self, path: Path, reason: str) -> None:
        """Take note of a change that happens without a copy."""
        running = self._current.get()
        if running is not None:
            self._note(running, missed_line(path, reason))

    # -- parts ------------------------------------------------------------------------------

    def _note(self, running: _Running, line: str) -> None:
        # A note that cannot be written must not stop what it is about.
        if self._limit():
            with running.lock, suppress(OSError):
                self._opened(running).write(line)
                if running.ended:
                    _closed(running)

    def _opened(self, running: _Running) -> OpenTurn:
        if running.open is None:
            self.store.make_room(0, self._limit())
            running.open = self.store.begin(running.header)
        return running.open

    def _room(self, running: _Running, paths: Sequence[Path]) -> str:
        known = running.open
        needed = _bytes([path for path in paths if known is None or not known.knows(path)])
        problem = self._too_much(needed)
        if problem or not needed:
            return problem
        name = known.name if known is not None else ""
        if self.store.make_room(needed, self._limit(), name) < needed:
            return f"the copies of this turn would take more than {size(self._limit())}"
        return ""

    def _too_much(self, needed: int) -> str:
        most = self._limit() // SHARE
        return f"{size(needed)} are more than the {size(most)} that are kept" * (needed > most)


def _closed(running: _Running) -> None:
    if running.open is not None:
        running.open.close()
        running.open = None


def _no_place(folder: Path, needed: int) -> str:
    """What can be told beforehand of a disk that will not take a copy.

    Raises:
        OSError: The disk cannot be looked at.
    """
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not changeable(there):
        return f"nothing can be written to {there}"
    free = shutil.disk_usage(there).free
    return f"{there} has only {size(free)} left" * (free < needed)


def _bytes(paths: Sequence[Path]) -> int:
    """The size of the files among these paths.

    Raises:
        OSError: One cannot be looked at.
    """
    total = 0
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError):
            status = path.lstat()
            total += status.st_size if path.is_file() and not path.is_symlink() else 0
    return total


def _words(error: OSError) -> str:
    return f"the copy cannot be made: {error.strerror or error}"
