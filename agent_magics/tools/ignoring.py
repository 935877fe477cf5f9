"""What git would ignore: `.gitignore` files and `.git/info/exclude`, through pathspec.

Owns the reading of those files and their precedence (the deepest file, then the last line,
wins). Not read: the user's global ignore file, which says nothing about this project. Asked for
all names of a folder at once, since most folders hold nothing that any line could be about.
"""

from __future__ import annotations

import fnmatch
import os
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.importing import installed_only
from agent_magics.tools.documents import opened

MAX_RULES = 1_000_000
"""Bytes of an ignore file that are read; a larger one is no ignore file."""
FILE = ".gitignore"
FOREIGN_FILE = ".rgignore"

_PLAIN = re.compile(r"!?(?:[\w.\-*?/+@#$~%,=]|\[[A-Za-z0-9_]+\])+", re.ASCII)
"""Lines that git, pathspec and ripgrep of any age read alike, if their `**` are whole names."""
_CLASS = re.compile(r"\[:(\w+):\]")
_CLASSES = MappingProxyType(
    {
        **{"alpha": "A-Za-z", "digit": "0-9", "alnum": "A-Za-z0-9", "upper": "A-Z", "lower": "a-z"},
        **{"xdigit": "0-9A-Fa-f", "space": " \t\v\f", "blank": " \t"},
    }
)
"""What git's names of sets stand for; pathspec knows none of them."""
_SLASH = "ps_d"
"""pathspec's name for the group of a folder's slash."""
_LITERAL = re.compile(r"[^*?\[\\]+")
_LETTERS = re.compile(r"\[([A-Za-z]{1,5})\]")

Rule: TypeAlias = tuple["re.Pattern[str]", bool, bool]
"""How a line matches, whether it ignores, and whether it is about what is inside a folder only."""


@dataclass(frozen=True, slots=True)
class _Hints:
    """What ignored names have: a name, an end, a beginning or a pattern among these."""

    names: frozenset[str]
    ends: tuple[str, ...]
    starts: tuple[str, ...]
    others: re.Pattern[str] | None


