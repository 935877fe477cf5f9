"""A workspace with tools and undo, for tests: what a tree holds, a turn, an undo, a redo."""

from __future__ import annotations

import os
import stat
from contextlib import AbstractContextManager
from pathlib import Path

from agent_magics.undo.planning import Entry, Plan, entries, last_undo, planned
from agent_magics.undo.recorder import Recorder
from agent_magics.undo.restoring import Done, undone
from agent_magics.undo.store import Store
from tests.test_tools_kit import Kit

LIMIT = 500_000_000


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Every path below with its kind, mode and content."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder", mode)
        else:
            found[name] = ("file", mode, path.read_bytes())
    return found


class UndoKit(Kit):
    """The tools' kit with a recorder; each is like a kernel of its own."""

    def __init__(self, root: Path, data: Path, limit: int = LIMIT) -> None:
        root.mkdir(parents=True, exist_ok=True)
        super().__init__(Path(os.path.realpath(root)))
        self.limit = limit
        self.recorder = Recorder(Store(data), lambda: self.limit, lambda: self.root)
        self.workspace.backup = self.recorder
        self.store = self.recorder.store

    def turn(self, prompt: str = "Do it.") -> AbstractContextManager[object]:
        return self.recorder.turn(prompt, "default")

    def entries(self) -> tuple[Entry, ...]:
        return entries(self.store, self.recorder.root(), self.recorder.kernel)

    def plan(self) -> Plan:
        entry = next(e for e in self.entries() if not e.undone and e.journal.changes)
        return planned(self.store, entry.journal)

    def undo(self, *, force: bool = False) -> Done:
        plan = self.plan()
        assert force or not plan.conflicts, plan.conflicts
        return undone(self.store, plan, self.recorder.kernel, self.limit, force=force)

    def redo(self) -> Done:
        journal = last_undo(self.store, self.recorder.root())
        assert journal is not None
        plan = planned(self.store, journal)
        assert not plan.conflicts, plan.conflicts
        return undone(self.store, plan, self.recorder.kernel, self.limit)

    def conflicts(self) -> dict[str, str]:
        return {c.path.relative_to(self.root).as_posix(): c.reason for c in self.plan().conflicts}
