"""The search itself: a regular expression over the lines of many files.

Runs in a process of its own (see `searching`), since a regular expression can take for ever and
Python cannot be interrupted inside one. Reads a job, writes hits, line by line as JSON; so what
was found before the end came is not lost. Also usable in this process: `search`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO

from agent_magics.errors import ToolError
from agent_magics.tools import notebooks
from agent_magics.tools.documents import MAX_WHOLE, SNIFFED, beginning, decoded, opened
from agent_magics.tools.protection import protected
from agent_magics.tools.globs import matcher
from agent_magics.tools.walking import Found, Tally, walk

WIDTH = 400
"""Characters of a line that are shown around a match; lines of minified files are endless."""

_CROSSES = re.compile(r"\\[^wdbB\W_]|\[\^|\(\?(?!:)|[\x00-\x1f]")
"""What may match a line end, or look beyond it: such an expression is tried on single lines only.

That is: escaped letters and digits other than w, d, b and B, negated sets, control characters, and
groups with a question mark other than the plain kind.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """What to search, and where.

    Args:
        pattern: A regular expression of Python.
        start: A real path of a folder or a file.
        root: The workspace's folder.
        glob: Which files; empty: all. `!` at its beginning turns it round.
        ignore_case: Whether case counts not.
        limit: Hits after which the search ends.
    """

    pattern: str
    start: str
    root: str
    glob: str = ""
    ignore_case: bool = False
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches: its file, below the start; where in it; and the text."""

    path: str
    where: str
    text: str


@dataclass(slots=True)
class Summary:
    """What the search went through; `more`: there is at least one hit beyond the limit."""

    files: int = 0
    binary: int = 0
    protected: int = 0
    unreadable: int = 0
    more: bool = False
    error: str = ""


@dataclass(slots=True)
class Search:
    """One job at work."""

    job: Job
    summary: Summary = field(default_factory=Summary)

    def hits(self) -> Iterator[Hit]:
        """The hits, by path and line, at most as many as asked for; fills the summary."""
        case = re.IGNORECASE if self.job.ignore_case else 0
        expression = re.compile(self.job.pattern, case)
        anywhere = re.compile(self.job.pattern, case | re.MULTILINE)
        hopeless = _never if _CROSSES.search(self.job.pattern) else _without(anywhere)
        count = 0
        for name, path in self._files():
            for where, text in self._lines(path, hopeless):
                found = expression.search(text)
                if found is None:
                    continue
                if count == self.job.limit:
                    self.summary.more = True
                    return
                count += 1
                yield Hit(name, where, _around(text, found.start()))

    def _files(self) -> Iterator[tuple[str, Path]]:
        """The files to search, each with its name below the start."""
        start = Path(self.job.start)
        if not start.is_dir():
            yield "", start
            return
        wanted = _wanted(self.job)
        tally = Tally()
        for found in walk(start, Path(self.job.root), tally):
            if found.folder or not wanted(found):
                continue
            if protected(found.parts, write=False):
                self.summary.protected += 1
                continue
            yield "/".join(found.parts), Path(found.path)
        self.summary.unreadable += tally.unreadable

    def _lines(self, path: Path, hopeless: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        """The lines of a file, each with its number; none for what is not text.

        Args:
            path: The file.
            hopeless: Says of a whole text that no line of it can match.
        """
        try:
            with opened(path, path.name) as file:
                data = beginning(file)
                if len(data) > MAX_WHOLE:
                    file.seek(0)
                    yield from self._streamed(file, data)
                    return
        except (OSError, ToolError):
            self.summary.unreadable += 1
            return
        document = decoded(data)
        if document is None:
            self.summary.binary += 1
            return
        self.summary.files += 1
        cells = notebooks.sources(document.text) if path.suffix == notebooks.SUFFIX else None
        if cells is not None:
            for number, source in cells:
                for line, text in enumerate(_split(source), 1):
                    yield f"cell {number}:{line}", text
        elif not hopeless(document.text):
            for line, text in enumerate(_split(document.text), 1):
                yield str(line), text

    def _streamed(self, file: BinaryIO, head: bytes) -> Iterator[tuple[str, str]]:
        """The lines of a file that is too large to be loaded; very long ones in pieces."""
        if b"\0" in head[:SNIFFED]:
            self.summary.binary += 1
            return
        self.summary.files += 1
        number = 1
        while line := file.readline(MAX_WHOLE):
            yield str(number), line.rstrip(b"\r\n").decode("utf-8", "replace")
            number += line.endswith(b"\n")


def _never(_text: str) -> bool:
    return False


def _without(expression: re.Pattern[str]) -> Callable[[str], bool]:
    """Whether no line of a text can match: one look at the whole instead of one at each line."""
    return lambda text: "\r" not in text and expression.search(text) is None


def _wanted(job: Job) -> Callable[[Found], bool]:
    """Whether a file is one of those that the job's glob means."""
    if not job.glob:
        return lambda found: True
    negated = job.glob.startswith("!")
    pattern = job.glob.removeprefix("!")
    # As in ripgrep, a pattern without a slash is about names, at any depth.
    matches = matcher(pattern if "/" in pattern.strip("/") else f"**/{pattern}")
    start, root = Path(job.start), Path(job.root)
    above = start.relative_to(root).parts if start.is_relative_to(root) else ()

    def wanted(found: Found) -> bool:
        # A path is meant from the searched folder or from the workspace; models write both.
        return negated != (matches(found.parts) or matches((*above, *found.parts)))

    return wanted


def _split(text: str) -> Iterator[str]:
    """The lines of a text without their ends; an end at the very end begins no further one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return (line.removesuffix("\r") for line in lines)


def _around(line: str, start: int) -> str:
    """The part of a line around a match, with marks where it was cut."""
    if len(line) <= WIDTH:
        return line
    first = max(0, min(start - WIDTH // 4, len(line) - WIDTH))
    last = first + WIDTH
    more = f" [… {len(line):,} characters]"
    return ("… " if first else "") + line[first:last] + (" …" if last < len(line) else "") + more


def serve(source: TextIO, target: TextIO) -> None:
    """Do the one job that is read, and write its hits, then its summary."""
    search = Search(Job(**json.loads(source.read())))
    try:
        for hit in search.hits():
            target.write(json.dumps(asdict(hit)) + "\n")
            target.flush()
    except (re.error, ToolError, OSError, RecursionError, OverflowError) as error:
        search.summary.error = str(error)
    target.write(json.dumps(asdict(search.summary)) + "\n")


def main() -> None:
    """The process's entry; text in and out is ASCII JSON, whatever the locale."""
    serve(sys.stdin, sys.stdout)
