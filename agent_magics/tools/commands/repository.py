"""What a repository's own configuration makes git run: git reads it before it does anything.

Owns the look at `.git/config` and the hooks, as git would find them from a folder. A clone brings
none of it; an unpacked archive or a folder inside a project can.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MAX_BYTES = 200_000
"""A configuration file that is larger is taken for one that runs programs."""

_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]')
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_RUNS: dict[str, frozenset[str]] = {
    section: frozenset(keys.split())
    for section, keys in {
        "core": "fsmonitor hookspath sshcommand pager editor gitproxy askpass alternaterefscommand",
        "credential": "helper",
        "diff": "external command textconv",
        "difftool": "cmd path",
        "filter": "clean smudge process",
        "gc": "recentobjectshook",
        "gpg": "program defaultkeycommand",
        "hook": "command",
        "interactive": "difffilter",
        "lfs": "path clean smudge standalonetransferagent",
        "merge": "driver",
        "mergetool": "cmd path",
        "protocol": "allow",
        "pull": "twohead octopus",
        "remote": "uploadpack receivepack vcs",
        "sequence": "editor",
        "submodule": "update",
        "tar": "command",
        "trailer": "command cmd",
        "uploadpack": "packobjectshook",
    }.items()
}
"""Settings that name a program, by section; from the manual page of git-config, 2.47."""
_ALL = frozenset(
    ("include", "includeif", "alias", "pager", "browser", "man", "instaweb", "sendemail")
)
"""Sections of which every key may bring in a program, or another file that does."""
_NO_PROGRAM = frozenset(("", "false", "no", "off", "0", "true", "yes", "on", "1"))
"""Values of `core.fsmonitor` that name none: git's own watcher, or nothing."""


def repository_runs(folder: Path, *, reads: bool) -> str:
    """What a git command would run because this folder's repository says so, or the empty text.

    Args:
        folder: Where git is started.
        reads: Whether the git command only looks (`git status`), and so starts hardly any hook.
    """
    try:
        found = _repository(folder)
        if found is None:
            return ""
        common = _common(found)
        inner = (*common.glob("modules/*/config"), *common.glob("modules/*/*/config"))
        for path in (common / "config", found / "config.worktree", *inner):
            setting = _setting(path)
            if setting:
                return f"the repository's own configuration can run programs ({setting})"
        hook = _hook(common / "hooks", reads=reads)
    except OSError as error:
        return f"the repository cannot be read ({error.strerror})"
    return f"the repository's own hook would run ({hook})" if hook else ""


def _repository(folder: Path) -> Path | None:
    """The folder that holds the repository's insides, found as git finds it."""
    start = Path(os.path.realpath(folder))
    insides = ("HEAD", "objects", "refs")
    for place in (start, *start.parents):
        inside = place / ".git"
        if inside.is_file():
            return _pointed(inside)
        if inside.is_dir():
            return inside
        # A bare repository: git takes any folder for one that looks like it.
        if all((place / name).exists() for name in insides):
            return place
    return None


def _pointed(file: Path) -> Path:
    text = file.read_bytes()[:4096].decode("utf-8", "surrogateescape")
    return file.parent / text.partition("gitdir:")[2].strip()


def _common(found: Path) -> Path:
    """The folder that several working trees share, or the repository's own."""
    pointer = found / "commondir"
    if not pointer.is_file():
        return found
    return found / pointer.read_bytes()[:4096].decode("utf-8", "surrogateescape").strip()


def _setting(path: Path) -> str:
    if not path.is_file():
        return ""
    if path.stat().st_size > MAX_BYTES:
        return f"{path.name} is too large to be read"
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return _running_setting(text.replace("\\\n", ""))


def _running_setting(text: str) -> str:
    section = ""
    for line in text.splitlines():
        rest = line
        match = _SECTION.match(line)
        if match:
            section = match[1].lower().partition(".")[0]
            rest = line[match.end() :]
        elif line.lstrip().startswith("["):
            return "a section that cannot be read"
        key = _KEY.match(rest)
        if key is None:
            continue
        name, value = key[1].lower(), (key[2] or "true").strip().strip('"').lower()
        if section in _ALL or name in _RUNS.get(section, frozenset()):
            if (section, name) == ("core", "fsmonitor") and value in _NO_PROGRAM:
                continue
            return f"{section}.{name}"
    return ""


def _hook(folder: Path, *, reads: bool) -> str:
    if not folder.is_dir():
        return ""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".sample" or not os.access(path, os.X_OK) or not path.is_file():
            continue
        if not reads or path.name in ("post-index-change", "fsmonitor-watchman"):
            return path.name
    return ""
