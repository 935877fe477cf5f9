"""Which files changed: tracked ones by git's own comparison, untracked ones by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .names import quoted, shown
from .process import Git, Sentence

DIFF = (
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--diff-algorithm=default",
    f"-O{os.devnull}",
    # Looking into a submodule would run programs that *its* configuration names.
    "--ignore-submodules=dirty",
    "--submodule=short",
)
"""Every command that compares starts so; each option overrides a setting."""

_KINDS = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "type changed",
    "U": "CONFLICT",
    "?": "new, untracked",
}


@dataclass(frozen=True)
class Change:
    """One changed file.

    Args:
        kind: git's letter, or `?` for an untracked file.
        name: The name now, relative to the repository's root.
        old: The name before.
        counts: Lines added and deleted; None: not counted.
        note: Further words for the list.
    """

    kind: str
    name: bytes
    old: bytes
    counts: tuple[int, int] | None = None
    note: str = ""

    def line(self) -> str:
        """The file's line in the list."""
        name = shown(self.name)
        if self.old != self.name:
            name = f"{shown(self.old)} -> {name}"
        counts = f"  +{self.counts[0]} -{self.counts[1]}" if self.counts else ""
        note = f"  ({self.note})" if self.note else ""
        return f"  {_KINDS.get(self.kind, self.kind)}: {name}{counts}{note}"

    def header(self) -> bytes:
        """The line with which git starts this file's diff."""
        return b"diff --git %b %b" % (quoted(b"a/" + self.old), quoted(b"b/" + self.name))

    def is_touched_only(self) -> bool:
        """Whether only the file's time changed: git did not look into it before it said so."""
        return self.kind == "M" and self.counts in (None, (0, 0)) and not self.note

    def is_at(self, key: str) -> bool:
        """Whether the file, under its name now or before, is this path or lies below it."""
        names = (os.fsdecode(self.name).rstrip("/"), os.fsdecode(self.old))
        return any(name == key or name.startswith(f"{key}/") for name in names)


def tracked(git: Git, against: str, staged: bool) -> list[Change]:
    """Changes of files that git knows.

    Args:
        git: In the repository's root.
        against: The commit or tree to compare with.
        staged: Compare the index with it, not the files.
    """
    cached = ["--cached"] if staged else []
    output = git.run(*DIFF, "--raw", "--numstat", "--no-abbrev", "-z", *cached, against, "--")
    tokens = iter(output.split(b"\0")[:-1])
    found: dict[bytes, Change] = {}
    for token in tokens:
        if token.startswith(b":"):
            change = _raw(token, tokens)
            found[change.name] = change
            continue
        added, deleted, name = token.split(b"\t", 2)
        if not name:  # a rename: both names follow
            next(tokens)
            name = next(tokens)
        if name in found:
            found[name] = _counted(found[name], added, deleted)
    for name in _conflicts(git):
        found[name] = replace(found.get(name, Change("U", name, name)), kind="U")
    return [change for change in found.values() if not change.is_touched_only()]


def _conflicts(git: Git) -> list[bytes]:
    """Files whose merge waits for a person."""
    entries = git.run("ls-files", "--unmerged", "-z").split(b"\0")[:-1]
    return sorted({entry.partition(b"\t")[2] for entry in entries})


def untracked(git: Git) -> list[Change]:
    """Files that git does not know and is not told to ignore."""
    output = git.run("ls-files", "--others", "--exclude-standard", "-z")
    return [
        Change("?", name, name, note="a repository of its own" if name.endswith(b"/") else "")
        for name in output.split(b"\0")[:-1]
    ]


def chosen(changes: Sequence[Change], path: str, root: Path, workspace: Path) -> list[Change]:
    """The changes at a path: as the list names it, or else relative to the workspace.

    Args:
        changes: All of them.
        path: A file or folder as the caller wrote it; empty for everything.
        root: The repository's root.
        workspace: What other tools' paths are relative to.
    """
    if path.strip() in ("", ".", "./"):
        return list(changes)
    in_workspace = os.path.relpath(workspace.resolve() / path, root.resolve())
    for way in (os.path.normpath(path), in_workspace, os.path.normpath(path.strip())):
        key = Path(way).as_posix()
        found = [c for c in changes if c.is_at(key) or shown(c.name) in (path, f'"{path}"')]
        if found or key == ".":
            return found or list(changes)
    return []


def against(git: Git, head: str, base: str) -> tuple[str, str]:
    """What to compare with, and how to say it.

    Args:
        git: In the repository's root.
        head: The last commit; empty when there is none.
        base: What the caller wants to compare with; empty for the last commit.

    Raises:
        Sentence: There is no such commit.
    """
    if not head:
        if base:
            raise Sentence("The repository has no commits yet: there is nothing to compare with.")
        empty = git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
        return empty, "no commits yet, so everything is new"
    if not base:
        return head, f"compared with the last commit, {head[:10]}"
    found = b""
    if not base.startswith("-"):
        commit = f"{base}^{{commit}}"
        found = git.run("rev-parse", "--verify", "--quiet", commit, codes=(0, 1, 128)).strip()
    if not found:
        raise Sentence(f"There is no branch, tag or commit {base!r}.")
    common = git.run("merge-base", found.decode(), head, codes=(0, 1)).strip() or found
    return common.decode(), f"compared with {common.decode()[:10]}, where it left {base}"


def _raw(token: bytes, tokens: Iterator[bytes]) -> Change:
    """One entry of `--raw -z`: modes, object names and letter, then one name or two."""
    before, after, old_id, new_id, status = token[1:].split()
    letter = status[:1].decode()
    old = next(tokens)
    name = next(tokens) if letter in "RC" else old
    note = ""
    if b"160000" in (before, after):
        note = f"submodule, {old_id[:10].decode()} to {new_id[:10].decode()}"
    elif before != after and letter in "MR":
        note = f"mode {before.decode()} to {after.decode()}"
    return Change(letter, name, old, note=note)


def _counted(change: Change, added: bytes, deleted: bytes) -> Change:
    if added == b"-":
        return replace(change, note=change.note or "binary, or marked as such")
    return replace(change, counts=(int(added), int(deleted)))
