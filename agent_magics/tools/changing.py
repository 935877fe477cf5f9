"""The tools `write` and `edit`: changes of files that a person sees before they happen.

Owns the order of things: a change is computed afresh from the disk each time, for the preview and
for the run; the diff that was shown must still be the true one; what was there is kept for undo.
Nothing is half done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import JSON, Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.backup import Coming
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.changes import Plan, edited_file, written
from agent_magics.tools.documents import replaced
from agent_magics.tools.keeping import keep, warning_of
from agent_magics.tools.schemas import flag, record, string
from agent_magics.tools.scopes import changed_path
from agent_magics.tools.states import FOLDER, new_parents
from agent_magics.tools.workspace import Workspace


def write_tool(workspace: Workspace) -> Tool:
    """`write`: a whole file."""
    return changing_tool(
        workspace,
        "write",
        "Write a whole file, new or instead of the old one. To change a part, use edit.\n"
        "An existing file must have been read first.",
        record(
            ("path", "content"),
            path=string("The file; its folders are made."),
            content=string("All of the file's text; nothing may be left out."),
        ),
        written,
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
    return changing_tool(
        workspace,
        "edit",
        "Exchange text in a file that was read: give old and new, or several in edits.\n"
        "old must be in the file exactly once, without line numbers.",
        record(("path",), path=string("The file."), **texts, edits=edits),
        edited_file,
    )


def changing_tool(
    workspace: Workspace, name: str, description: str, schema: dict[str, JSON], plan: Plan
) -> Tool:
    """A tool that changes one file, named by its argument `path`.

    Args:
        workspace: Where the file is, and whose copies are kept.
        name: Of the tool.
        description: For the model.
        schema: Of the arguments.
        plan: Computes the change.
    """

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        with told():
            change = plan(workspace, arguments)
            warning = warning_of(workspace, (change.path,))
            remarks = change.remarks
        if change.after == change.before:
            raise ToolError(f"{change.shown} is already as it should be; nothing to write.")
        key = _key(name, arguments)
        workspace.note_preview(key, change.path, change.before, warned=bool(warning))
        return (*warning, *remarks, change.diff())

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
    key = _key(name, arguments)
    with workspace.changing:
        change = plan(workspace, arguments)
        if workspace.outdated_preview(key, change.path, change.before):
            raise ToolError(
                f"{change.shown} changed after the person saw the difference; nothing was written. "
                "Read it again, then repeat the change."
            )
        if change.after == change.before:
            return ToolOutput(f"{change.shown} is already as it should be; nothing was written.")
        remarks = "".join(f"\n[{remark.text}]" for remark in change.remarks)
        parents = new_parents(change.path)
        coming = [Coming(folder, FOLDER) for folder in parents]
        coming.append(Coming(change.path, change.will))
        unkept = keep(workspace, key, coming, required=False)
        with _no_rubbish(parents):
            replaced(change.path, change.after, change.before)
        workspace.note(change.path, change.after)
    notes = "".join(f"\n[{note}]" for note in change.notes)
    return ToolOutput(f"{change.told}{notes}{remarks}{unkept}", (change.diff(),))


@contextmanager
def _no_rubbish(parents: Sequence[Path]) -> Iterator[None]:
    """Take the folders away that were made for a file which could not be written."""
    try:
        yield
    except BaseException:
        for folder in reversed(parents):
            with suppress(OSError):
                folder.rmdir()
        raise


def _key(name: str, arguments: Arguments) -> str:
    return f"{name} {json.dumps(dict(arguments), sort_keys=True)}"
