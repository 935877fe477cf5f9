"""Skills that come in installed packages, by the entry points of the group `agent_magics.skills`.

    [project.entry-points."agent_magics.skills"]
    acme = "acme_tools.skills"        # a package folder whose sub-folders are skills

Nothing is imported: the text of the entry points and a folder on disk are all that is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from agent_magics.library.entry_points import (
    EntryPoint,
    EntryPoints,
    SearchPath,
    installed_spec,
)
from agent_magics.library.places import Place
from agent_magics.skill.naming import shown

GROUP = "agent_magics.skills"
MAX_ENTRIES = 200
"""Entry points of the group that are followed."""

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class _Off(Exception):
    """An entry point leads to no folder; the texts are for its line in `%skills`."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class InstalledSkills:
    """The places that installed packages name.

    Args:
        points: The entry points of this group, and perhaps of others.
    """

    def __init__(self, points: EntryPoints) -> None:
        self._points = points
        self._seen: object = None
        self._places: tuple[Place, ...] = ()

    def places(self, cwd: Path, disabled: Collection[str] = ()) -> tuple[Place, ...]:
        """The folders with skills, by the names of their entry points; also those that are off.

        Args:
            cwd: The working folder; its project is not where packages are installed.
            disabled: Packages, or names of entry points, that are not used.
        """
        found = self._points.found(cwd)
        seen = (found, frozenset(disabled))
        if seen != self._seen:
            ours = [e for e in found.entries if e.group == GROUP]
            entries = [e for e in ours if not {e.name, e.package} & seen[1]]
            self._places, self._seen = tuple(_places(entries, found.path)), seen
        return self._places


def _places(entries: Sequence[EntryPoint], path: SearchPath) -> Iterator[Place]:
    pairs = sorted({(entry.name, entry.value) for entry in entries})
    for name, value in pairs[:MAX_ENTRIES]:
        try:
            folders = _folders(value, path)
        except _Off as off:
            message = f"an installed package offers skills in {shown(value)!r}, but {off.message}"
            yield Place(Path(shown(name).replace("/", "-")), "package", None, message, off.fix)
        else:
            yield from (Place(folder, "package") for folder in folders)


def _folders(value: str, path: SearchPath) -> list[Path]:
    """The folders that an entry point means.

    Raises:
        _Off: There is none.
    """
    if not _MODULE.fullmatch(value):
        raise _Off("that is no package's name", "write the dotted name of a package folder")
    top, *rest = value.split(".")
    locations = _locations(top, path)
    folders = [Path(location, *rest) for location in locations]
    there = [folder for folder in folders if folder.is_dir()]
    if not there:
        raise _Off(f"there is no such folder below {locations[0]}", "install it again")
    return there


def _locations(top: str, path: SearchPath) -> list[str]:
    """Where a top-level package lies; finds it without importing it."""
    try:
        spec = installed_spec(top, path)
        locations = list(spec.submodule_search_locations or ()) if spec is not None else None
    except Exception as error:  # other packages' finders may raise anything
        raise _Off(f"looking for it fails ({type(error).__name__})", "install it again") from error
    if locations is None:
        raise _Off(f"there is no installed package {top}", f"%pip install it, or remove {top}")
    if not locations:
        raise _Off(f"{top} is a single file", "put the skills into a package's folder")
    return locations
