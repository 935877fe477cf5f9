"""Entry points of installed packages, read from the disk; nothing is imported.

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

from agent_magics.library.repository import project_folders

PREFIX = "agent_magics."
"""How the names of all groups begin that are read."""
MAX_BYTES = 256_000
"""Bytes of an entry_points.txt that are read."""

_SITES = ("site-packages", "dist-packages")
_METADATA = (".dist-info", ".egg-info")
_PACKAGE = re.compile(r"(?P<name>[^-]+)(?:-(?P<version>[^-]+)(?:-.*)?)?")
_SETTLED = 2_000_000_000
"""Nanoseconds after which a changed folder counts as at rest: an installation takes a while."""


@dataclass(frozen=True, slots=True)
class SearchPath:
    """Where Python looks for modules, split by who can have put something there.

    Args:
        installed: Folders outside of the project, and environments in it.
        inside: Further folders of the project; editable installations may lead there.
    """

    installed: tuple[str, ...]
    inside: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class EntryPoint:
    """One line of a package's metadata.

    Args:
        name: Left of `=`.
        value: Right of it.
        group: The section.
        package: Whose it is, by the name of its metadata folder.
        version: Likewise; empty: not known.
    """

    name: str
    value: str
    group: str = ""
    package: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a look at the disk brought; the same object until something changes."""

    path: SearchPath
    entries: tuple[EntryPoint, ...]


class EntryPoints:
    """The entry points of some groups, looked at again when a folder has changed.

    Args:
        groups: Whole names.
        search_path: Where Python looks for modules.
        clock: The time as file stamps have it, in nanoseconds.
    """

    def __init__(
        self,
        groups: Sequence[str],
        search_path: Callable[[], Sequence[str]] = lambda: sys.path,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._groups = frozenset(groups)
        self._search_path = search_path
        self._clock = clock
        self._seen: object = None
        self._found = Found(SearchPath((), ()), ())

    def found(self, cwd: Path) -> Found:
        """Those of all installed packages, sorted.

        Args:
            cwd: The working folder; its project is not where packages are installed.
        """
        path = _split(self._search_path(), cwd)
        stamps = [_stamp(folder) for folder in (*path.installed, *path.inside)]
        seen = (path, stamps)
        if seen != self._seen:
            entries = {e for f in path.installed for e in _entries(f) if e.group in self._groups}
            self._found = Found(path, tuple(sorted(entries)))
            settled = self._clock() - max(stamps, default=0) > _SETTLED
            self._seen = seen if settled else None
        return self._found


def _split(search_path: Sequence[str], cwd: Path) -> SearchPath:
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
    return SearchPath(tuple(installed), tuple(inside))


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - plain texts
    except OSError:
        return 0


def _entries(folder: str) -> Iterator[EntryPoint]:
    """Our entry points in one folder of packages."""
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
        if PREFIX.encode() in data:
            yield from _of(data.decode("utf-8", "replace"), Path(metadata).stem)


def _of(text: str, stem: str) -> Iterator[EntryPoint]:
    package = _PACKAGE.fullmatch(stem)
    name, version = (package["name"], package["version"] or "") if package else (stem, "")
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group.startswith(PREFIX) and "=" in line and not line.startswith(("#", ";")):
            left, _, right = line.partition("=")
            yield EntryPoint(left.strip(), right.strip(), group, name.replace("_", "-"), version)


def installed_spec(top: str, path: SearchPath) -> importlib.machinery.ModuleSpec | None:
    """Where an installed top-level module or package lies, without importing it.

    Raises:
        Exception: Whatever other packages' finders raise.
    """
    return (
        importlib.machinery.PathFinder.find_spec(top, path.installed)
        or importlib.machinery.PathFinder.find_spec(top, path.inside)
        or _foreign(top)
    )


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
