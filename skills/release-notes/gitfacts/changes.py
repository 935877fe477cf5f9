"""Which files differ between two trees, their diffs within a budget, and what the budget left out.

`what` is always what `git diff` compares: `("--cached", tree)`, `(tree, tree)`, or nothing for the
files against the index.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .process import LINE, Git

TOTAL = 30_000
"""Characters of one answer's diffs; with its lists it stays below 60,000, where results are cut."""
PER_FILE = 8_000
"""Characters of one file's diff, when there are others."""
LISTED = 6_000
"""Characters of a list; what is beyond is counted."""

_DIFF = (
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
"""Every comparison starts so; each option overrides a setting."""
_PATCH = ("--patch", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
_KINDS = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "type changed",
    "U": "CONFLICT",
}
_SECRETS = re.compile(
    r"\.env(\.(?!example$|sample$|template$).*)?|.*\.(pem|key|p12|pfx|keystore)"
    r"|id_(rsa|dsa|ecdsa|ed25519)|\.(netrc|pgpass|npmrc|pypirc|git-credentials)",
    re.IGNORECASE,
)
_HIDDEN = "diff not shown: files of this name hold secrets, as a rule"
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


@dataclass(frozen=True)
class Change:
    """One changed file.

    Args:
        kind: git's letter.
        name: The name now, relative to the repository's root.
        old: The name before.
        counts: Lines added and deleted; None: not counted.
        note: Further words for the list.
        hidden: Why its diff is not shown; empty if it is.
    """

    kind: str
    name: bytes
    old: bytes
    counts: tuple[int, int] | None = None
    note: str = ""
    hidden: str = ""

    def line(self) -> str:
        """The file's line in the list."""
        name = shown(self.name)
        if self.old != self.name:
            name = f"{shown(self.old)} -> {name}"
        counts = f"  +{self.counts[0]} -{self.counts[1]}" if self.counts else ""
        notes = "".join(f"  ({note})" for note in (self.note, self.hidden) if note)
        return f"  {_KINDS.get(self.kind, self.kind)}: {name}{counts}{notes}"

    def is_touched_only(self) -> bool:
        """Whether only the file's time changed: git did not look into it before it said so."""
        return self.kind == "M" and self.counts in (None, (0, 0)) and not self.note

    def is_at(self, key: str) -> bool:
        """Whether the file, under its name now or before, is this path or lies below it."""
        names = (os.fsdecode(self.name), os.fsdecode(self.old))
        return any(name == key or name.startswith(f"{key}/") for name in names)


def changed(git: Git, *what: str) -> list[Change]:
    """The files that differ, as git lists them."""
    output = git.run(*_DIFF, "--raw", "--numstat", "--no-abbrev", "-z", *what, "--")
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
    # As a path, a name stands for everything below it too.
    folders = {parent for name in found for parent in _parents(name)}
    return [_judged(each, folders) for each in found.values() if not each.is_touched_only()]


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
    for way in (os.path.normpath(path), in_workspace):
        key = Path(way).as_posix()
        found = [c for c in changes if c.is_at(key) or shown(c.name) in (path, f'"{path}"')]
        if found or key == ".":
            return found or list(changes)
    return []


def diffs(
    git: Git, what: Sequence[str], changes: Sequence[Change], start: int, call: str
) -> list[str]:
    """The diffs as lines, and at their end exactly what was cut and the call that shows it.

    Args:
        git: In the repository's root.
        what: The comparison.
        changes: The files, in order.
        start: The first line of the diff, when there is one file only.
        call: A call that shows one file, with `{}` for the arguments that say which part.
    """
    alone = len(changes) == 1
    lines: list[str] = []
    missing: list[str] = []
    left = TOTAL
    for change in changes:
        if change.hidden:
            continue
        if left < 2 * LINE:
            missing.append(_missing(change, 1, call))
            continue
        taken, following = _diff(
            git, what, change, start if alone else 1, left if alone else min(left, PER_FILE)
        )
        lines += taken
        left -= sum(len(line) + 1 for line in taken)
        if following:
            missing.append(_missing(change, following, call))
    if not lines and alone and start > 1:
        lines = [f"The diff has fewer than {start} lines."]
    if missing:
        lines += ["", "NOT SHOWN above, for length:", *fitting(missing)]
    return lines


def fitting(lines: Sequence[str]) -> list[str]:
    """As many lines as a list may have, and how many are missing."""
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    count = sum(1 for end in ends if end <= LISTED)
    if count == len(lines):
        return list(lines)
    return [*lines[:count], f"  and {len(lines) - count} more; narrow it with `path`"]


def shown(name: bytes) -> str:
    """A file's name for reading: in quotes, with escapes, where it would be mistaken otherwise."""
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and not any(c in text for c in '"\\') and text == text.strip():
        return text
    escaped = "".join(
        f"\\{ord(c) - 0xDC00:03o}" if 0xDC80 <= ord(c) <= 0xDCFF else _escaped(c) for c in text
    )
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return f"\\{character}"
    if code in _ESCAPES:
        return _ESCAPES[code]
    return character if character.isprintable() else f"\\u{code:04x}"


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


def _parents(name: bytes) -> Iterator[bytes]:
    parts = name.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts)))


def _judged(change: Change, folders: set[bytes]) -> Change:
    bare = (os.fsdecode(name).rpartition("/")[2] for name in (change.name, change.old))
    if any(_SECRETS.fullmatch(name) for name in bare):
        return replace(change, hidden=_HIDDEN)
    if not folders.isdisjoint((change.name, change.old)):
        return replace(change, hidden="a file there, a folder here; diff not shown")
    return replace(change, hidden="a person must resolve it") if change.kind == "U" else change


def _diff(
    git: Git, what: Sequence[str], change: Change, start: int, budget: int
) -> tuple[list[str], int]:
    """One file's diff, and the number of the first line that did not fit; zero if all did."""
    names = sorted({os.fsdecode(change.old), os.fsdecode(change.name)})
    taken: list[str] = []
    for number, line in enumerate(git.lines(*_DIFF, *_PATCH, *what, "--", *names), 1):
        if number < start:
            continue
        text = line.decode("utf-8", "replace")
        budget -= len(text) + 1
        if budget < 0:
            return taken, number
        taken.append(text)
    return taken, 0


def _missing(change: Change, line: int, call: str) -> str:
    name = shown(change.name)
    argument = name if name.startswith('"') else f'"{name}"'
    part = f"from line {line} of its diff" if line > 1 else "all of it"
    after = f", start={line}" if line > 1 else ""
    return f"  {name}, {part}: {call.format(f'path={argument}{after}')}"
