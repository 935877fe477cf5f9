"""Glob patterns over paths: `*`, `?`, `[…]`, `{…}` and `**`. Pure.

Owns their meaning, for `glob` and for the `glob` of `grep`. Takes time that grows with the pattern
times the path, whatever they are. Knows no disk.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent_magics.errors import ToolError

MAX_BRACES = 64
"""Alternatives that the braces of one pattern may make."""

Matcher: TypeAlias = Callable[[Sequence[str]], bool]
NameMatcher: TypeAlias = Callable[[str], object]
"""Says of one name whether it matches, by what is true or not."""
_ENDING = re.compile(r"\*([^*?\[\]]+)")


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

    Raises:
        ToolError: Too many alternatives in braces.
    """
    choices = [_segments(choice) for choice in braces(pattern)]
    return lambda parts: any(_match(parts, segments) for segments in choices)


def name_matcher(pattern: str) -> NameMatcher | None:
    """Whether a path matches a pattern of the kind `**/NAME`, by its last name alone.

    Returns:
        None for patterns of other kinds; they need the whole path.

    Raises:
        ToolError: Too many alternatives in braces.
    """
    names: list[str] = []
    for choice in braces(pattern):
        parts = _names(choice)
        if len(parts) != 2 or parts[0] != "**" or parts[1] == "**":
            return None
        names.append(parts[1])
    if "*" in names:
        return lambda _name: True
    endings = [_ENDING.fullmatch(name) for name in names]
    if all(endings):
        ends = tuple(ending[1] for ending in endings if ending)
        return lambda name: name.endswith(ends)
    return re.compile("|".join(map(fnmatch.translate, names))).match


def depth_of(pattern: str) -> int | None:
    """How many names a matching path can have at most; None: any number."""
    choices = [choice.strip("/").split("/") for choice in braces(pattern)]
    return None if any("**" in c for c in choices) else max(len(c) for c in choices)


Segment: TypeAlias = re.Pattern[str] | None
"""One name of a pattern; None stands for `**`."""


def _names(pattern: str) -> list[str]:
    return [name for name in pattern.strip("/").split("/") if name not in ("", ".")]


def _segments(pattern: str) -> list[Segment]:
    return [None if n == "**" else re.compile(fnmatch.translate(n)) for n in _names(pattern)]


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
