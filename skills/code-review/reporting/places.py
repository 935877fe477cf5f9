"""The files that findings are about: whether they exist, and the lines around a place.

Only files of the workspace and of the repository around it are looked at, links followed, and
none that may hold secrets. A file that is deleted is taken from the last commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gitdiff.process import Git, Sentence
from gitdiff.process import opened as git_opened

from agent_magics.errors import ToolError
from agent_magics.tools.documents import MAX_WHOLE, beginning, decoded, opened
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import printable
from agent_magics.tools.protection import protected
from agent_magics.tools.workspace import Workspace

AROUND = 2
"""Lines of code before and after the place."""
LONGEST = 12
"""Lines of the place itself that are shown."""
WIDTH = 200
"""Characters of a line that are shown; minified files have lines of a megabyte."""


@dataclass(frozen=True)
class Source:
    """A file with its lines.

    Args:
        name: Relative to the workspace, or to the repository for what is outside of it.
        count: How many lines it has.
        lines: The lines; empty where they are no text, or too many to be shown.
        deleted: Whether these are the lines of the last commit.
    """

    name: str
    count: int
    lines: tuple[str, ...] = ()
    deleted: bool = False

    def problem(self, line: int, end: int) -> str:
        """Why lines cannot be meant; empty if they can. An empty file has a line 1."""
        known = max(self.count, 1)
        wrong = [f"line {number}" for number in dict.fromkeys((line, end)) if number > known]
        if not wrong:
            return ""
        lines = f"{self.count} line{'' if self.count == 1 else 's'}"
        last = " in the last commit" if self.deleted else ""
        return f"there is no {wrong[0]}: {self.name} has {lines}{last}"

    def code(self, line: int, end: int) -> tuple[str, int]:
        """The lines around a place, and the number of the first one."""
        first = max(line - AROUND, 1)
        last = min(end, line + LONGEST - 1) + AROUND
        rows = [
            row if len(row) <= WIDTH else f"{row[:WIDTH]}…" for row in self.lines[first - 1 : last]
        ]
        return "\n".join(rows), first


class Sources:
    """The files around a workspace, each looked at once.

    Args:
        root: The workspace's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._workspace = Workspace(lambda: root)
        self._known: dict[str, Source | str] = {}

    def source(self, file: str) -> Source:
        """The file that a model's path means.

        Args:
            file: Relative to the workspace or to the repository, or absolute; `a/` and `b/`
                of a diff and backslashes are understood.

        Raises:
            ToolError: There is none that may be looked at.
        """
        found = self._known.get(file)
        if found is None:
            try:
                found = self._found(file)
            except ToolError as error:
                found = str(error)
            self._known[file] = found
        if isinstance(found, str):
            raise ToolError(found)
        return found

    def _found(self, file: str) -> Source:
        ways = [file]
        if "\\" in file:
            ways.append(file.replace("\\", "/"))
        ways += [way[2:] for way in ways if way.startswith(("a/", "b/"))]
        refusal = ""
        for way in ways:
            for real in self._meant(way):
                reason = self._refusal(real)
                # Path.exists raises where a folder may not be entered.
                if not reason and os.path.exists(real):  # noqa: PTH110  # see above
                    return self._read(real)
                refusal = refusal or reason
        for way in ways:
            source = self._deleted(way)
            if source is not None:
                return source
        raise ToolError(refusal or missing(self._workspace.resolve(ways[-1]), self._workspace))

    def _meant(self, way: str) -> Iterator[Path]:
        """The real paths that a path can mean: from the workspace, then from the repository."""
        yield self._workspace.resolve(way)
        if self._git is not None:
            yield self._workspace.resolve(str(self._repository / way))

    def _refusal(self, real: Path) -> str:
        """Why a real path is not looked at; empty if it may be."""
        base = self._workspace.root()
        if not real.is_relative_to(base):
            base = self._repository
        if not real.is_relative_to(base):
            return "the file is outside the workspace"
        reason = protected(real.relative_to(base).parts, write=False)
        return f"the file is not looked at: {reason}" if reason else ""

    def _read(self, real: Path) -> Source:
        name = self._name(real)
        try:
            if real.is_dir():
                raise ToolError(f"{name} is a folder; name the file")
            with opened(real, name) as file:
                data = beginning(file)
                if len(data) > MAX_WHOLE:
                    return Source(name, _counted(real))
        except OSError as error:
            raise ToolError(f"{name} cannot be read ({error.strerror})") from error
        return _source(name, data)

    def _name(self, real: Path) -> str:
        return printable(Path(os.path.relpath(real, self._workspace.root())).as_posix())

    def _deleted(self, way: str) -> Source | None:
        """The file as the last commit has it; None where it has none, or git cannot say."""
        if self._git is None:
            return None
        for base in (self._workspace.root(), self._repository):
            path = Path(os.path.normpath(base / way))
            if self._refusal(path) or not path.is_relative_to(self._repository):
                continue
            inside = path.relative_to(self._repository).as_posix()
            try:
                size = self._git.run("cat-file", "-s", f"HEAD:{inside}", codes=(0, 128))
                if not size.strip().isdigit() or int(size) > MAX_WHOLE:
                    continue
                data = self._git.run("cat-file", "blob", f"HEAD:{inside}", codes=(0, 128))
            except (Sentence, ValueError):
                continue
            return _source(self._name(path), data, deleted=True)
        return None

    @cached_property
    def _git(self) -> Git | None:
        try:
            return git_opened(self._root)
        except Sentence:
            return None

    @cached_property
    def _repository(self) -> Path:
        folder = self._git.folder if self._git is not None else self._root
        return Path(os.path.realpath(folder))


def _source(name: str, data: bytes, *, deleted: bool = False) -> Source:
    document = decoded(data[:MAX_WHOLE])
    if document is None:
        # No text: a place in it can only mean the file as a whole.
        return Source(name, 1, deleted=deleted)
    lines = document.text.split("\n")
    if not lines[-1]:
        lines.pop()
    rows = tuple(line.removesuffix("\r") for line in lines)
    return Source(name, len(rows), rows, deleted)


def _counted(real: Path) -> int:
    with opened(real, real.name) as file:
        count, last = 0, b"\n"
        while block := file.read(1 << 20):
            count, last = count + block.count(b"\n"), block[-1:]
    return count + (last != b"\n")
