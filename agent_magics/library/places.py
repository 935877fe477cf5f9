"""The folders that skills are looked for in, in their order of precedence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.library.repository import project_folders
from agent_magics.skill import Origin

PROJECT = ("skills", ".agents/skills", "_agents/skills", ".claude/skills")
"""In each folder of a project. `_agents`, because Jupyter's file browser hides dot folders."""
USER = (".agents/skills", ".claude/skills")
"""In the home folder."""
KONACODE = ".konacode/skills"
"""The same of konacode; looked at when the user's configuration says so."""


@dataclass(frozen=True, slots=True)
class Place:
    """One folder that may hold skills; it need not exist.

    Args:
        path: Its sub-folders are the skills.
        origin: Whose it is.
        boundary: No link may lead out of this folder; None: links may lead anywhere.
        problem: Why there is no such folder although there should be; listed as a broken skill.
        fix: What to change.
    """

    path: Path
    origin: Origin
    boundary: Path | None = None
    problem: str = ""
    fix: str = ""


def places(
    cwd: Path,
    home: Path | None,
    configured: Sequence[Path],
    bundled: Path,
    *,
    packages: Sequence[Place] = (),
    konacode: bool = False,
) -> tuple[Place, ...]:
    """Every place, first wins: configured, project (nearest first), user, packages, bundled.

    Args:
        cwd: The working folder; its project reaches up to the repository's root.
        home: The user's home folder, if there is one.
        configured: Further folders, from the user's configuration; relative to `cwd`.
        bundled: The folder of the skills that come with the package.
        packages: What installed packages bring.
        konacode: Whether konacode's folder counts as the user's.
    """
    names = (*USER, KONACODE) if konacode else USER
    user = [home / name for name in names] if home is not None else []
    chosen = [cwd / _expanded(path, home) for path in configured]
    brought = [place.path for place in packages if not place.problem]
    # What is the person's own, or ours, stays so where a project's folder happens to be the same:
    # a home folder that is a project, a checkout of this package.
    own = {_real(path) for path in (*chosen, *user, *brought, bundled)}
    project = [place for place in _project(cwd) if _real(place.path) not in own]
    found = (
        *(Place(path, "configured") for path in chosen),
        *project,
        *(Place(path, "user") for path in user),
        *(place for place in packages if not place.problem),
        Place(bundled, "bundled"),
    )
    first: dict[Path, Place] = {}
    for place in found:
        first.setdefault(_real(place.path), place)
    return (*first.values(), *(place for place in packages if place.problem))


def _project(cwd: Path) -> Iterator[Place]:
    folders = project_folders(cwd)
    boundary = folders[-1]
    for folder in folders:
        for name in PROJECT:
            yield Place(folder / name, "project", boundary)


def _expanded(path: Path, home: Path | None) -> Path:
    if home is not None and path.parts[:1] == ("~",):
        return home.joinpath(*path.parts[1:])
    return path


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
