"""The skills on disk, as they are at this moment, and which of several with one name counts.

Looks at every folder again at each call; what a stat shows as unchanged is not read again. Knows
nothing of what is active, disabled or trusted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from agent_magics.library.finding import find_skill
from agent_magics.library.folder import broken_skill, read_folder
from agent_magics.library.places import Place, places
from agent_magics.library.trees import Node, Tree, node, read_tree
from agent_magics.library.walking import MAX_FOLDERS, Found, walk
from agent_magics.skill import Origin, Skill

__all__ = ["Entry", "Library", "Place", "State", "places"]

State: TypeAlias = Literal["enabled", "shadowed", "broken"]

_TICK = 20_000_000
"""Nanoseconds in which a file may change twice under one stamp: a slow kernel's tick, doubled."""
_COARSE_TICK = 2_000_000_000
"""The same where stamps have no fractions: FAT counts in two seconds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the list of skills.

    Args:
        skill: As it was read, also where it is broken.
        state: `enabled`: `%use` takes it. `shadowed`: another of that name comes first.
            `broken`: it cannot be used; `skill.broken` says why.
        shadowed_by: The folder of the one that comes first.
    """

    skill: Skill
    state: State
    shadowed_by: Path | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A folder together with the place it was found in."""

    rank: int
    place: Place
    found: Found
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a folder, and the stamps it had then."""

    stamps: tuple[object, ...]
    settled: bool
    skill: Skill


class Library:
    """Every skill of some places.

    Args:
        places: Gives the places, first wins; asked at each look.
        known_tools: The names of the built-in tools.
        limit: Folders of one place that are looked at.
        clock: The time as file stamps have it, in nanoseconds.
    """

    def __init__(
        self,
        places: Callable[[], Sequence[Place]],
        known_tools: Collection[str],
        *,
        limit: int = MAX_FOLDERS,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._places = places
        self._known_tools = frozenset(known_tools)
        self._limit = limit
        self._clock = clock
        self._read: dict[tuple[str, Origin], _Read] = {}

    def entries(self) -> tuple[Entry, ...]:
        """All skills, sorted by name, those of one name in their order of precedence."""
        candidates = _distinct(self._candidates())
        read: dict[tuple[str, Origin], _Read] = {}
        ranked = [(candidate.rank, self._skill(candidate, read)) for candidate in candidates]
        self._read = read
        return _entries(ranked)

    def find(self, name: str, *, hidden: Collection[str] = ()) -> Skill:
        """The skill of this name, read afresh.

        Args:
            name: Its folder's name, the name in its header, or another spelling of either.
            hidden: Names of skills that are found and never offered in its place.

        Raises:
            SkillError: There is none, more than one fits, or it is broken.
        """
        entries = self.entries()
        usable = [entry.skill for entry in entries if entry.state == "enabled"]
        broken = [entry.skill for entry in entries if entry.state == "broken"]
        return find_skill(name, usable, broken, hidden)

    def _candidates(self) -> Iterable[_Candidate]:
        for rank, place in enumerate(self._places()):
            for found in walk(place, self._limit):
                yield _Candidate(rank, place, found, place.origin)

    def _skill(self, candidate: _Candidate, read: dict[tuple[str, Origin], _Read]) -> Skill:
        found = candidate.found
        if found.problem:
            return broken_skill(found, candidate.origin)
        tree = read_tree(found.real, found.listing)
        behind = _behind_link(found, tree)
        stamps = (found.real, found.file, tree, behind)
        key = (found.path, candidate.origin)
        before = self._read.get(key)
        if before is None or not before.settled or before.stamps != stamps:
            now = self._clock()
            boundary = candidate.place.boundary
            skill = read_folder(found, tree, candidate.origin, boundary, self._known_tools)
            before = _Read(stamps, _settled((*tree.nodes, *behind), now), skill)
        read[key] = before
        return before.skill


def _distinct(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Each real folder once: by its first place, and there by the way without links.

    A project's folder that is also the person's own, or ours, is theirs.
    """
    groups: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        key = candidate.found.path if candidate.found.problem else candidate.found.real
        groups.setdefault(key, []).append(candidate)
    result: list[_Candidate] = []
    for group in groups.values():
        first = min(group, key=lambda c: (c.rank, c.found.linked, c.found.path))
        owned = [c for c in group if c.origin != "project"]
        if first.origin == "project" and owned:
            owner = owned[0]
            first = _Candidate(first.rank, owner.place, first.found, owner.origin)
        result.append(first)
    return result


def _entries(ranked: Iterable[tuple[int, Skill]]) -> tuple[Entry, ...]:
    order = sorted(ranked, key=lambda r: (r[1].name.casefold(), r[1].name, r[0], str(r[1].root)))
    winners: dict[str, Path] = {}
    entries: list[Entry] = []
    for _, skill in order:
        if skill.broken:
            # A broken skill takes no name: the good one behind it stays usable.
            entries.append(Entry(skill, "broken"))
        elif skill.name in winners:
            entries.append(Entry(skill, "shadowed", winners[skill.name]))
        else:
            winners[skill.name] = skill.root
            entries.append(Entry(skill, "enabled"))
    return tuple(entries)


def _behind_link(found: Found, tree: Tree) -> tuple[Node, ...]:
    """What a stat says of a SKILL.md that is a link: its target changes without the link."""
    if found.file not in tree.links():
        return ()
    try:
        status = os.stat(f"{found.real}{os.sep}{found.file}")  # noqa: PTH116 - plain texts
    except OSError:
        return (Node(found.file, "closed"),)
    return (node(found.file, "file", status),)


def _settled(nodes: Sequence[Node], now: int) -> bool:
    """Whether a change from now on is sure to show in the stamps.

    A file that is written twice within one tick of the file system's clock has one stamp.
    """
    times = [time for node in nodes for time in node.stamp[:2]]
    coarse = all(time % 1_000_000_000 == 0 for time in times)
    return now - max(times, default=0) > (_COARSE_TICK if coarse else _TICK)
