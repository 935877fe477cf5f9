"""What a command names outside the workspace, as far as its text shows. For the mode `auto`.

Broad, and no wall: what a program opens by itself, and what variables hold, cannot be seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_magics.commandline import ANY
from agent_magics.tools.commands.naming import named_paths
from agent_magics.tools.workspace import Workspace

MAX_PATHS = 300
"""Words of a line that are looked up as paths; a line with more is asked about."""

_HOME = re.compile(r"(?:^|[\s=:;&|(\"'<>])~|\$\{?(?:HOME|OLDPWD|TMPDIR|XDG_\w+)\b")
_HIDDEN = re.compile(rf"(?:^|/)\.[^/]*{ANY}")


def seen_outside(command: str, named: Iterable[tuple[str, bool]], workspace: Workspace) -> str:
    """Why a command needs a person's word for what it names, or the empty text.

    Args:
        command: The text for the shell.
        named: Words that may be paths, and whether the file would only be looked at.
        workspace: Says what is protected or outside.
    """
    if _HOME.search(command):
        return "it names the home folder"
    words = tuple(named)
    if len(words) > MAX_PATHS:
        return "it names too many things to look at each"
    for word, looks in words:
        for path in named_paths(word):
            if path == "/dev/null":
                continue
            unknown = path.startswith(f"{ANY}/") or bool(_HIDDEN.search(path))
            if unknown or workspace.outside(path.replace(ANY, "x"), write=not looks):
                shown = word.replace(ANY, "…")
                return f"{shown} is protected, or outside the workspace"
    return ""
