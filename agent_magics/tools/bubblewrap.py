"""Confining a command with bubblewrap (`bwrap`): namespaces and read-only mounts.

Owns its arguments. Whether it works on this machine (user namespaces may be switched off) is
found out by a real run elsewhere.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.tools.protection import hidden_name
from agent_magics.tools.sandbox import Bounds

DEPTH = 3
"""Levels of the workspace in which files with secrets are hidden (gemini-cli looks as deep)."""
LOOKED_AT = 5000
"""Entries of the workspace that are looked at for them."""
_SKIPPED = frozenset((".git", "node_modules", ".venv", "venv", "__pycache__", ".tox"))
_SOCKETS = ("/run",)
"""Where sockets of services lie through which a command could leave (D-Bus, Docker)."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """See the module's text."""

    @property
    def name(self) -> str:
        """For people."""
        return "bubblewrap"

    def missing(self) -> str:
        """Why it cannot be here."""
        return "" if _program() else "bwrap is not installed"

    def unfit(self, bounds: Bounds) -> str:
        """It can keep any bounds, unless its program belongs to the workspace."""
        program = _program()
        inside = program is not None and program.is_relative_to(bounds.root)
        return "bwrap lies in the workspace itself" if inside else ""

    def network(self, bounds: Bounds) -> str:
        """What is open of the network."""
        return "with network" if bounds.network else "no network"

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        """The private folder is /tmp there."""
        return {"TMPDIR": "/tmp"}  # noqa: S108  # the private folder is mounted there

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        """The program and arguments that run the words in these bounds.

        Not `--die-with-parent`: what a command leaves in the background outlives it, as without
        a sandbox. It stays in the group that is ended at a time-out, and carries its mark.
        """
        program = _program()
        assert program is not None, "asked only after `missing`"
        # The workspace may lie in a hidden folder, and hidden ones in the workspace.
        within = [place for place in bounds.hidden if place.is_relative_to(bounds.root)]
        around = [place for place in bounds.hidden if place not in within]
        return (
            str(program),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *_private(bounds),
            *_hidden(around),
            *("--bind", str(bounds.root), str(bounds.root)),
            *_kept(bounds),
            *_hidden((*within, *_secrets_in(bounds.root))),
            *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-user-try"),
            *(() if bounds.network else ("--unshare-net",)),
            *("--cap-drop", "ALL", "--chdir", str(bounds.root), "--"),
            *words,
        )


def _program() -> Path | None:
    found = shutil.which("bwrap")
    return Path(os.path.realpath(found)) if found and Path(found).is_absolute() else None


def _private(bounds: Bounds) -> Iterator[str]:
    """A /tmp of its own, with what of the machine's own is needed in it."""
    temporary = Path("/tmp")  # noqa: S108  # the machine's folder is replaced, not used
    yield from ("--bind", str(bounds.scratch), "/tmp")  # noqa: S108  # as above
    places = [Path(sys.prefix), Path(sys.base_prefix)]
    places += [Path(place) for place in os.get_exec_path() if place]
    for place in dict.fromkeys(places):
        if place.is_relative_to(temporary) and place != temporary and place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    for place in map(Path, _SOCKETS):
        # With a network, names are looked up through a file there.
        if place.is_dir():
            yield from ("--tmpfs", str(place))
            resolver = Path("/etc/resolv.conf").resolve()
            if bounds.network and resolver.is_relative_to(place) and resolver.is_file():
                yield from ("--ro-bind", str(resolver), str(resolver))


def _kept(bounds: Bounds) -> Iterator[str]:
    for place in bounds.kept:
        real = Path(os.path.realpath(place))
        # What a link leads to elsewhere cannot be written anyway.
        if real.is_relative_to(bounds.root) and real.exists():
            yield from ("--ro-bind", str(real), str(real))


def _hidden(places: Iterable[Path]) -> Iterator[str]:
    for place in places:
        real = Path(os.path.realpath(place))
        if real.is_dir():
            yield from ("--tmpfs", str(real))
        elif real.exists():
            yield from ("--ro-bind", "/dev/null", str(real))


def _secrets_in(root: Path) -> Iterator[Path]:
    """Files of the workspace whose names say that they hold secrets, near its top."""
    waiting = [(root, 1)]
    left = LOOKED_AT
    while waiting and left > 0:
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as scan:
                entries = list(scan)
        except OSError:
            continue
        left -= len(entries)
        for entry in entries:
            if hidden_name(entry.name):
                yield Path(entry.path)
            elif depth < DEPTH and entry.name not in _SKIPPED and _is_folder(entry):
                waiting.append((Path(entry.path), depth + 1))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
