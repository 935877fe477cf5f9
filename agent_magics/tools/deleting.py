"""The tool `delete`: a file, a link, or a folder with all that is in it.

Owns the list of what goes, which a person sees before it goes, with the text of small files. What
cannot be kept for undo is not deleted, unless a person was told so.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.backup import Coming
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import decoded, kind_of, loaded
from agent_magics.tools.entries import (
    REPOSITORIES,
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
from agent_magics.tools.plain import counted, printable, size
from agent_magics.tools.schemas import flag, record, string
from agent_magics.tools.scopes import changed_operand
from agent_magics.tools.states import ABSENT
from agent_magics.tools.workspace import Workspace

SHOWN_TEXT = 64_000
"""Bytes of one file whose text is shown before it goes."""
SHOWN_IN_ALL = 256_000
"""Bytes of all texts that are shown before a folder goes."""
LISTED = 500
"""Names that are listed before a folder goes."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What would go.

    Args:
        shown: Its name for people.
        look: All of it.
        what: In words: `the file x`, `the folder x with 3 files, 2.4 kB`.
        guarded: The protected files in it.
    """

    shown: str
    look: Survey
    what: str
    guarded: tuple[Path, ...]


def delete_tool(workspace: Workspace) -> Tool:
    """`delete`: a file, a link or a folder."""

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        with told():
            removal = _removal(workspace, arguments)
            warning = warning_of(workspace, removal.look.paths)
            seen = fingerprint(removal.look)
            shown = (*warning, *_displays(workspace, removal))
        workspace.note_preview(_key(arguments), removal.look.top, seen, warned=bool(warning))
        return shown

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        return await in_thread(lambda _stop: _deleted(workspace, arguments))

    def operand(arguments: Arguments) -> str:
        return named(workspace, arguments["path"])

    def outside(arguments: Arguments) -> bool:
        return needs_word(workspace, arguments["path"])

    label = "delete files and folders in the workspace, this session"
    return Tool(
        "delete",
        "Delete a file, a link or an empty folder.\n"
        "A folder with something in it goes only with recursive=true. A link goes, not its target.",
        record(
            ("path",),
            path=string("The file or folder."),
            recursive=flag("Delete a folder with all that is in it."),
        ),
        "delete",
        run,
        operand=operand,
        preview=preview,
        outside=outside,
        always=changed_operand("delete", label, operand, outside),
    )


def _key(arguments: Arguments) -> str:
    return f"delete {json.dumps(dict(arguments), sort_keys=True)}"


def _removal(workspace: Workspace, arguments: Arguments) -> Removal:
    """What a call would delete; `ToolError` when it cannot."""
    path = workspace.entry(arguments["path"])
    shown = workspace.shown(path)
    if not os.path.lexists(path):
        raise ToolError(missing(path, workspace))
    if workspace.root().is_relative_to(path):
        raise ToolError("The working folder itself, or one around it, is not deleted.")
    if path.name in REPOSITORIES:
        raise ToolError(f"{shown} holds the project's history; it is not deleted.")
    look = survey(path)
    _refuse(workspace, look, shown, recursive=bool(arguments.get("recursive", False)))
    guarded = guarded_in(workspace, path) if len(look.paths) > 1 else ()
    return Removal(shown, look, _what(look, shown), guarded)


def _refuse(workspace: Workspace, look: Survey, shown: str, *, recursive: bool) -> None:
    path, mode = look.top, look.status[0].st_mode
    special = look.special
    if special is not None:
        raise ToolError(f"{workspace.shown(special)} is no ordinary file; it is not deleted.")
    history = next((p for p in look.paths if p.name in REPOSITORIES), None)
    if history is not None:
        raise ToolError(
            f"{shown} holds {workspace.shown(history)}, a project's history; not deleted."
        )
    if len(look.paths) > 1 and not recursive:
        raise ToolError(f"{shown} is a folder that is not empty; recursive=true deletes it whole.")
    if look.too_large:
        raise ToolError(
            f"{shown} is not deleted: {look.too_large}, more than is kept for undo. "
            "Delete parts of it, or ask the person to delete it."
        )
    if stat.S_ISREG(mode) and not mode & 0o222:
        raise ToolError(f"{shown} is write-protected (mode {stat.filemode(mode)}).")
    for folder in (path.parent, *(f for f in look.folders if f != path or len(look.paths) > 1)):
        refuse_unmovable(folder, shown)


def _what(look: Survey, shown: str) -> str:
    mode = look.status[0].st_mode
    if stat.S_ISLNK(mode):
        target = printable(os.fspath(look.top.readlink()))
        return f"the link {shown} to {target} (what it leads to stays)"
    if stat.S_ISREG(mode):
        return f"the file {shown} ({size(look.bytes)})"
    if len(look.paths) == 1:
        return f"the empty folder {shown}"
    return f"the folder {shown} with {look.counted()}"


def _deleted(workspace: Workspace, arguments: Arguments) -> ToolOutput:
    with workspace.changing:
        removal = _removal(workspace, arguments)
        look, key = removal.look, _key(arguments)
        before = fingerprint(look)
        if workspace.outdated_preview(key, look.top, before):
            raise ToolError(
                f"{removal.shown} changed after the person saw what would go; nothing was deleted. "
                "Look at it again, then repeat the call."
            )
        displays = _displays(workspace, removal)
        note = keep(workspace, key, [Coming(path, ABSENT) for path in look.paths], required=True)
        if fingerprint(survey(look.top)) != before:
            raise ToolError(f"{removal.shown} changed meanwhile; nothing was deleted.")
        _take_away(look, removal.shown)
        workspace.unread((look.top,))
    return ToolOutput(f"Deleted {removal.what}.{note}", displays)


def _take_away(look: Survey, shown: str) -> None:
    folders = set(look.folders)
    done = 0
    try:
        # What is in a folder stands behind it.
        for path in reversed(look.paths):
            path.rmdir() if path in folders else path.unlink()
            done += 1
    except OSError as error:
        if not done:
            raise
        raise ToolError(
            f"Only {done} of {len(look.paths)} parts of {shown} were deleted: "
            f"{printable(Path(error.filename or shown).name)}: {error.strerror}."
        ) from error


# -- what a person sees ---------------------------------------------------------------------


def _displays(workspace: Workspace, removal: Removal) -> tuple[Display, ...]:
    """What goes: in words, by name, and the text of small files."""
    # A notebook is shared; what nobody may read unasked must not end up in it by being deleted.
    seen = dict(_texts(removal.look))
    texts = {p: t for p, t in seen.items() if not workspace.guarded(p, write=False)}
    lines = [f"Deletes {removal.what}."]
    if removal.guarded:
        names = ", ".join(workspace.shown(path) for path in removal.guarded[:5])
        lines.append(f"Protected among them: {counted(len(removal.guarded), 'path')} ({names}).")
    if len(removal.look.paths) > 1:
        lines += _listed(removal.look, texts)
    elif not texts and removal.look.files:
        lines.append(f"Its content is not shown: {_kind(removal.look.top)}.")
    diffs = "".join(unified_diff(text, None, workspace.shown(path)) for path, text in texts.items())
    listing = Display("text", "\n".join(lines))
    return (listing, Display("diff", diffs)) if diffs else (listing,)


def _listed(look: Survey, texts: dict[Path, str]) -> Iterator[str]:
    for path, status in list(zip(look.paths, look.status, strict=True))[1 : LISTED + 1]:
        name = printable(path.relative_to(look.top).as_posix())
        if stat.S_ISDIR(status.st_mode):
            yield f"  {name}/"
        elif stat.S_ISLNK(status.st_mode):
            yield f"  {name} -> {printable(os.fspath(path.readlink()))}"
        else:
            unseen = "" if path in texts else ", content not shown"
            yield f"  {name} ({size(status.st_size)}{unseen})"
    if len(look.paths) > LISTED + 1:
        yield f"  … and {len(look.paths) - LISTED - 1:,} more"


def _texts(look: Survey) -> Iterator[tuple[Path, str]]:
    """The small text files."""
    left = SHOWN_IN_ALL
    for path, status in zip(look.paths, look.status, strict=True):
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= min(SHOWN_TEXT, left):
            continue
        document = decoded(loaded(path, path.name))
        if document is not None:
            left -= status.st_size
            yield path, document.text


def _kind(path: Path) -> str:
    amount = path.lstat().st_size
    if amount == 0:
        return "it is empty"
    if amount > SHOWN_TEXT:
        return f"{size(amount)} are too much"
    return kind_of(loaded(path, path.name))
