"""Files that a command writes to line by line: found, refused or made, for their owner alone.

None is overwritten: a file that is there is added to where its first line says that it is of the
same kind, and left as it is otherwise. Paths where secrets or settings lie are refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ToolError, UsageProblem
from agent_magics.records.journal import FILE_MODE, InUse, Journal
from agent_magics.tools.protection import protected
from agent_magics.tools.workspace import Workspace

FIRST = 100_000
"""Bytes of a file that are read to see what it is."""


@dataclass(frozen=True, slots=True)
class Sort:
    """What a file is to be.

    Args:
        command: The command that writes it.
        noun: What it is called.
        fits: Whether a first line is that of such a file.
    """

    command: str
    noun: str
    fits: Callable[[bytes], bool]


def opened(words: str, workspace: Workspace, sort: Sort) -> Journal:
    """The file that a person named, new or to be added to, and locked.

    Args:
        words: The path, relative to the workspace.
        workspace: The folder that the agent works in.
        sort: What the file is to be.

    Raises:
        UsageProblem: It cannot be used; the message says why, and it is left as it is.
    """
    path = _path(words, workspace)
    try:
        if path.is_dir():
            raise UsageProblem(f"{words} is a folder; {sort.command} takes a file.")
        if not _is_new(path) and not _fits(path, sort):
            raise UsageProblem(
                f"{words} is there already and is no {sort.noun}, so it is left as it is. "
                "Give another name."
            )
        return Journal.opened(path)
    except InUse as error:
        raise UsageProblem(f"{words} is being written to already, here or elsewhere.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageProblem(f"{words} cannot be written to: {why}.") from error


def refusal(journal: Journal, line: bytes, most: int, told: str) -> str:
    """Append a line; why that could not be, or nothing. A full disk costs nobody an answer.

    Args:
        journal: The file.
        line: Whole, with its end.
        most: Bytes of the file, after which nothing more is written.
        told: The same in words.
    """
    try:
        if journal.size + len(line) > most:
            return f"it would be larger than {told}"
        if journal.gone:
            return "the file was deleted"
        journal.append(line)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def unquoted(words: str) -> str:
    """A path without the quotes that it was typed in."""
    words = words.strip()
    return words[1:-1] if len(words) > 1 and words[0] in "\"'" and words[-1] == words[0] else words


def _path(words: str, workspace: Workspace) -> Path:
    try:
        root = workspace.root()
        path = Path(os.path.realpath(root / Path(words).expanduser()))
    except (ToolError, OSError, RuntimeError, ValueError) as error:
        raise UsageProblem(f"{words!r} cannot be written to: {error}") from error
    inside = path.is_relative_to(root)
    parts = path.relative_to(root).parts if inside else path.parts[1:]
    if reason := protected(parts, write=True):
        raise UsageProblem(f"{words} cannot be written to: {reason}.")
    return path


def _is_new(path: Path) -> bool:
    """Whether the file was made just now, for its owner alone; a link is never followed."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE)
    except FileExistsError:
        return False
    os.close(descriptor)
    return True


def _fits(path: Path, sort: Sort) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(FIRST)
    return not first or sort.fits(first)