@dataclass(frozen=True)  # no slots: what the lines mean is kept beside them, once it is needed
class Level:
    """One ignore file.

    Args:
        base: The folder that its paths are relative to, with a `/` at its end.
        lines: Those that say something, each with its `!` and without trailing blanks.
        odd: Whether the file itself is unusual: a byte order mark, not UTF-8, endless.
    """

    base: str
    lines: tuple[str, ...]
    odd: bool = False

    @cached_property
    def plain(self) -> bool:
        """Whether every program reads these lines alike; odd ones are read in as many ways."""
        return not self.odd and all(
            _PLAIN.fullmatch(line)
            and all("**" not in part or part == "**" for part in line.strip("!/").split("/"))
            for line in self.lines
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The lines as pathspec reads them, the last one first, since it wins."""
        return tuple(_rules(self.lines))[::-1]

    @cached_property
    def _hints(self) -> _Hints:
        return _hints(line for line in self.lines if not line.startswith("!"))

    def perhaps(self, names: Sequence[str], text: str) -> set[str]:
        """The names that some line may ignore: a few too many, never one too few.

        Args:
            names: Those of one folder.
            text: All of them in one, to rule out what occurs in none of them.
        """
        hints = self._hints
        found = set(hints.names.intersection(names))
        if ends := tuple(end for end in hints.ends if end in text):
            found.update(name for name in names if name.endswith(ends))
        if starts := tuple(start for start in hints.starts if start in text):
            found.update(name for name in names if name.startswith(starts))
        if hints.others is not None:
            found.update(filter(hints.others.match, names))
        return found

    def says(self, path: str) -> bool | None:
        """Whether to ignore a path whose folder is not ignored; None: nothing is said of it.

        Args:
            path: Below the base, with a `/` at its end for a folder.
        """
        for expression, ignore, inside in self.rules:
            subject = path.rstrip("/") if inside else path
            marked = _SLASH in expression.groupindex
            for found in expression.finditer(subject):
                # pathspec also finds what lies in a matching folder, and marks that one's slash.
                if not marked or found.end(_SLASH) in (-1, len(subject)):
                    return ignore
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in a folder.

    Args:
        levels: The ignore files from some top folder down to this one, top first.
        foreign: Whether there is a file that ripgrep obeys, and nobody can tell it not to.
    """

    levels: tuple[Level, ...] = ()
    foreign: bool = False

    @property
    def plain(self) -> bool:
        """Whether every program reads these rules alike."""
        return not self.foreign and all(level.plain for level in self.levels)

    def ignored(self, folder: str, names: Sequence[str], *, folders: bool) -> set[str]:
        """Those of a folder's names that git would ignore, given that the folder is not.

        Args:
            folder: A real path with a `/` at its end.
            names: What lies in it.
            folders: Whether the names are those of folders.
        """
        perhaps: set[str] = set()
        text = "/".join(names)
        for level in self.levels:
            perhaps |= level.perhaps(names, text)
        end = "/" if folders else ""
        return {name for name in perhaps if self.ignore(folder + name + end)}

    def ignore(self, path: str) -> bool:
        """Whether git would ignore a path, given that its folder is not.

        Args:
            path: A real path, with a `/` at its end for a folder.
        """
        for level in reversed(self.levels):
            said = level.says(path[len(level.base) :])
            if said is not None:
                return said
        return False

    def seen(self, folder: str, names: Container[str]) -> IgnoreRules:
        """The rules inside a folder: these, and those of the files among its names.

        Args:
            folder: A real path with a `/` at its end.
            names: The files in it.
        """
        known = bool(self.levels) and self.levels[-1].base == folder
        rules = self.with_folder(folder) if FILE in names and not known else self
        return replace(rules, foreign=True) if FOREIGN_FILE in names else rules

    def with_folder(self, folder: str) -> IgnoreRules:
        """The rules inside a folder: these, and those of its own `.gitignore`."""
        return self._with(folder, os.path.join(folder, FILE))  # noqa: PTH118 -- hot path

    def _with(self, folder: str, file: str) -> IgnoreRules:
        data = _content(file)
        lines = tuple(_lines(data.decode("utf-8-sig", "replace")))
        if not lines:
            return self
        odd = data.startswith(BOM_UTF8) or len(data) == MAX_RULES
        level = Level(folder.rstrip("/") + "/", lines, odd)
        return replace(self, levels=(*self.levels, level))


def _hints(lines: Iterable[str]) -> _Hints:
    """What the last names of some lines have in common with what they match."""
    names, ends, starts, others = set[str](), set[str](), set[str](), set[str]()
    for line in lines:
        last = line.rstrip("/").rpartition("/")[2]
        for name in _spelt(last):
            if _LITERAL.fullmatch(name):
                names.add(name)
            elif name[:1] == "*" and _LITERAL.fullmatch(name[1:]):
                ends.add(name[1:])
            elif name[-1:] == "*" and _LITERAL.fullmatch(name[:-1]):
                starts.add(name[:-1])
            elif "[" in name or "\\" in name or "**" in name:
                others.add("")
            else:
                others.add(fnmatch.translate(name))
    pattern = None if not others else re.compile("" if "" in others else "|".join(others))
    return _Hints(frozenset(names), tuple(ends), tuple(starts), pattern)


def _spelt(name: str) -> tuple[str, ...]:
    """A name with one small set of letters as the names that it stands for."""
    letters = _LETTERS.search(name)
    if letters is None:
        return (name,)
    return tuple(name[: letters.start()] + one + name[letters.end() :] for one in letters[1])


def rules_at(start: Path, top: Path) -> IgnoreRules:
    """The rules in force in a folder, from its repository (else from `top`) down.

    A folder that is itself ignored has none: whoever names it wants to see it.

    Args:
        start: A real path.
        top: Where to begin when there is no repository.
    """
    chain = _chain(start, top)
    rules = IgnoreRules()._with(str(chain[0]), str(chain[0] / ".git" / "info" / "exclude"))
    for folder in chain:
        if folder != chain[0] and rules.ignore(f"{folder}/"):
            return IgnoreRules().with_folder(str(start))
        rules = rules.with_folder(str(folder))
    return rules


def _chain(start: Path, top: Path) -> tuple[Path, ...]:
    """The folders from the repository's top (or `top`) down to the start, inclusive."""
    above = (start, *start.parents)
    root = next((folder for folder in above if (folder / ".git").exists()), None)
    if root is None:
        root = top if start.is_relative_to(top) else start
    return tuple(reversed(above[: above.index(root) + 1]))


def _characters(found: re.Match[str]) -> str:
    return _CLASSES.get(found[1], found[0])


def _content(file: str) -> bytes:
    """What is in an ignore file; nothing if there is no such (ordinary, readable) file."""
    try:
        with opened(Path(file), file) as source:
            return source.read(MAX_RULES)
    except (OSError, ToolError):
        return b""


def _lines(text: str) -> Iterator[str]:
    """The lines of an ignore file that say something."""
    for line in text.split("\n"):
        kept = line.removesuffix("\r")
        if kept.strip() and not kept.startswith("#"):
            yield kept if kept.endswith("\\ ") else kept.rstrip(" ")


def _rules(lines: Iterable[str]) -> Iterator[Rule]:
    with installed_only():
        from pathspec import GitIgnoreSpec

    for line in lines:
        with warnings.catch_warnings():
            # About odd brackets in a stranger's file; its reader can do nothing about it.
            warnings.simplefilter("ignore")
            try:
                patterns = GitIgnoreSpec.from_lines([_CLASS.sub(_characters, line)]).patterns
            except ValueError:
                # git skips a broken line silently and keeps the others.
                continue
        for pattern in patterns:
            regex = getattr(pattern, "regex", None)
            if regex is not None and pattern.include is not None:
                yield regex, pattern.include, line.endswith("/**")
