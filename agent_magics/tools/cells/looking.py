"""Finding a notebook: the one that the running cell is in, or a file; and its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.notebook import LiveNotebook
from agent_magics.tools import notebooks
from agent_magics.tools.cells.merging import Cell, cells_of, merged
from agent_magics.tools.documents import decoded, loaded
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import counted
from agent_magics.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Seen:
    """A notebook as it is known.

    Args:
        title: One line: what it is and where that is known from.
        cells: In their order.
        live: Whether it is the one that the running cell is in.
    """

    title: str
    cells: tuple[Cell, ...]
    live: bool = False


def own_path(workspace: Workspace, live: LiveNotebook) -> Path | None:
    """The real path of the notebook that the running cell is in; None: it is not known."""
    path = live.place().path
    if path is None or path.suffix != notebooks.SUFFIX:
        return None
    try:
        return workspace.resolve(str(path))
    except ToolError:
        return None


def is_own(workspace: Workspace, live: LiveNotebook, path: str) -> bool:
    """Whether a path that a model gave is the notebook that the running cell is in."""
    own = own_path(workspace, live)
    if own is None:
        return False
    try:
        real = workspace.resolve(path)
        return real == own or (real.exists() and own.exists() and real.samefile(own))
    except (ToolError, OSError):
        return False


def looked_at(workspace: Workspace, live: LiveNotebook, path: str | None) -> Seen:
    """A notebook's cells; of the running cell's own one, as they are now.

    Args:
        workspace: What the path is relative to; the file counts as read.
        live: What ran.
        path: As the model gave it; None: the running cell's own notebook.

    Raises:
        ToolError: There is none, or it cannot be read.
    """
    if path is None or is_own(workspace, live, path):
        return seen_here(workspace, live)
    real = workspace.resolve(path)
    if not real.exists():
        raise ToolError(missing(real, workspace))
    values, about = _saved(workspace, real)
    return Seen(f"{workspace.shown(real)}: {about}", cells_of(values))


def seen_here(workspace: Workspace, live: LiveNotebook, *, unasked: bool = False) -> Seen:
    """The cells of the notebook, or of the terminal session, that the running cell is in.

    Args:
        workspace: Says which files may be read.
        live: What ran.
        unasked: No person and no policy was asked: read the file only where no one needs to be.
    """
    place, ran, path = live.place(), live.ran(), own_path(workspace, live)
    if path is not None and unasked and workspace.guarded(path, write=False):
        path = None
    if path is None or not path.is_file():
        cells = merged((), ran, place)
        why = "its file is not known" if path is None else "its file is not there any more"
        return Seen(
            f"This notebook ({why}): the {counted(len(cells), 'cell')} that ran in this kernel",
            cells,
            live=True,
        )
    try:
        values, about = _saved(workspace, path)
    except (ToolError, OSError) as error:
        cells = merged((), ran, place)
        return Seen(f"This notebook, as far as it ran in this kernel ({error})", cells, live=True)
    cells = merged(cells_of(values), ran, place)
    title = (
        f"This notebook, {workspace.shown(path)} (by {place.known_by}): {about}. Cells are as "
        "last saved, or as they ran since then; what was typed and not run is not known"
    )
    return Seen(title, cells, live=True)


def _saved(workspace: Workspace, path: Path) -> tuple[Sequence[dict[str, object]], str]:
    """The cells of a file as they are written, and a few words about it."""
    shown = workspace.shown(path)
    data = loaded(path, shown)
    document = decoded(data)
    if document is None:
        raise ToolError(f"{shown} is no notebook: it is not text.")
    notebook, fault = notebooks.parsed(document.text, shown)
    workspace.note(path, data)
    cells = [dict(cell) for cell in notebooks.items(notebook.get("cells"))]
    code = sum(cell.get("cell_type") == "code" for cell in cells)
    about = f"{counted(len(cells), 'cell')}, {code} of them code"
    if language := notebooks.language(notebook):
        about += f", {language}"
    return cells, about + (f" (it breaks the notebook format: {fault})" if fault else "")
