"""The files of a skill's folder, named for the model; their contents are never read here."""

from __future__ import annotations

import os
from pathlib import Path

CAP = 50
"""Names that a prompt lists; the folder's further files are counted."""
WALKED = 2_000
"""Entries looked at before the walk stops: a folder can be anything."""
SKIPPED = {"__pycache__", "node_modules"}


def resource_files(root: Path) -> tuple[tuple[str, ...], int]:
    """Paths below the folder, sorted, without SKILL.md and tools.py, and how many were left out.

    Links are not followed, hidden entries are left out.
    """
    names: list[str] = []
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        seen += len(folders) + len(files)
        here = Path(folder).relative_to(root)
        names.extend(
            (here / file).as_posix()
            for file in files
            if not file.startswith(".") and (here / file).as_posix() not in ("SKILL.md", "tools.py")
        )
        if seen > WALKED:
            break
    names.sort()
    return tuple(names[:CAP]), max(0, len(names) - CAP)
