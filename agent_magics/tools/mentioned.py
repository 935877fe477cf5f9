"""Files that a prompt names: found in the listing of the workspace, never on the way to them.

Small models answer from a file's name instead of opening the file, so what a person names is put
before them. Owns which words are names of files. Reads nothing, and finds only what `glob` would
show: nothing that git ignores, no protected file, no link.
"""

from __future__ import annotations

import re

from agent_magics.errors import ToolError
from agent_magics.tools.mapping import listed
from agent_magics.tools.workspace import Workspace

MOST = 3
"""Files of one prompt; further ones are read with a tool."""
_WORD = re.compile(r"[\w@~+./-]+")


def mentioned(text: str, workspace: Workspace) -> tuple[str, ...]:
    """Paths in the workspace that a text names, in its order, `MOST` at most.

    A name without its folder counts where just one file is called so.

    Args:
        text: The person's words.
        workspace: Whose folder.
    """
    words = [word.rstrip(".").removeprefix("./") for word in _WORD.findall(text)]
    words = [word for word in words if "." in word or "/" in word]
    if not words:
        return ()
    try:
        files = listed(workspace.root())
    except (ToolError, OSError):
        return ()
    found: dict[str, None] = {}
    for word in words:
        hits = [path for path in files if path == word]
        hits = hits or [path for path in files if path.endswith(f"/{word}")]
        if len(hits) == 1:
            found[hits[0]] = None
    return tuple(found)[:MOST]
