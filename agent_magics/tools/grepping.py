"""The search itself: a regular expression over the lines of many files.

Runs in a process of its own (see `searching`), since a regular expression can take for ever and
Python cannot be interrupted inside one. Reads a job, writes hits, line by line as JSON; so what
was found before the end came is not lost. Also usable in this process: `Search`.

Where ripgrep runs beside it, this search begins all the same, file by file in order; as soon as
ripgrep has said in which files there can be a match, the others are passed over. So the answer is
the same with and without it, and a ripgrep that hangs costs a few seconds and no answer.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, TextIO

from agent_magics.errors import ToolError
from agent_magics.tools import notebooks
from agent_magics.tools.advice import Advice
from agent_magics.tools.documents import MAX_WHOLE, SNIFFED, content, decoded, opened
from agent_magics.tools.globs import matcher, name_matcher
from agent_magics.tools.plain import around_words
from agent_magics.tools.protection import protected
from agent_magics.tools.walking import Run, Stop, Tally, never, runs

WIDTH = 400
"""Characters of a line that are shown around a match; lines of minified files are endless."""
LISTED_FIRST = 50_000
"""Folders that are listed while ripgrep is at work, before the first file is opened."""

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Beginnings of files in which ASCII letters have two bytes."""
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
        tried: Files that are searched before ripgrep is waited for: a frequent match is among them.
        needed: A text of ASCII letters that every match needs; empty: none is known.
    """

    pattern: str
    start: str
    root: str
    glob: str = ""
    ignore_case: bool = False
    limit: int = 100
    tried: int = 300
    needed: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches: its file, below the start; where in it; and the text."""

    path: str
    where: str
    text: str


@dataclass(slots=True)
class Summary:
    """What the search went through; `more`: there is at least one hit beyond the limit.

    The counts are those of the whole search only where it came to its end; `binary` is about a
    file that was itself the start.
    """

    files: int = 0
    binary: bool = False
    unreadable: int = 0
    more: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file to search: its path below the start (empty for the start itself), and its real one."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one folder that the job means.

    Args:
        run: Where they lie.
        names: The files.
        unsure: Those of them in which ripgrep may not see a match: it reads some ignore files
            differently, and notebooks as they are on the disk.
    """

    run: Run
    names: list[str]
    unsure: frozenset[str]


@dataclass(slots=True)
class Search:
    """One job at work.

    Args:
        job: What is searched.
        advice: In which files there can be a match, from somewhere else.
        stop: Tells that nobody waits for it any more.
    """

    job: Job
    advice: Advice = field(default_factory=Advice)
    stop: Stop = never
    summary: Summary = field(default_factory=Summary)

    def hits(self) -> Iterator[Hit]:
        """The hits, by path and line, at most as many as asked for; fills the summary."""
        case = re.IGNORECASE if self.job.ignore_case else 0
        expression = re.compile(self.job.pattern, case)
        anywhere = re.compile(self.job.pattern, case | re.MULTILINE)
        hopeless = _never if _CROSSES.search(self.job.pattern) else _without(anywhere)
        count = 0
        for file in self._files():
            for where, text in self._lines(file, hopeless):
                found = expression.search(text)
                if found is None:
                    continue
                if count == self.job.limit:
                    self.summary.more = True
                    return
                count += 1
                yield Hit(file.name, where, _around(text, found.start()))

    def _files(self) -> Iterator[File]:
        """The files to search, in order."""
        start = Path(self.job.start)
        if not start.is_dir():
            self.summary.files = 1
            yield File("", str(start))
            return
        tally = Tally()
        parts = self._parts(start, tally)
        if self.advice.expected:
            # Once ripgrep is done, nothing but these names stands between it and the answer.
            parts = chain(list(islice(parts, LISTED_FIRST)), parts)
        tried = 0
        # A name can be protected by the folder above it, from which the search started.
        above = _above(self.job)
        for part in parts:
            if tried >= self.job.tried:
                self.advice.wait()
            candidates = self.advice.candidates(part.run.below, part.names)
            if not candidates and not part.unsure and not self.advice.unreadable:
                continue
            for name in part.names:
                if self.stop():
                    return
                path = part.run.folder + name
                if name in candidates or name in part.unsure:
                    tried += 1
                    shown = part.run.below + name
                    if not protected((*above, *shown.split("/")), write=False):
                        yield File(shown, path)
                elif self.advice.unreadable and not _readable(path):
                    self.summary.unreadable += 1
        self.summary.unreadable += tally.unreadable

    def _parts(self, start: Path, tally: Tally) -> Iterator[Part]:
        wanted = _wanted(self.job)
        for run in runs(start, Path(self.job.root), tally, self.stop):
            if run.folders:
                continue
            names = wanted(run)
            if run.odd:
                names = [name for name in names if name not in run.odd]
            if not names:
                continue
            self.summary.files += len(names)
            plain = run.rules.plain
            unsure = [n for n in names if n.endswith(notebooks.SUFFIX)] if plain else names
            yield Part(run, names, frozenset(unsure))

    def _lines(self, file: File, hopeless: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        """The lines of a file, each with its number; none for what is not text.

        Args:
            file: The file.
            hopeless: Says of a whole text that no line of it can match.
        """
        try:
            data = content(file.path)
        except (OSError, ToolError):
            self.summary.unreadable += 1
            return
        if len(data) > MAX_WHOLE:
            self.summary.binary = not file.name and b"\0" in data[:SNIFFED]
            yield from _streamed(file.path, data)
            return
        is_notebook = file.path.endswith(notebooks.SUFFIX)
        if file.name and not is_notebook and self._lacks(data):
            return
        document = decoded(data)
        if document is None or document.encoding.startswith("utf-32"):
            self.summary.binary = not file.name
            return
        # What comes after a NUL is no text; ripgrep, too, reads no further.
        text = document.text.partition("\0")[0]
        cells = notebooks.sources(text) if is_notebook else None
        if cells is not None:
            for number, source in cells:
                for line, written in enumerate(_split(source), 1):
                    yield f"cell {number}:{line}", written
        elif not hopeless(text):
            for line, written in enumerate(_split(text), 1):
                yield str(line), written

    def _lacks(self, data: bytes) -> bool:
        """Whether a file's bytes cannot hold what every match needs, whatever the encoding."""
        if not self.job.needed or data.startswith(_WIDE_MARKS):
            return False
        return self.job.needed.encode() not in (data.lower() if self.job.ignore_case else data)


