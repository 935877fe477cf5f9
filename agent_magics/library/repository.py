"""Where the repository around a folder begins. Knows `.git` by its name and runs nothing."""

from __future__ import annotations

import os
from pathlib import Path


def repository_root(folder: Path) -> Path | None:
    """The nearest folder, from this one upwards, that holds `.git`; None: there is none.

    `.git` is a file in work trees and submodules, so anything of that name counts.
    """
    for candidate in (folder, *folder.parents):
        try:
            (candidate / ".git").lstat()
        except OSError:
            continue
        return candidate
    return None


def project_folders(folder: Path) -> tuple[Path, ...]:
    """The folders of the project that a folder lies in, from it up to the repository's root.

    Never above that root; without a repository, just the folder itself.
    """
    here = Path(os.path.realpath(folder))
    root = repository_root(here)
    if root is None:
        return (here,)
    above = [parent for parent in here.parents if parent.is_relative_to(root)]
    return (here, *above)
