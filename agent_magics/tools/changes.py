"""What `write` and `edit` make of one file, computed from the disk. Changes nothing.

Owns the checks that a change can be made at all: the file was read and has not changed since, it
is text, the place is found, the text can be written.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments
from agent_magics.tools import notebooks
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import (
    Document,
    decoded,
    kind_of,
    loaded,
    refuse_unwritable,
)
from agent_magics.tools.matching import Edit, edited
from agent_magics.tools.nearby import missing
from agent_magics.tools.new_content import (
    elisions,
    refuse_broken_notebook,
    refuse_redacted,
    refuse_sought_mark,
    sound,
)
from agent_magics.tools.plain import counted
from agent_magics.tools.states import State, file_of
from agent_magics.tools.workspace import Workspace

ONE_NAME = "Only this one gets the new text; the others keep the old one."
"""Replacing a file as a whole is what keeps it whole when the disk is full; it parts the names."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file's content before and after, with what the model should know of it.

    Args:
        path: The real path.
        shown: Its name for people.
        before: The content on disk; None: there is no file.
        after: The content to come.
        texts: Both as texts, for the diff.
        told: What was done, for the model.
        notes: What it should know besides.
        warnings: What a person must know before they approve it.
    """

    path: Path
    shown: str
    before: bytes | None
    after: bytes
    texts: tuple[str | None, str]
    told: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def diff(self) -> Display:
        """What a person sees of it."""
        return Display("diff", unified_diff(*self.texts, self.shown))

    @property
    def will(self) -> State:
        """What will stand at the path; the permissions of a file that was there stay."""
        mode = None if self.before is None else stat.S_IMODE(self.path.stat().st_mode)
        return file_of(self.after, mode)

    @property
    def remarks(self) -> tuple[Display, ...]:
        """What a person must know besides the difference."""
        names = 1 if self.before is None else self.path.stat().st_nlink
        texts = list(self.warnings)
        if names > 1:
            texts.append(f"{self.shown} has {names} names (hard links). {ONE_NAME}")
        return tuple(Display("text", text) for text in texts)


Plan: TypeAlias = Callable[[Workspace, Arguments], Change]
"""Computes a change from the disk and changes nothing; `ToolError` when it cannot be made."""


def written(workspace: Workspace, arguments: Arguments) -> Change:
    """The change that a call of `write` asks for."""
    path = workspace.resolve(arguments["path"])
    shown = workspace.shown(path)
    content: str = sound(arguments["content"], "content")
    refuse_unwritable(path, shown)
    if not path.exists():
        refuse_redacted(content, "", workspace.marks())
        refuse_broken_notebook(path, content)
        after = content.encode()
        return Change(
            path,
            shown,
            None,
            after,
            (None, content),
            f"Wrote {shown} ({_count(content)}, new).",
            elisions(content, ""),
        )
    before, document = known(path, shown, workspace)
    text, notes = _like(document, content)
    refuse_redacted(text, document.text, workspace.marks())
    after = document.encoded(text)
    refuse_broken_notebook(path, text)
    return Change(
        path,
        shown,
        before,
        after,
        (document.text, text),
        f"Wrote {shown} ({_count(text)}).",
        (*notes, *elisions(text, document.text)),
    )


def edited_file(workspace: Workspace, arguments: Arguments) -> Change:
    """The change that a call of `edit` asks for."""
    path = workspace.resolve(arguments["path"])
    shown = workspace.shown(path)
    edits = _edits(arguments)
    if not path.exists():
        raise ToolError(f"{missing(path, workspace)} write makes a new file.")
    refuse_unwritable(path, shown)
    before, document = known(path, shown, workspace)
    for edit in edits:
        refuse_sought_mark(edit.old, document.text, workspace.marks())
    try:
        result = edited(document.text, edits)
    except ToolError as error:
        raise ToolError(f"{shown}: {error}{_notebook_hint(path)}") from None
    refuse_redacted(result.text, document.text, workspace.marks())
    refuse_broken_notebook(path, result.text)
    return Change(
        path,
        shown,
        before,
        document.encoded(result.text),
        (document.text, result.text),
        f"Edited {shown}: {counted(result.count, 'place')} exchanged.",
        (*result.notes, *elisions(result.text, document.text)),
    )


def _edits(arguments: Arguments) -> list[Edit]:
    """The exchanges of a call, in either of its two forms."""
    single = [name for name in ("old", "new") if name in arguments]
    given = arguments.get("edits")
    if bool(single) == bool(given):
        raise ToolError("Give either old and new, or edits.")
    if single == ["old"] or single == ["new"]:
        raise ToolError(f"{single[0]} is there, but its counterpart is missing: give old and new.")
    items: Sequence[Arguments] = given or (arguments,)
    return [
        Edit(sound(e["old"], "old"), sound(e["new"], "new"), bool(e.get("all", False)))
        for e in items
    ]


def known(path: Path, shown: str, workspace: Workspace) -> tuple[bytes, Document]:
    """A file's content that the model has read, and nobody has changed since.

    Nothing of an unread file is told: reading it may need a person's word.

    Raises:
        ToolError: It was not read, has changed, or is no text.
    """
    data = loaded(path, shown)
    if data and not workspace.was_read(path):
        raise ToolError(f"{shown} exists and was not read in this session; read it first.")
    if data and workspace.stale(path, data):
        raise ToolError(f"{shown} changed on disk since it was read; read it again.")
    document = decoded(data)
    if document is None:
        raise ToolError(f"{shown} is not text ({kind_of(data)}); it is not changed.")
    return data, document


def _like(document: Document, content: str) -> tuple[str, tuple[str, ...]]:
    """New content with the old one's line ends and its line end after the last line."""
    text, notes = content, []
    if document.newline == "\r\n" and "\r" not in content and "\n" in content:
        text = content.replace("\n", "\r\n")
        notes.append("lines end with CRLF, as before")
    if document.text.endswith("\n") and content and not content.endswith("\n"):
        text += document.newline
        notes.append("a line end after the last line was kept")
    return text, tuple(notes)


def _notebook_hint(path: Path) -> str:
    if path.suffix != notebooks.SUFFIX:
        return ""
    return " In a notebook, old must be as in the file's own text: read it with raw=true."


def _count(text: str) -> str:
    lines = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
    return counted(lines, "line")
