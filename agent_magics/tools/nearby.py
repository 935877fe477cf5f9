"""What a model may have meant by a path that does not exist.

Owns the search for near names; says nothing about folders that a person would be asked about.
"""

from __future__ import annotations

import difflib
from itertools import islice
from pathlib import Path

from agent_magics.tools.plain import printable
from agent_magics.tools.walking import Tally, walk
from agent_magics.tools.workspace import Workspace

LOOKED_AT = 5000
"""Entries of the workspace that are looked through for the same name elsewhere."""
NAMED = 3
"""Suggestions in one message; more would be no help."""


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
