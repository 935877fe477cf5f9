"""The tool `move`: another name or another folder for a file, a link, or a folder.

Owns the checks of both ends: what is moved, and that nothing is overwritten unless that was asked
for and shown. A move within one file system is one step; what was read of a file stays read.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.backup import Coming
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import MAX_WHOLE, decoded, loaded, refuse_unwritable
from agent_magics.tools.entries import (
    Survey,
    fingerprint,
    guarded_in,
    named,
    needs_word,
    refuse_unmovable,
    survey,
)
from agent_magics.tools.keeping import keep, warning_of
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import printable, size
from agent_magics.tools.schemas import flag, record, string
from agent_magics.tools.scopes import changed_operand
from agent_magics.tools.states import ABSENT, FOLDER, new_parents
from agent_magics.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Move:
    """What would be moved where.

    Args:
        look: All that is moved.
        shown: Its name for people.
        destination: Where it goes: a real folder's path, as far as it exists, and a name.
        there: The destination's name for people.
        over: The file that is overwritten, if any.
        renamed: Whether only the case of the name changes, on a disk that takes both for one.
    """

    look: Survey
    shown: str
    destination: Path
    there: str
    over: Survey | None
    renamed: bool

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every path that changes and is there now."""
        return (*self.look.paths, *(self.over.paths if self.over else ()))

    @property
    def unkept(self) -> str:
        """Why no copy is kept for undo; a person can move it back all the same."""
        return self.look.too_large or ("only the case of the name changes" if self.renamed else "")

    @property
    def seen(self) -> bytes:
        """A digest of all that was looked at."""
        return fingerprint(self.look) + (fingerprint(self.over) if self.over else b"")


def move_tool(workspace: Workspace) -> Tool:
    """`move`: rename or move."""

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        with told():
            move = _planned(workspace, arguments)
            warning = warning_of(workspace, move.paths, move.unkept)
            shown = (*warning, *_displays(move))
            seen = move.seen
        workspace.note_preview(_key(arguments), move.destination, seen, warned=bool(warning))
        return shown

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        return await in_thread(lambda _stop: _moved(workspace, arguments))

    def operand(arguments: Arguments) -> str:
        source, destination = arguments["source"], arguments["destination"]
        return f"{named(workspace, source)} -> {named(workspace, destination)}"

    def outside(arguments: Arguments) -> bool:
        return _needs_word(workspace, arguments["source"], arguments["destination"])

    label = "move files and folders in the workspace, this session"
    return Tool(
        "move",
        "Move or rename a file, a link or a folder.\n"
        "The folders of the destination are made. Nothing is overwritten unless overwrite=true, "
        "and a folder never is.",
        record(
            ("source", "destination"),
            source=string("What is moved."),
            destination=string("Its whole new path, not just the folder it goes to."),
            overwrite=flag("Replace a file that is at the destination."),
        ),
        "write",
        run,
        operand=operand,
        preview=preview,
        outside=outside,
        always=changed_operand("move", label, operand, outside),
    )


def _key(arguments: Arguments) -> str:
    return f"move {json.dumps(dict(arguments), sort_keys=True)}"


def _needs_word(workspace: Workspace, source: str, destination: str) -> bool:
    """Whether either end, or anything that is moved, is outside or protected."""
    if needs_word(workspace, source) or needs_word(workspace, destination):
        return True
    try:
        ends = workspace.entry(source), workspace.entry(destination)
        return bool(guarded_in(workspace, *ends))
    except (ToolError, OSError):
        # A text that can be no path fails by itself; whatever else may be a path at the run.
        return workspace.outside(source, write=True) or workspace.outside(destination, write=True)


def _planned(workspace: Workspace, arguments: Arguments) -> Move:
    """What a call would move; `ToolError` when it cannot."""
    source = workspace.entry(arguments["source"])
    destination = workspace.entry(arguments["destination"])
    shown, there = workspace.shown(source), workspace.shown(destination)
    if not os.path.lexists(source):
        raise ToolError(missing(source, workspace))
    if workspace.root().is_relative_to(source):
        raise ToolError("The working folder itself, or one around it, is not moved.")
    if arguments["destination"].endswith("/") and not source.is_dir():
        raise ToolError(f"Give the whole new path, such as {there}/{printable(source.name)}.")
    if source == destination:
        raise ToolError(f"{shown} is already there; nothing to move.")
    look = survey(source)
    if stat.S_ISDIR(look.status[0].st_mode) and destination.is_relative_to(source):
        raise ToolError(f"{shown} cannot be moved into itself.")
    refuse_unmovable(source.parent, shown)
    if stat.S_ISDIR(look.status[0].st_mode) and source.parent != destination.parent:
        # The entry `..` of the folder changes.
        refuse_unmovable(source, shown)
    renamed = _is_renaming(source, destination)
    overwrite = bool(arguments.get("overwrite", False))
    over = None if renamed else _overwritten(destination, there, overwrite=overwrite)
    if over is not None and stat.S_ISDIR(look.status[0].st_mode):
        raise ToolError(f"{there} is a file; a folder cannot replace it. Delete it first.")
    return Move(look, shown, destination, there, over, renamed)


