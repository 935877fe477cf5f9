"""Walking a folder tree, and glob patterns over its paths.

Owns the order (by path), what is never walked (version control's insides, caches, what git
ignores, linked folders, so that no cycle exists) and the matching of `*`, `?`, `[…]`, `{…}`
and `**`. Reads names, never contents.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.tools.ignoring import IgnoreRules, rules_at

NEVER_WALKED = frozenset((".git", ".hg", ".svn", ".ipynb_checkpoints", "__pycache__"))
MAX_BRACES = 64
"""Alternatives that the braces of one pattern may make."""

Stop: TypeAlias = Callable[[], bool]
"""Tells long work that nobody waits for it any more."""
Matcher: TypeAlias = Callable[[Sequence[str]], bool]


@dataclass(slots=True)
class Tally:
    """Counts of one walk, filled while it goes.

    Args:
        unreadable: Folders that could not be listed.
        stopped: Whether the walk ended before its end.
    """

    unreadable: int = 0
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a walk.

    Args:
        parts: Its path below the start.
        path: Its real folder's path and its name.
        folder: Whether it is a folder and no link.
        link: Whether it is a link.
    """

    parts: tuple[str, ...]
    path: str
    folder: bool
    link: bool


def never() -> bool:
    """For work that nobody can stop."""
    return False


def walk(
    start: Path, top: Path, tally: Tally, stop: Stop = never, depth: int | None = None
) -> Iterator[Found]:
    """Every entry below a folder, sorted by path, that git would not ignore.

    Args:
        start: A real path of a folder; when it is itself ignored, nothing in it is.
        top: Where ignore files begin to count when there is no repository.
        tally: Counts what could not be seen.
        stop: Asked once per folder.
        depth: Levels to descend; 1: only the entries of the folder itself; None: all.
    """
    waiting: list[Iterator[tuple[Found, IgnoreRules]]] = [
        _entries(str(start), (), rules_at(start, top), tally)
    ]
    while waiting:
        pair = next(waiting[-1], None)
        if pair is None:
            waiting.pop()
            continue
        found, rules = pair
        yield found
        if found.folder and (depth is None or len(found.parts) < depth):
            if stop():
                tally.stopped = True
                return
            inner = rules.with_folder(found.path)
            waiting.append(_entries(found.path, found.parts, inner, tally))


def _entries(
    folder: str, parts: tuple[str, ...], rules: IgnoreRules, tally: Tally
) -> Iterator[tuple[Found, IgnoreRules]]:
    """The entries of one folder that are not ignored, in the order of their whole paths."""
    try:
        with os.scandir(folder) as scan:
            seen = [(entry.name, entry.path, *_kind(entry)) for entry in scan]
    except OSError:
        tally.unreadable += 1
        return
    # A folder's entries come where its name and a slash sort, as in a sorted list of paths.
    seen.sort(key=lambda entry: entry[0] + "/" if entry[2] else entry[0])
    for name, path, is_folder, is_link in seen:
        if not (is_folder and name in NEVER_WALKED) and not rules.ignore(path, folder=is_folder):
            yield Found((*parts, name), path, is_folder, is_link), rules


def _kind(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    try:
        return entry.is_dir(follow_symlinks=False), entry.is_symlink()
    except OSError:
        return False, False


def split_pattern(pattern: str) -> tuple[str, str]:
    """The folder that a glob pattern starts in, and the rest that has wildcards.

    Args:
        pattern: `src/**/*.py` gives `("src", "**/*.py")`; without wildcards the last name is
            the rest.

    Raises:
        ToolError: `..` after a wildcard.
    """
    parts = pattern.replace("\\", "/").split("/")
    wild = next((i for i, part in enumerate(parts) if _wild(part)), len(parts) - 1)
    if ".." in parts[wild:]:
        raise ToolError(f"The pattern {pattern!r} has '..' after a wildcard; give a path instead.")
    base = "/".join(parts[:wild])
    return (base or "/" if wild else ""), "/".join(parts[wild:])


def _wild(part: str) -> bool:
    return any(character in part for character in "*?[{")


def matcher(pattern: str) -> Matcher:
    """Whether the names of a path match a glob pattern, whole.

    `*` and `?` stay within one name, `**` as a whole name stands for any number of names.
    Takes time that grows with the pattern times the path, whatever they are.

    Raises:
        ToolError: Too many alternatives in braces.
    """
    choices = [_segments(choice) for choice in braces(pattern)]
    return lambda parts: any(_match(parts, segments) for segments in choices)


def depth_of(pattern: str) -> int | None:
    """How many names a matching path can have at most; None: any number."""
    choices = [choice.strip("/").split("/") for choice in braces(pattern)]
    return None if any("**" in c for c in choices) else max(len(c) for c in choices)


Segment: TypeAlias = re.Pattern[str] | None
"""One name of a pattern; None stands for `**`."""


def _segments(pattern: str) -> list[Segment]:
    names = [name for name in pattern.strip("/").split("/") if name not in ("", ".")]
    return [None if n == "**" else re.compile(fnmatch.translate(n)) for n in names]


def _match(parts: Sequence[str], segments: Sequence[Segment]) -> bool:
    """The classic two-pointer match, with `**` as the star: no exponential case."""
    part = segment = 0
    star, resume = -1, 0
    while part < len(parts):
        wanted = segments[segment] if segment < len(segments) else None
        if segment < len(segments) and wanted is None:
            star, resume = segment, part
            segment += 1
        elif wanted is not None and wanted.match(parts[part]):
            part += 1
            segment += 1
        elif star >= 0:
            resume += 1
            part, segment = resume, star + 1
        else:
            return False
    return all(rest is None for rest in segments[segment:])


def braces(pattern: str) -> list[str]:
    """The patterns that `{a,b}` stands for; a brace without a comma or an end is itself."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop()
        group = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if group is None:
            done.append(current)
        else:
            waiting += [
                current[: group.start()] + choice + current[group.end() :]
                for choice in group[1].split(",")
            ]
        if len(done) + len(waiting) > MAX_BRACES:
            raise ToolError(f"The pattern's braces make more than {MAX_BRACES} alternatives.")
    return done
