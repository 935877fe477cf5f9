"""The tools `write` and `edit`: changes of files that a person sees before they happen.

Owns the order of the checks: what is on disk was read and has not changed since, the change can
be made, the diff that was shown is still the true one. A change is computed afresh from the
disk each time, for the preview and for the run; nothing is half done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import JSON, Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools import notebooks
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import (
    Document,
    decoded,
    kind_of,
    loaded,
    refuse_unwritable,
    replaced,
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
from agent_magics.tools.schemas import flag, record, string
from agent_magics.tools.scopes import changed_path
from agent_magics.tools.workspace import Workspace


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
    """

    path: Path
    shown: str
    before: bytes | None
    after: bytes
    texts: tuple[str | None, str]
    told: str
    notes: tuple[str, ...] = ()

    def diff(self) -> Display:
        """What a person sees of it."""
        return Display("diff", unified_diff(*self.texts, self.shown))


Plan: TypeAlias = Callable[[Workspace, Arguments], Change]
"""Computes a change from the disk and changes nothing; `ToolError` when it cannot be made."""


def write_tool(workspace: Workspace) -> Tool:
    """`write`: a whole file."""
    return _tool(
        workspace,
        "write",
        "Write a whole file, new or instead of the old one. To change a part, use edit.\n"
        "An existing file must have been read first.",
        record(
            ("path", "content"),
            path=string("The file; its folders are made."),
            content=string("All of the file's text; nothing may be left out."),
        ),
        _written,
    )


def edit_tool(workspace: Workspace) -> Tool:
    """`edit`: exchanges of texts in a file."""
    texts = {
        "old": string("The text to find: exact, with its indentation, and only one place."),
        "new": string("The text that comes in its place."),
        "all": flag("Exchange every place that is exactly old."),
    }
    edits = {
        "type": "array",
        "description": "Several exchanges, in order: all are made, or none.",
        "items": record(("old", "new"), **texts),
        "minItems": 1,
    }
    return _tool(
        workspace,
        "edit",
        "Exchange text in a file that was read: give old and new, or several in edits.\n"
        "old must be in the file exactly once, without line numbers.",
        record(("path",), path=string("The file."), **texts, edits=edits),
        _edited,
    )


def _tool(
    workspace: Workspace, name: str, description: str, schema: dict[str, JSON], plan: Plan
) -> Tool:
    def preview(arguments: Arguments) -> tuple[Display, ...]:
        with told():
            change = plan(workspace, arguments)
        if change.after == change.before:
            raise ToolError(f"{change.shown} is already as it should be; nothing to write.")
        workspace.note_preview(_key(name, arguments), change.path, change.before)
        return (change.diff(),)

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        return await in_thread(lambda _stop: _made(workspace, name, plan, arguments))

    return Tool(
        name,
        description,
        schema,
        "write",
        run,
        operand=lambda arguments: workspace.shown(arguments["path"]),
        preview=preview,
        outside=lambda arguments: workspace.outside(arguments["path"], write=True),
        always=changed_path(name, f"{name} files in the workspace, this session", workspace),
    )


def _made(workspace: Workspace, name: str, plan: Plan, arguments: Arguments) -> ToolOutput:
    with workspace.changing:
        change = plan(workspace, arguments)
        if workspace.outdated_preview(_key(name, arguments), change.path, change.before):
            raise ToolError(
                f"{change.shown} changed after the person saw the difference; nothing was written. "
                "Read it again, then repeat the change."
            )
        if change.after == change.before:
            return ToolOutput(f"{change.shown} is already as it should be; nothing was written.")
        replaced(change.path, change.after, change.before)
        workspace.note(change.path, change.after)
    notes = "".join(f"\n[{note}]" for note in change.notes)
    return ToolOutput(f"{change.told}{notes}", (change.diff(),))


def _key(name: str, arguments: Arguments) -> str:
    return f"{name} {json.dumps(dict(arguments), sort_keys=True)}"


# -- plans ----------------------------------------------------------------------------------


def _written(workspace: Workspace, arguments: Arguments) -> Change:
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
    before, document = _known(path, shown, workspace)
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


def _edited(workspace: Workspace, arguments: Arguments) -> Change:
    path = workspace.resolve(arguments["path"])
    shown = workspace.shown(path)
    edits = _edits(arguments)
    if not path.exists():
        raise ToolError(f"{missing(path, workspace)} write makes a new file.")
    refuse_unwritable(path, shown)
    before, document = _known(path, shown, workspace)
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


def _known(path: Path, shown: str, workspace: Workspace) -> tuple[bytes, Document]:
    """A file's content that the model has read, and nobody has changed since.

    Nothing of an unread file is told: reading it may need a person's word.
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