def _is_renaming(source: Path, destination: Path) -> bool:
    """Whether the disk takes both names for one, which differ in case alone."""
    if source.parent != destination.parent or source.name.casefold() != destination.name.casefold():
        return False
    # Two links of one file would both be listed.
    names = (entry.name for entry in source.parent.iterdir())
    return os.path.lexists(destination) and destination.name not in names


def _overwritten(destination: Path, there: str, *, overwrite: bool) -> Survey | None:
    """The file in the way, if it may go."""
    if not os.path.lexists(destination):
        refuse_unwritable(destination, there)
        return None
    if destination.is_dir() and not destination.is_symlink():
        raise ToolError(
            f"{there} is a folder; give the whole new path, such as {there}/NAME. "
            "A folder is never overwritten."
        )
    if not overwrite:
        raise ToolError(f"{there} exists; overwrite=true replaces it.")
    over = survey(destination)
    if over.special is not None:
        raise ToolError(f"{there} is no ordinary file; it is not replaced.")
    if not destination.is_symlink():
        refuse_unwritable(destination, there)
    return over


def _moved(workspace: Workspace, arguments: Arguments) -> ToolOutput:
    with workspace.changing:
        move = _planned(workspace, arguments)
        key = _key(arguments)
        seen = move.seen
        if workspace.outdated_preview(key, move.destination, seen):
            raise ToolError(
                f"{move.shown} or {move.there} changed after the person was asked; nothing was "
                "moved. Look again, then repeat the call."
            )
        displays, told_too = _displays(move), _warning(move)
        parents = new_parents(move.destination)
        note = keep(workspace, key, tuple(_coming(move, parents)), required=False, more=move.unkept)
        try:
            move.destination.parent.mkdir(parents=True, exist_ok=True)
            if _planned(workspace, arguments).seen != seen:
                raise ToolError(f"{move.shown} changed meanwhile; nothing was moved.")
            _put(move)
        except BaseException:
            for folder in reversed(parents):
                with suppress(OSError):
                    folder.rmdir()
            raise
        workspace.unread((move.destination,))
        workspace.moved(move.look.top, move.destination)
    return ToolOutput(f"Moved {move.shown} to {move.there}.{told_too}{note}", displays)


def _coming(move: Move, parents: tuple[Path, ...]) -> Iterator[Coming]:
    """Every path with what it will be: the folders that are made, the old places, the new ones."""
    for folder in parents:
        yield Coming(folder, FOLDER)
    if move.unkept:
        yield Coming(move.look.top, ABSENT)
        return
    for path in move.look.paths:
        yield Coming(path, ABSENT)
    for path, state in zip(move.look.paths, move.look.states(), strict=True):
        yield Coming(move.destination / path.relative_to(move.look.top), state)


def _put(move: Move) -> None:
    source, destination = move.look.top, move.destination
    if move.over is not None and os.path.samestat(move.look.status[0], move.over.status[0]):
        # Two names of one file: the operating system would leave both.
        source.unlink()
        return
    try:
        source.replace(destination) if move.over is not None else source.rename(destination)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _across(move)


def _across(move: Move) -> None:
    """Move to another file system: a copy that takes its place at once, then the old one goes."""
    if stat.S_ISDIR(move.look.status[0].st_mode):
        raise ToolError(
            f"{move.there} is on another file system, where a folder cannot be moved in one step; "
            "use run_shell (mv)."
        )
    spare = move.destination.parent / f".agent_magics-{os.urandom(8).hex()}.tmp"
    try:
        shutil.copy2(move.look.top, spare, follow_symlinks=False)
        spare.replace(move.destination)
    finally:
        spare.unlink(missing_ok=True)
    move.look.top.unlink()


# -- what a person sees ---------------------------------------------------------------------


def _displays(move: Move) -> tuple[Display, ...]:
    text = Display("text", f"Moves {_what(move)} to {move.there}.{_warning(move)}")
    if move.over is None:
        return (text,)
    old, new = _text(move.destination), _text(move.look.top)
    if old is None or new is None:
        amount = size(move.destination.lstat().st_size)
        return (Display("text", f"{text.text}\nReplaces what is there ({amount}, not shown)."),)
    if old == new:
        return (Display("text", f"{text.text}\nReplaces what is there: the same text."),)
    return (text, Display("diff", unified_diff(old, new, move.there)))


def _what(move: Move) -> str:
    mode = move.look.status[0].st_mode
    if stat.S_ISLNK(mode):
        return f"the link {move.shown}"
    if not stat.S_ISDIR(mode):
        return f"{move.shown} ({size(move.look.bytes)})"
    held = move.look.too_large or f"with {move.look.counted()}"
    return f"the folder {move.shown} ({held})"


def _warning(move: Move) -> str:
    """What a move may break: a relative link leads elsewhere from another folder."""
    top = move.look.top
    if not top.is_symlink() or top.parent == move.destination.parent:
        return ""
    return "" if top.readlink().is_absolute() else " The link is relative to its folder."


def _text(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file() or path.lstat().st_size > MAX_WHOLE:
        return None
    document = decoded(loaded(path, path.name))
    return None if document is None else document.text
