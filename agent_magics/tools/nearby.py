"""What a model may have meant by a path that does not exist.

Owns the search for near names; says nothing about folders that a person would be asked about.
"""

from __future__ import annotations

import difflib
import unicodedata
from itertools import islice
from pathlib import Path

from agent_magics.tools.plain import printable
from agent_magics.tools.walking import Tally, walk
from agent_magics.tools.workspace import Workspace

LOOKED_AT = 5000
"""Entries of the workspace that are looked through for the same name elsewhere."""
NAMED = 3
"""Suggestions in one message; more would be no help."""


_QUOTES = {ord("\u2018"): "'", ord("\u2019"): "'", ord("\u201c"): '"', ord("\u201d"): '"'}


def missing(path: Path, workspace: Workspace) -> str:
    """The message for a path that does not exist, with what is there instead.

    Args:
        path: A real path.
        workspace: What may be looked at.
    """
    if path.is_symlink():
        return f"{workspace.shown(path)} is a link that leads nowhere."
    text = f"{workspace.shown(path)} does not exist."
    found = _suggestions(path, workspace)
    if found:
        return f"{text} Did you mean {' or '.join(found)}?"
    return f"{text} ls and glob show what there is."


def same_looking(path: Path, workspace: Workspace) -> Path:
    """The path itself, or the one file beside it whose name looks the same, if it does not exist.

    macOS writes screenshots' names with a narrow no-break space and curly quotes, and takes accents
    apart; a model writes what it reads with ordinary characters.

    Args:
        path: A real path.
        workspace: Nothing outside it, and nothing protected, is ever taken for another name.
    """
    if path.exists() or path.is_symlink() or workspace.guarded(path, write=False):
        return path
    wanted = _looks(path.name)
    found = [path.parent / name for name in _names(path.parent) if _looks(name) == wanted]
    if len(found) != 1 or found[0].is_symlink() or workspace.guarded(found[0], write=False):
        return path
    return found[0]


def _looks(name: str) -> str:
    return unicodedata.normalize("NFKC", name.translate(_QUOTES))


def _suggestions(path: Path, workspace: Workspace) -> list[str]:
    root = workspace.root()
    if workspace.guarded(path, write=False):
        return []
    # Where the path ends to exist, one name is wrong.
    name = path
    while not name.parent.is_dir() and name.parent != name:
        name = name.parent
    near = difflib.get_close_matches(name.name, _names(name.parent), n=NAMED, cutoff=0.6)
    found = [name.parent / other for other in near]
    if len(found) < NAMED:
        entries = islice(walk(root, root, Tally()), LOOKED_AT)
        same = (Path(e.path) for e in entries if e.parts[-1].casefold() == path.name.casefold())
        found += [other for other in islice(same, NAMED) if other not in found]
    return [
        printable(workspace.shown(other))
        for other in found[:NAMED]
        if not workspace.guarded(other, write=False)
    ]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in islice(folder.iterdir(), LOOKED_AT))
    except OSError:
        return []