def _streamed(path: str, head: bytes) -> Iterator[tuple[str, str]]:
    """The lines of a file that is too large to be loaded; very long ones in pieces."""
    if b"\0" in head[:SNIFFED]:
        return
    number = 1
    with opened(Path(path), path) as file:
        while line := file.readline(MAX_WHOLE):
            kept, nul, _ = line.partition(b"\0")
            if kept or not nul:
                yield str(number), kept.rstrip(b"\r\n").decode("utf-8", "replace")
            if nul:
                return
            number += line.endswith(b"\n")


def _readable(path: str) -> bool:
    by_effective = os.access in os.supports_effective_ids
    return os.access(path, os.R_OK, effective_ids=by_effective)


def _never(_text: str) -> bool:
    return False


def _without(expression: re.Pattern[str]) -> Callable[[str], bool]:
    """Whether no line of a text can match: one look at the whole instead of one at each line."""
    return lambda text: "\r" not in text and expression.search(text) is None


def _wanted(job: Job) -> Callable[[Run], list[str]]:
    """Which files of a run are those that the job's glob means."""
    if not job.glob:
        return lambda run: run.names
    negated = job.glob.startswith("!")
    pattern = job.glob.removeprefix("!")
    # As in ripgrep, a pattern without a slash is about names, at any depth.
    pattern = pattern if "/" in pattern.strip("/") else f"**/{pattern}"
    by_name = name_matcher(pattern)
    if by_name is not None:
        return lambda run: [name for name in run.names if negated != bool(by_name(name))]
    matches = matcher(pattern)
    above = _above(job)

    def wanted(run: Run) -> list[str]:
        # A path is meant from the searched folder or from the workspace; models write both.
        folder = run.below.split("/")[:-1]
        return [
            name
            for name in run.names
            if negated != (matches((*folder, name)) or matches((*above, *folder, name)))
        ]

    return wanted


def _above(job: Job) -> tuple[str, ...]:
    """The names between the workspace and the folder where a search starts."""
    start, root = Path(job.start), Path(job.root)
    return start.relative_to(root).parts if start.is_relative_to(root) else ()


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
    first, last = around_words(line, first, last)
    more = f" [… {len(line):,} characters]"
    return ("… " if first else "") + line[first:last] + (" …" if last < len(line) else "") + more


def serve(source: BinaryIO, target: TextIO) -> None:
    """Do the one job that is read, and write its hits, then its summary.

    Args:
        source: The job as a line of JSON; after it what `Advice` reads, unless it ends there.
        target: Gets lines of JSON.
    """
    order = json.loads(source.readline())
    advised = order.pop("advised")
    search = Search(Job(**order), Advice(source.read if advised else None))
    try:
        for hit in search.hits():
            target.write(json.dumps(asdict(hit)) + "\n")
            target.flush()
    except (re.error, ToolError, OSError, RecursionError, OverflowError) as error:
        search.summary.error = str(error)
    target.write(json.dumps(asdict(search.summary)) + "\n")
    target.flush()


def main() -> None:
    """The process's entry; text in and out is ASCII JSON, whatever the locale."""
    serve(sys.stdin.buffer, sys.stdout)
    # Whatever another program may still say about the files, nobody waits for it.
    os._exit(0)
