"""The files of a skill's folder, named for the model; their contents are never read here."""

from __future__ import annotations

import os
from pathlib import Path

CAP = 50
"""Names that a prompt lists; the folder's further files are counted."""
WALKED = 2_000
"""Entries looked at before the walk stops: a folder can be anything."""
SKIPPED = {"__pycache__", "node_modules"}
OWN = ("SKILL.md", "plugin.json")


def resource_files(root: Path) -> tuple[tuple[str, ...], int]:
    """Paths below the folder, sorted, and how many were left out.

    SKILL.md is not listed, nor is plugin.json, which is for people, nor the skill's own code
    (tools.py, and the modules and packages beside it), which the model calls and need not read.
    Links are not followed, and hidden entries are left out.
    """
    code = (root / "tools.py").is_file()
    names: list[str] = []
    seen = 0
    for folder, folders, files in os.walk(root):
        if code and "__init__.py" in files:
            folders.clear()
            continue
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        seen += len(folders) + len(files)
        here = Path(folder).relative_to(root)
        names.extend(
            (here / file).as_posix()
            for file in files
            if not file.startswith(".")
            and not (here == Path() and (file in OWN or (code and file.endswith(".py"))))
        )
        if seen > WALKED:
            break
    names.sort()
    return tuple(names[:CAP]), max(0, len(names) - CAP)
