"""The tools `notebook_outline`, `notebook_read` and `notebook_edit`.

Owns what they take and say. The notebook that is open here is read live and is not changed on disk
behind the editor's back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_magics.errors import ToolError
from agent_magics.notebook import LiveNotebook
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools import notebooks
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.cells.editing import KINDS, comparable, edited_cells
from agent_magics.tools.cells.looking import Seen, is_own, looked_at, own_path
from agent_magics.tools.cells.merging import Cell
from agent_magics.tools.cells.telling import BUDGETS, outline
from agent_magics.tools.cells.telling import told as told_cells
from agent_magics.tools.changes import Change, Plan, known
from agent_magics.tools.changing import changing_tool
from agent_magics.tools.documents import refuse_unwritable
from agent_magics.tools.nearby import missing
from agent_magics.tools.new_content import refuse_redacted
from agent_magics.tools.plain import counted
from agent_magics.tools.schemas import flag, integer, record, string
from agent_magics.tools.scopes import exactly, this_path
from agent_magics.tools.workspace import Workspace

OWN = "the notebook of the running cell"
_PATH = string("The notebook file; without it, the notebook that the person is in.")
OPEN = (
    "This notebook is open in the editor. The file is changed behind the editor's back: cells that "
    "are not saved there, and this cell's output, can get lost when either side is saved over the "
    "other. Save first, and reload the notebook from disk afterwards."
)
REFUSED = (
    "{shown} is the notebook that the person has open. Its file is not changed behind the editor's "
    "back: propose the new cell with propose_cell, or say what to change. If the person asked for "
    "exactly that, repeat the call with although_open=true; they are warned and asked."
)


def notebook_outline_tool(workspace: Workspace, live: LiveNotebook) -> Tool:
    """`notebook_outline`: one row for each cell."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        def look() -> ToolOutput:
            with told():
                seen = looked_at(workspace, live, arguments.get("path"))
            return ToolOutput(f"{seen.title}.\n{outline(seen.cells) or '(no cells)'}")

        return await in_thread(lambda _stop: look())

    return _reading(
        workspace,
        live,
        "notebook_outline",
        "List the cells of a notebook: place, kind, id, first line, size, errors, headings.\n"
        "Without a path it is the notebook that the person is in, as it is now.",
        record(path=_PATH),
        run,
    )


