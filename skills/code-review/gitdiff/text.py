"""The diffs as text within a budget, and exactly what the budget left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .changes import DIFF, Change
from .names import quoted, shown
from .process import LINE, Git, cut_lines

TOTAL = 36_000
"""Characters of one answer's diffs; with its lists it stays below 60,000, where results are cut."""
PER_FILE = 12_000
"""Characters of one file's diff, when there are others."""
COUNTED = 2_000_000
"""Bytes of a new file whose lines are counted for the diff's heading."""

_PATCH = ("--patch", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
_SECRETS = re.compile(
    r"\.env(\.(?!example$|sample$|template$).*)?|.*\.(pem|key|p12|pfx|keystore)"
    r"|id_(rsa|dsa|ecdsa|ed25519)|\.(netrc|pgpass|npmrc|pypirc|git-credentials)",
    re.IGNORECASE,
)
_HIDDEN = b"(not shown: files of this name hold secrets, as a rule)"


@dataclass
class Diffs:
    """Takes lines, keeps what fits.

    Args:
        start: The first line of each diff that is kept, from 1.
        per_file: Characters that one file may take.
        left: Characters that are left for all.
        parts: The lines that are shown.
        cut: File to the first line of its diff that is not shown.
        begun: Files of whose diff something was looked at.
        number: Lines of the current file's diff so far.
    """

    start: int
    per_file: int
    left: int = TOTAL
    parts: list[str] = field(default_factory=list)
    cut: dict[bytes, int] = field(default_factory=dict)
    begun: set[bytes] = field(default_factory=set)
    number: int = 0
    _name: bytes = b""
    _used: int = 0

    def file(self, name: bytes) -> None:
        """What comes now belongs to this file. A changed type has two diffs under one name."""
        if name != self._name:
            self._name, self.number, self._used = name, 0, 0
        self.begun.add(name)

    def add(self, line: bytes) -> None:
        """One line of the file's diff."""
        self.number += 1
        if self.number < self.start or self._name in self.cut:
            return
        text = line.decode("utf-8", "replace")
        size = len(text) + 1
        if self._used + size > self.per_file or size > self.left:
            self.cut[self._name] = self.number
            return
        self._used += size
        self.left -= size
        self.parts.append(text)

    @property
    def full(self) -> bool:
        """Whether nothing more will be shown."""
        return self.left < 2 * LINE

    def left_out(self, changes: Sequence[Change]) -> Iterator[tuple[str, int]]:
        """Each file that is not shown whole, and the line of its diff to go on from."""
        for change in changes:
            if change.name in self.cut:
                yield shown(change.name), self.cut[change.name]
            elif change.name not in self.begun and change.kind != "U":
                yield shown(change.name), 1


def add_tracked(git: Git, against: str, staged: bool, changes: Sequence[Change], to: Diffs) -> None:
    """The diffs of files that git knows, in git's order, until the budget is used up."""
    known = [change for change in changes if change.kind != "?"]
    if not known:
        return
    headers = {change.header(): change.name for change in known}
    names = sorted({os.fsdecode(name) for change in known for name in (change.old, change.name)})
    # A command line has a limited length; beyond it all diffs are read and the chosen ones kept.
    limits = names if sum(len(name) for name in names) < 20_000 else []
    cached = ["--cached"] if staged else []
    wanted, name = False, None
    for line in git.lines(*DIFF, *_PATCH, *cached, against, "--", *limits):
        if line.startswith(b"diff --git "):
            name = headers.get(line)
            wanted = name is not None
            if to.full:
                return
            to.file(name or b"")
        if wanted:
            to.add(line)
            if to.number == 1 and _is_secret(name or b""):
                to.add(_HIDDEN)
                wanted = False


def add_untracked(root: Path, changes: Sequence[Change], to: Diffs) -> None:
    """Untracked files as git would show them once they are added."""
    for change in changes:
        if change.kind != "?":
            continue
        if to.full:
            return
        to.file(change.name)
        if change.note:
            continue
        to.add(change.header())
        try:
            for line in _new_file(root / os.fsdecode(change.name), change.name):
                to.add(line)
                if change.name in to.cut:
                    break
        except OSError as error:
            to.add(b"(cannot be read: %b)" % os.fsencode(error.strerror or str(error)))


def _new_file(file: Path, name: bytes) -> Iterator[bytes]:
    """What follows a new file's first line; contents are read only as far as anyone asks."""
    if file.is_symlink():
        target = os.fsencode(os.readlink(file))  # noqa: PTH115 - the link's own text
        yield b"new file mode 120000"
        yield from _heading(name, 1)
        yield b"+" + target
        yield b"\\ No newline at end of file"
        return
    if not file.is_file():
        yield b"(neither a file nor a link)"
        return
    if _is_secret(name):
        yield _HIDDEN
        return
    size = file.stat().st_size
    yield b"new file mode 100755" if os.access(file, os.X_OK) else b"new file mode 100644"
    if not size:
        return
    with file.open("rb") as stream:
        if b"\0" in stream.read(8_000):
            yield b"Binary file, %d bytes" % size
            return
        stream.seek(-1, os.SEEK_END)
        complete = stream.read(1) == b"\n"
        stream.seek(0)
        count = None
        if size <= COUNTED:
            count = stream.read(COUNTED).count(b"\n") + (not complete)
            stream.seek(0)
        yield from _heading(name, count)
        for line in cut_lines(stream):
            yield b"+" + line
        if not complete:
            yield b"\\ No newline at end of file"


def _is_secret(name: bytes) -> bool:
    return _SECRETS.fullmatch(os.fsdecode(name).rpartition("/")[2]) is not None


def _heading(name: bytes, count: int | None) -> Iterator[bytes]:
    yield b"--- /dev/null"
    yield b"+++ %b" % quoted(b"b/" + name)
    yield b"@@ -0,0 +1%b @@" % (b"" if count in (None, 1) else b",%d" % count)
