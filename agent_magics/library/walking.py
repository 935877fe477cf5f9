"""The folders of a place that are skills, or that someone may have meant as skills.

Looks at names only, and never into a SKILL.md. Direct sub-folders and groups of them up to four
levels deep; what lies below a SKILL.md belongs to that skill. Breadth first, sorted, and bounded,
so that the result is the same at every look.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.library.places import Place
from agent_magics.library.trees import SKIPPED
from agent_magics.skill.naming import shown
from agent_magics.skill.splitting import is_link_text

MAX_DEPTH = 4
MAX_FOLDERS = 2_000
"""Folders of one place that are looked at; the standard's own guidance to clients."""

_HEAD = 2_000
_HEADER_START = re.compile(rb"(\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*\n){0,9}?(name|description)[ \t]*:")

_MEANT = re.compile(r"skills?(\.md)?(\.txt|\.md)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a SKILL.md, or what stands in the way of one.

    Args:
        path: As it was reached.
        real: Where it really lies; what makes two of them the same.
        file: How the SKILL.md is spelled; empty with a problem.
        listing: What the folder holds.
        linked: Whether a link led here.
        problem: Why it cannot be used.
        fix: What to change.
    """

    path: str
    real: str
    file: str = ""
    listing: tuple[os.DirEntry[str], ...] = ()
    linked: bool = False
    problem: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    real: str
    linked: bool


def walk(place: Place, limit: int = MAX_FOLDERS) -> Iterator[Found]:
    """Everything in a place that `%skills` should list.

    Args:
        place: Need not exist.
        limit: Folders that are looked at.
    """
    path = os.fspath(place.path)
    if place.problem:
        yield Found(path, path, problem=place.problem, fix=place.fix)
        return
    if place.origin == "configured" and path.lower().endswith(f"{os.sep}skill.md"):
        path = os.path.dirname(path)  # noqa: PTH120 - plain texts all through this module
    root = _Folder(path, os.path.realpath(path), linked=False)
    try:
        listing = _listing(root.path)
    except FileNotFoundError:
        if place.origin == "configured":
            yield _problem(root, "the configured folder does not exist", "mend `skill_paths`")
        return
    except OSError as error:
        yield _problem(root, *_unreadable(error))
        return
    if not _inside(root.real, place.boundary):
        yield _problem(
            root, f"it is a link out of the project, to {shown(root.real, 200)}", "copy the skills"
        )
        return
    file = _skill_file(listing)
    if file and place.origin in ("configured", "package"):
        yield Found(root.path, root.real, file, tuple(listing))
        return
    yield from _loose_files(listing)
    yield from _below(root, listing, place, limit)


def _below(
    root: _Folder, listing: Sequence[os.DirEntry[str]], place: Place, limit: int
) -> Iterator[Found]:
    seen = {root.real}
    # Links wait until everything else was seen, so that a folder goes by its own name.
    plain: deque[tuple[_Folder, int]] = deque()
    linked: deque[tuple[_Folder, int]] = deque()
    folder, depth = root, 0
    while True:
        for entry in listing if depth < MAX_DEPTH else ():
            child = _folder(folder, entry, place)
            if isinstance(child, Found):
                yield child
            elif child is not None:
                (linked if child.linked else plain).append((child, depth + 1))
        listing = ()
        if not plain and not linked:
            return
        folder, depth = plain.popleft() if plain else linked.popleft()
        if folder.real in seen:
            continue
        if len(seen) > limit:
            fix = "move the skills to a folder of their own"
            yield _problem(root, f"only the first {limit:,} of its folders are read", fix)
            return
        seen.add(folder.real)
        try:
            listing = _listing(folder.path)
        except OSError as error:
            yield _problem(folder, *_unreadable(error))
            continue
        found = _skill(folder, listing, depth)
        if found is not None:
            yield found
            listing = ()


def _folder(parent: _Folder, entry: os.DirEntry[str], place: Place) -> _Folder | Found | None:
    """An entry of a folder as a folder to look at, as a problem to list, or as neither."""
    if entry.name.startswith(".") or entry.name in SKIPPED:
        return None
    if not entry.is_symlink():
        if not _is(entry.is_dir):
            return None
        return _Folder(entry.path, f"{parent.real}{os.sep}{entry.name}", parent.linked)
    real = os.path.realpath(entry.path)
    folder = _Folder(entry.path, real, linked=True)
    try:
        is_dir = stat.S_ISDIR(os.stat(entry.path).st_mode)  # noqa: PTH116 - plain texts
    except OSError as error:
        target = link_target(entry.path)
        circle = error.errno == errno.ELOOP
        what = "leads in a circle" if circle else "does not exist"
        return _problem(
            folder, f"it is a link to {target}, which {what}", "mend or remove the link"
        )
    if is_dir and not _inside(real, place.boundary):
        return _problem(
            folder, f"it is a link out of the project, to {shown(real, 200)}", "copy the folder"
        )
    return folder if is_dir else None


def _skill(folder: _Folder, listing: Sequence[os.DirEntry[str]], depth: int) -> Found | None:
    file = _skill_file(listing)
    if file:
        return Found(folder.path, folder.real, file, tuple(listing), folder.linked)
    for entry in listing:
        if depth == 1 and _MEANT.fullmatch(entry.name) and not _is(entry.is_dir):
            return _problem(folder, "there is no SKILL.md", f"rename {entry.name} to SKILL.md")
    return None


def _skill_file(listing: Sequence[os.DirEntry[str]]) -> str:
    names = [entry.name for entry in listing if entry.name.lower() == "skill.md"]
    return "SKILL.md" if "SKILL.md" in names else next(iter(names), "")


def _loose_files(listing: Sequence[os.DirEntry[str]]) -> Iterator[Found]:
    """Files that lie where a folder should be."""
    for entry in listing:
        name, suffix = os.path.splitext(entry.name)  # noqa: PTH122 - plain texts
        if name.startswith(".") or suffix not in ("", ".md") or not _is(entry.is_file):
            continue
        head = _head(entry)
        folder = _Folder(os.path.splitext(entry.path)[0], entry.path, linked=False)  # noqa: PTH122 - as above
        if suffix and _HEADER_START.match(head):
            yield _problem(folder, f"{entry.name} is no folder", f"move it to {name}/SKILL.md")
        elif not suffix and is_link_text(head.decode("utf-8", "replace")):
            text = shown(head.decode("utf-8", "replace"), 200)
            yield _problem(
                folder,
                f"it is a symbolic link that was checked out as text (to {text})",
                "clone with core.symlinks=true, or copy the folder it names",
            )


def _is(question: Callable[[], bool]) -> bool:
    """A question about an entry; looping links and closed folders answer with an error."""
    try:
        return question()
    except OSError:
        return False


def _head(entry: os.DirEntry[str]) -> bytes:
    try:
        with open(entry.path, "rb") as file:  # noqa: PTH123 - plain texts
            return file.read(_HEAD)
    except OSError:
        return b""


def _listing(path: str) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def link_target(path: str) -> str:
    """Where a link says it leads, for a message."""
    try:
        return shown(os.readlink(path), 200)  # noqa: PTH115 - the text of the link itself
    except OSError:
        return "an unknown place"


def _inside(real: str, boundary: Path | None) -> bool:
    return boundary is None or Path(real).is_relative_to(os.path.realpath(boundary))


def _problem(folder: _Folder, problem: str, fix: str) -> Found:
    return Found(folder.path, folder.real, linked=folder.linked, problem=problem, fix=fix)


def _unreadable(error: OSError) -> tuple[str, str]:
    if isinstance(error, NotADirectoryError):
        return "it is no folder", "a skill is a folder with a SKILL.md"
    return (
        f"the folder cannot be read: {error.strerror or error}",
        "give yourself the right to read",
    )
