"""Skills that come in installed packages, by the entry points of the group `agent_magics.skills`.

    [project.entry-points."agent_magics.skills"]
    acme = "acme_tools.skills"        # a package folder whose sub-folders are skills

Nothing is imported: the text of the entry points and a folder on disk are all that is looked at.
Read from the disk rather than by `importlib.metadata`, whose import alone costs some 35 ms, and
only when a folder of the search path has changed.

What lies in the project does not count as installed, though Python would import it: a cloned
repository could bring the metadata of a package, or a folder that is named like one.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.library.places import Place
from agent_magics.library.repository import project_folders
from agent_magics.skill.naming import shown

GROUP = "agent_magics.skills"
MAX_BYTES = 256_000
"""Bytes of an entry_points.txt that are read."""
MAX_ENTRIES = 200
"""Entry points of the group that are followed."""

_SITES = ("site-packages", "dist-packages")
_METADATA = (".dist-info", ".egg-info")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_SETTLED = 2_000_000_000
"""Nanoseconds after which a changed folder counts as at rest: an installation takes a while."""


@dataclass(frozen=True, slots=True)
class _SearchPath:
    """Where Python looks for modules, split by who can have put something there.

    Args:
        installed: Folders outside of the project, and environments in it.
        inside: Further folders of the project; editable installations may lead there.
    """

    installed: tuple[str, ...]
    inside: tuple[str, ...]


class _Off(Exception):
    """An entry point leads to no folder; the texts are for its line in `%skills`."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class InstalledSkills:
    """The places that installed packages name.

    Args:
        search_path: Where Python looks for modules.
        clock: The time as file stamps have it, in nanoseconds.
    """

    def __init__(
        self,
        search_path: Callable[[], Sequence[str]] = lambda: sys.path,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._search_path = search_path
        self._clock = clock
        self._seen: object = None
        self._places: tuple[Place, ...] = ()

    def places(self, cwd: Path) -> tuple[Place, ...]:
        """The folders with skills, by the names of their entry points; also those that are off.

        Args:
            cwd: The working folder; its project is not where packages are installed.
        """
        path = _split(self._search_path(), cwd)
        stamps = [_stamp(folder) for folder in (*path.installed, *path.inside)]
        seen = (path, stamps)
        if seen != self._seen:
            self._places = tuple(_places(path))
            settled = self._clock() - max(stamps, default=0) > _SETTLED
            self._seen = seen if settled else None
        return self._places


def _split(search_path: Sequence[str], cwd: Path) -> _SearchPath:
    here = {os.path.realpath(cwd), os.path.realpath(os.curdir)}
    project = Path(project_folders(cwd)[-1])
    installed: dict[str, None] = {}
    inside: dict[str, None] = {}
    for entry in search_path:
        real = os.path.realpath(entry or os.curdir)
        if real in here:
            continue
        own = Path(real).name in _SITES or not Path(real).is_relative_to(project)
        (installed if own else inside).setdefault(real)
    return _SearchPath(tuple(installed), tuple(inside))


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - plain texts
    except OSError:
        return 0


def _places(path: _SearchPath) -> Iterator[Place]:
    entries = sorted({entry for folder in path.installed for entry in _entries(folder)})
    for name, value in entries[:MAX_ENTRIES]:
        try:
            folders = _folders(value, path)
        except _Off as off:
            message = f"an installed package offers skills in {shown(value)!r}, but {off.message}"
            yield Place(Path(shown(name).replace("/", "-")), "package", None, message, off.fix)
        else:
            yield from (Place(folder, "package") for folder in folders)


def _entries(folder: str) -> Iterator[tuple[str, str]]:
    """Names and values of the group's entry points in one folder of packages."""
    try:
        with os.scandir(folder) as items:
            found = [item.path for item in items if item.name.endswith(_METADATA)]
    except OSError:
        return
    for metadata in found:
        try:
            with open(os.path.join(metadata, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123 - hundreds of calls
                data = file.read(MAX_BYTES)
        except OSError:
            continue  # most packages have none
        if GROUP.encode() in data:
            yield from _of_group(data.decode("utf-8", "replace"))


def _of_group(text: str) -> Iterator[tuple[str, str]]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def _folders(value: str, path: _SearchPath) -> list[Path]:
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


def _locations(top: str, path: _SearchPath) -> list[str]:
    """Where a top-level package lies; finds it without importing it."""
    try:
        spec = (
            importlib.machinery.PathFinder.find_spec(top, path.installed)
            or importlib.machinery.PathFinder.find_spec(top, path.inside)
            or _foreign(top)
        )
        locations = list(spec.submodule_search_locations or ()) if spec is not None else None
    except Exception as error:  # other packages' finders may raise anything
        raise _Off(f"looking for it fails ({type(error).__name__})", "install it again") from error
    if locations is None:
        raise _Off(f"there is no installed package {top}", f"%pip install it, or remove {top}")
    if not locations:
        raise _Off(f"{top} is a single file", "put the skills into a package's folder")
    return locations


def _foreign(top: str) -> importlib.machinery.ModuleSpec | None:
    """What finders beside Python's own know: editable installations have some."""
    own = (
        importlib.machinery.PathFinder,
        importlib.machinery.BuiltinImporter,
        importlib.machinery.FrozenImporter,
    )
    for finder in sys.meta_path:
        if finder not in own:
            spec = finder.find_spec(top, None)
            if spec is not None:
                return spec
    return None