def notebook_read_tool(workspace: Workspace, live: LiveNotebook) -> Tool:
    """`notebook_read`: cells with their outputs."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        def look() -> ToolOutput:
            with told():
                seen = looked_at(workspace, live, arguments.get("path"))
            cells = _chosen(seen, arguments)
            shown = arguments.get("outputs", "short")
            found = told_cells(cells, shown, images=bool(arguments.get("images")))
            return ToolOutput(f"{seen.title}.\n{found.text or '(no cells)'}", images=found.images)

        return await in_thread(lambda _stop: look())

    return _reading(
        workspace,
        live,
        "notebook_read",
        "Read cells of a notebook whole, with their outputs shortened, whole, or left out.\n"
        "Without a path it is the notebook that the person is in, as it is now.",
        record(
            path=_PATH,
            cells={
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids, or places like #3; without them, first and last count.",
            },
            first=integer("The first cell, by its place from 1.", 1, None, 1),
            last={"type": "integer", "minimum": 1, "description": "The last cell, included."},
            outputs={
                "type": "string",
                "enum": list(BUDGETS),
                "default": "short",
                "description": "How much of the outputs.",
            },
            images=flag("Look at the pictures in outputs."),
        ),
        run,
    )


def _reading(
    workspace: Workspace,
    live: LiveNotebook,
    name: str,
    description: str,
    schema: dict[str, object],
    run: Callable[[Arguments, Report], object],
) -> Tool:
    def path(arguments: Arguments) -> str:
        own = own_path(workspace, live)
        return str(arguments.get("path") or own or "")

    return Tool(
        name,
        description,
        schema,
        "read",
        run,  # type: ignore[arg-type]  # one of the two above
        operand=lambda arguments: workspace.shown(path(arguments)) if path(arguments) else OWN,
        outside=lambda arguments: (
            bool(path(arguments)) and workspace.outside(path(arguments), write=False)
        ),
        always=lambda arguments: (
            this_path(name, workspace)({"path": path(arguments)}) if path(arguments) else ()
        ),
    )


def _chosen(seen: Seen, arguments: Arguments) -> Sequence[Cell]:
    """The cells that a call asks for."""
    names = arguments.get("cells")
    if names:
        if "first" in arguments or "last" in arguments:
            raise ToolError("Give either cells, or first and last.")
        return [_named(seen, name) for name in names]
    first, last = int(arguments.get("first", 1)), arguments.get("last")
    count = len(seen.cells)
    if last is not None and last < first:
        raise ToolError(f"last={last} is before first={first}.")
    if count and first > count:
        raise ToolError(f"first={first} is behind the last cell: there are {count}.")
    return seen.cells[first - 1 : last]


def _named(seen: Seen, name: str) -> Cell:
    found = [cell for cell in seen.cells if name in (cell.id, f"#{cell.number}")]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(f"#{cell.number}" for cell in found)
        raise ToolError(f"{len(found)} cells have the id {name!r}; name one as {places}.")
    raise ToolError(
        f"There is no cell {name!r}; notebook_outline lists the {counted(len(seen.cells), 'cell')}."
    )


def notebook_edit_tool(workspace: Workspace, live: LiveNotebook) -> Tool:
    """`notebook_edit`: cells of a notebook on disk."""

    def outside(arguments: Arguments) -> bool:
        # The open notebook is asked about each time, whatever else is allowed.
        path = arguments["path"]
        return workspace.outside(path, write=True) or is_own(workspace, live, path)

    def always(arguments: Arguments) -> tuple[object, ...]:
        if is_own(workspace, live, arguments["path"]):
            return ()
        if outside(arguments):
            return exactly(tool.name, workspace.shown(arguments["path"]))
        return tool.scopes(arguments)

    tool = changing_tool(
        workspace,
        "notebook_edit",
        "Change cells of a notebook file that was read: insert, replace, delete, move.\n"
        "Cells are named by id, or by place as #3, always as they were before the call. Outputs of "
        "replaced code cells are cleared. For the notebook the person is in, use propose_cell.",
        record(
            ("path", "edits"),
            path=string("The notebook file."),
            edits={
                "type": "array",
                "minItems": 1,
                "description": "All are made, or none.",
                "items": record(
                    ("do",),
                    do={
                        "type": "string",
                        "enum": ["insert", "replace", "delete", "move"],
                        "description": "insert: source, kind, after. replace: cell, source, kind. "
                        "delete: cell. move: cell, after.",
                    },
                    cell=string("The id or place of the cell that is changed."),
                    source=string("All of the cell's text."),
                    kind={
                        "type": "string",
                        "enum": list(KINDS),
                        "description": "Of the cell; code for a new one.",
                    },
                    after=string("The cell behind which it comes; without it, the top."),
                ),
            },
            keep_outputs=flag("Leave the outputs of replaced code cells as they are."),
            although_open=flag("Change the file of the notebook that is open, with a warning."),
        ),
        _plan(live),
    )
    return replace(tool, outside=outside, always=always)  # type: ignore[arg-type]  # scopes


def _plan(live: LiveNotebook) -> Plan:
    def plan(workspace: Workspace, arguments: Arguments) -> Change:
        path = workspace.resolve(arguments["path"])
        shown = workspace.shown(path)
        if path.suffix != notebooks.SUFFIX:
            raise ToolError(f"{shown} is no notebook (.ipynb); edit changes text files.")
        if not path.exists():
            raise ToolError(f"{missing(path, workspace)} write makes a new file.")
        own = is_own(workspace, live, arguments["path"])
        if own and not arguments.get("although_open", False):
            raise ToolError(REFUSED.format(shown=shown))
        refuse_unwritable(path, shown)
        before, document = known(path, shown, workspace)
        made = edited_cells(
            document.text,
            shown,
            arguments["edits"],
            keep_outputs=bool(arguments.get("keep_outputs", False)),
        )
        refuse_redacted(made.text, document.text, workspace.marks())
        return Change(
            path,
            shown,
            before,
            document.encoded(made.text),
            (comparable(document.text, shown), comparable(made.text, shown)),
            f"Changed {shown}: {'; '.join(made.told)}.",
            made.notes,
            (OPEN,) if own else (),
        )

    return plan
