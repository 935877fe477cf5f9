"""What an undo of a turn would do now, path by path. Looks at the disk and changes nothing.

Owns the rule that decides: a path is taken back only if it is as the tools left it. What someone
else changed since is a conflict, and so is a folder on the way that became a link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_magics.tools.states import ABSENT, State, link_above, state_of
from agent_magics.undo.journal import Journal, Net
from agent_magics.undo.store import Store


@dataclass(frozen=True, slots=True)
class Step:
    """One path to take back.

    Args:
        path: Where.
        now: What stands there.
        then: What stood there, and will again.
        blob: The copy of the file's content, if it will be a file.
    """

    path: Path
    now: State
    then: State
    blob: Path | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that is not as the tools left it.

    Args:
        path: Where.
        reason: For a person: `it was changed since`.
        step: What could be done by force; None: nothing can.
    """

    path: Path
    reason: str
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """An undo before it happens.

    Args:
        journal: The turn.
        steps: What can be taken back.
        conflicts: What cannot, or by force only.
    """

    journal: Journal
    steps: tuple[Step, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def forced(self) -> tuple[Step, ...]:
        """All steps, those through conflicts included."""
        return (*self.steps, *(c.step for c in self.conflicts if c.step is not None))


def planned(store: Store, journal: Journal) -> Plan:
    """What an undo of the turn would do now."""
    steps: list[Step] = []
    conflicts: list[Conflict] = []
    nets = journal.nets()
    # Links that this very undo exchanges for the folders that were there before them; and links
    # that stood there before, behind which nothing can have been.
    going = {n.path for n in nets if n.first.kind == "folder" and n.path.is_symlink()}
    links = (n for n in nets if n.first.kind == "link" and n.path.is_symlink())
    stayed = {n.path for n in links if state_of(n.path).same(n.first)}
    for net in nets:
        link = link_above(net.path)
        if link is not None and link not in going:
            absent = net.first.kind == "absent"
            if not (absent and (net.left.kind == "absent" or link in stayed)):
                conflicts.append(Conflict(net.path, "a folder above it is a link now"))
            continue
        try:
            now = ABSENT if link is not None else state_of(net.path)
        except OSError as error:
            reason = f"it cannot be looked at: {error.strerror}"
            conflicts.append(Conflict(net.path, reason))
            continue
        if now.same(net.first):
            continue
        step = _step(store, journal, net, now)
        reason, possible = _conflict(store, journal, net, now)
        if reason:
            conflicts.append(Conflict(net.path, reason, step if possible else None))
        else:
            steps.append(step)
    return Plan(journal, tuple(steps), tuple(conflicts))


def _step(store: Store, journal: Journal, net: Net, now: State) -> Step:
    wants = net.first.kind == "file" and now.content != net.first.content
    blob = store.blob(journal.name, net.first.digest) if wants else None
    return Step(net.path, now, net.first, blob)


def _conflict(store: Store, journal: Journal, net: Net, now: State) -> tuple[str, bool]:
    """Why a path cannot just be taken back, and whether force could."""
    if now.kind == "other":
        return "it is no ordinary file now", False
    changed = net.first.kind == "file" and now.content != net.first.content
    if changed and not store.sound(journal.name, net.first.digest):
        return "its copy is gone or damaged", False
    if not (now.same(net.left) or now.same(net.before_last)):
        return _difference(net.left, now), now.kind != "folder" or net.first.kind != "file"
    if net.interfered:
        return "something else changed it while the agent worked", True
    return "", True


def _difference(left: State, now: State) -> str:
    if now.kind == "absent":
        return "it was deleted since"
    if left.kind == "absent":
        return f"there is a {now.kind} now"
    if now.kind != left.kind:
        return f"it is a {now.kind} now"
    if now.content == left.content:
        return "its permissions were changed since"
    return "it was changed since"


# -- which turn -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn of the list.

    Args:
        journal: What it did.
        undone: Whether it was taken back.
        running: Whether a kernel is in it now.
        own: Whether it was in this kernel.
    """

    journal: Journal
    undone: bool
    running: bool
    own: bool


def entries(store: Store, root: str, kernel: str) -> tuple[Entry, ...]:
    """The agent's turns in a workspace that changed files, newest first."""
    kept = tuple(store.journals())
    effective = frozenset(_effective(kept))
    taken_back = {j.header.of for j in kept if j.name in effective}
    return tuple(
        Entry(j, j.name in taken_back, store.running(j.name), j.header.kernel == kernel)
        for j in kept
        if j.header.kind == "turn" and j.header.root == root and (j.changes or j.ran or j.missed)
    )


def last_undo(store: Store, root: str) -> Journal | None:
    """The newest undo in a workspace that is in force; None if there is none."""
    kept = tuple(store.journals())
    effective = frozenset(_effective(kept))
    undos = (j for j in kept if j.header.kind == "undo" and j.header.root == root)
    return next((j for j in undos if j.name in effective), None)


def _effective(kept: tuple[Journal, ...]) -> Iterator[str]:
    """The undos and redos that came to their end and were not taken back themselves."""
    taken_back: set[str] = set()
    # Newest first: what takes something back comes before it.
    for journal in kept:
        if journal.header.kind != "turn" and journal.done and journal.name not in taken_back:
            taken_back.add(journal.header.of)
            yield journal.name
