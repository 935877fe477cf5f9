"""What git would ignore: `.gitignore` files and `.git/info/exclude`, through pathspec.

Owns the reading of those files and their precedence (the deepest file, then the last line,
wins). Not read: the user's global ignore file, which says nothing about this project.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_magics.errors import ToolError
from agent_magics.importing import installed_only
from agent_magics.tools.documents import opened

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_RULES = 1_000_000
"""Bytes of an ignore file that are read; a larger one is no ignore file."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore files from some top folder down to one folder.

    Args:
        levels: (folder's real path with a `/` at its end, its patterns), top first.
    """

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Whether git would ignore a path (absolute, real), given that its folder is not."""
        for base, spec in reversed(self.levels):
            found = spec.check_file(path[len(base) :] + ("/" if folder else "")).include
            if found is not None:
                return found
        return False

    def with_folder(self, folder: str) -> IgnoreRules:
        """The rules inside a folder: these, and those of its own `.gitignore`."""
        return self._with(folder, os.path.join(folder, ".gitignore"))  # noqa: PTH118 -- hot path

    def _with(self, folder: str, file: str) -> IgnoreRules:
        lines = _lines(file)
        if not lines:
            return self
        base = folder.rstrip("/") + "/"
        return IgnoreRules((*self.levels, (base, _spec(lines))))


def rules_at(start: Path, top: Path) -> IgnoreRules:
    """The rules in force in a folder, from its repository (else from `top`) down.

    A folder that is itself ignored has none: whoever names it wants to see it.

    Args:
        start: A real path.
        top: Where to begin when there is no repository.
    """
    chain = _chain(start, top)
    rules = IgnoreRules()._with(str(chain[0]), str(chain[0] / ".git" / "info" / "exclude"))
    for folder in chain:
        if folder != chain[0] and rules.ignore(str(folder), folder=True):
            return IgnoreRules().with_folder(str(start))
        rules = rules.with_folder(str(folder))
    return rules


def _chain(start: Path, top: Path) -> tuple[Path, ...]:
    """The folders from the repository's top (or `top`) down to the start, inclusive."""
    above = (start, *start.parents)
    root = next((folder for folder in above if (folder / ".git").exists()), None)
    if root is None:
        root = top if start.is_relative_to(top) else start
    return tuple(reversed(above[: above.index(root) + 1]))


def _lines(file: str) -> tuple[str, ...]:
    """The lines of an ignore file; none if there is no such (ordinary, readable) file."""
    try:
        with opened(Path(file), file) as source:
            return tuple(source.read(MAX_RULES).decode("utf-8-sig", "replace").splitlines())
    except (OSError, ToolError):
        return ()


def _spec(lines: tuple[str, ...]) -> GitIgnoreSpec:
    with installed_only():
        from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        # About odd brackets in a stranger's file; the user of a notebook can do nothing about it.
        warnings.simplefilter("ignore")
        try:
            return GitIgnoreSpec.from_lines(lines)
        except ValueError:
            # git skips a broken line silently and keeps the others.
            return GitIgnoreSpec.from_lines(tuple(_sound(lines)))


def _sound(lines: tuple[str, ...]) -> Iterator[str]:
    from pathspec import GitIgnoreSpec

    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line
