"""What a person is shown of a skill folder before they trust it: its tree, and its texts.

Reads files and runs nothing. Whether the person says yes is asked elsewhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agent_magics.library.trees import Node, scanned_tree
from agent_magics.skill.naming import shown as named

MAX_TEXT = 200_000
"""Characters of all texts that are shown: what nobody reads in a card is named by its size."""
MAX_ROWS = 200
"""Lines of the tree; further files are counted."""
MAX_NAME = 300
"""Characters of a name or a link's target that are shown."""
_LANGUAGES = {".md": "markdown", ".py": "python", ".json": "json", ".sh": "bash"}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One file as it is shown.

    Args:
        name: Relative to the skill's folder.
        text: Whole.
        language: A lexer's name.
    """

    name: str
    text: str
    language: str


def file_tree(root: Path) -> str:
    """Every file of the folder with its size, hidden ones and links too, one on a line.

    Raises:
        OSError: The folder cannot be read.
    """
    tree = scanned_tree(str(root))
    rows = [_row(root, node) for node in tree.nodes[:MAX_ROWS]]
    more = len(tree.nodes) - len(rows)
    if more or not tree.complete:
        rows.append(f"and {more or 'many'} more")
    return "\n".join(rows)


def exhibits(root: Path) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
    """The files that steer the agent or run: SKILL.md, plugin.json, and Python and shell code.

    Returns:
        The texts, SKILL.md and tools.py first; and the names of those that are too long to show.

    Raises:
        OSError: The folder cannot be read.
    """
    shown: list[Exhibit] = []
    left_out: list[str] = []
    left = MAX_TEXT
    names = [node.name for node in scanned_tree(str(root)).nodes if _steers(node)]
    for name in sorted(names, key=_rank):
        try:
            data = (root / name).read_bytes()
        except OSError:
            left_out.append(named(name, MAX_NAME))
            continue
        text = data.decode("utf-8", "backslashreplace")
        if len(text) > left:
            left_out.append(named(name, MAX_NAME))
            continue
        left -= len(text)
        shown.append(Exhibit(named(name, MAX_NAME), text, _LANGUAGES[Path(name).suffix.lower()]))
    return tuple(shown), tuple(left_out)


def _steers(node: Node) -> bool:
    if node.kind not in ("file", "link"):
        return False
    suffix = Path(node.name).suffix.lower()
    if suffix in (".py", ".sh"):
        return True
    return "/" not in node.name and node.name.lower() in ("skill.md", "plugin.json")


def _rank(name: str) -> tuple[int, str]:
    first = {"skill.md": 0, "tools.py": 1}
    return (first.get(name.lower(), 2), name)


def _row(root: Path, node: Node) -> str:
    name = named(node.name, MAX_NAME)
    if node.kind == "link":
        try:
            return f"{name} -> {named(os.fspath((root / node.name).readlink()), MAX_NAME)}"
        except OSError:
            return f"{name} (a link)"
    if node.kind != "file":
        return f"{name} (not a file that can be read)"
    return f"{name}  {node.size:,} bytes"
