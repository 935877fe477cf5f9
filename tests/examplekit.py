"""Runs an example notebook as a page of JupyterLab would, and gives it back with its outputs.

The page's person is the cell's metadata: `{"example": {"clicks": [...]}}` names the buttons that
are pressed below the cell, in their order: `"Approve"`, any other button by its label,
`{"Deny": "a reason"}`, or `{"Edit": {"path": "other.txt"}}` for the arguments that are changed. A
click that is not asked for, and a question that no click answers, are errors: what is stored is
what happened.

Owns what is taken out of outputs because it differs from run to run or from machine to machine,
and nothing beyond: folders below the temporary one, ports of this machine, the date of a
turn, seconds of a connection's check.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

from tests.kernelkit import Cell, FrontEnd, Kernel

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
DEADLINE = 180.0
"""Seconds for one cell: a cluster's start can take long on a busy machine."""
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
ALLOWED = {"quickstart": "git_diff report_findings edit"}
"""Tools that a notebook's run is allowed by name, as the quickstart's command does."""


class Unanswered(AssertionError):
    """The clicks of a cell and the questions below it do not fit together."""


def names() -> list[str]:
    """The notebooks, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def stored(name: str, source: Path = FOLDER) -> Any:
    """A notebook as it lies in the repository."""
    return nbformat.read(source / f"{name}.ipynb", as_version=4)


def executed(name: str, folder: Path, source: Path = FOLDER) -> Any:
    """A notebook with the outputs of a run of its own.

    Args:
        name: Which one.
        folder: All that the run writes lies in it.
        source: Where the notebook lies, with its recording and its data.
    """
    notebook = stored(name, source)
    here = folder / "notebooks"
    # Only what a notebook may use of its folder, so that nothing is written into the repository.
    for part in ("recordings", "data"):
        if (source / part).is_dir():
            shutil.copytree(source / part, here / part)
    here.mkdir(exist_ok=True)
    with _page(name, folder, here) as page:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                ran = _ran(page, cell)
                cell.execution_count = (ran.reply or {}).get("execution_count")
                cell.outputs = [_output(o, ran, folder) for o in ran.outputs]
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


@contextmanager
def _page(name: str, folder: Path, here: Path) -> Iterator[FrontEnd]:
    variables = {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder),
        "AGENT_MAGICS_CONFIG": str(folder / "home" / "config.yaml"),
        "AGENT_MAGICS_DATA": str(folder / "home" / "data"),
        "AGENT_MAGICS_LOCAL_SERVERS": "0",
        "AGENT_MAGICS_REPLAY_STRICT": "1",
    }
    if name in ALLOWED:
        variables["AGENT_MAGICS_APPROVE"] = ALLOWED[name]
        variables["AGENT_MAGICS_APPROVE_IN"] = str(folder)
    (folder / "home").mkdir()
    kernel = Kernel(["--AgentMagics.times=False"], variables=variables, cwd=here)
    try:
        page = FrontEnd(kernel, deadline=DEADLINE)
        try:
            yield page
        finally:
            page.close()
    finally:
        kernel.close()


def _ran(page: FrontEnd, cell: Any) -> Cell:
    """Run a cell to its end, with the clicks that it names."""
    clicks = list(cell.metadata.get("example", {}).get("clicks", []))
    running = page.run(cell.source, cell_id=cell.id)
    for click in clicks:
        page.wait(lambda: page.show_views() or running.done or _open(page), "a question")
        if running.done:
            raise Unanswered(f"cell {cell.id}: no question for {click!r}\n{running.text}")
        _click(page, click)
    page.wait(lambda: page.show_views() or running.done or _open(page), "the end of the cell")
    if not running.done:
        raise Unanswered(f"cell {cell.id}: no click answers this question\n{running.text}")
    wanted = "raises-exception" in cell.metadata.get("tags", [])
    if bool(running.error) != wanted:
        raise AssertionError(f"cell {cell.id}: {running.error or 'no error'}\n{running.text}")
    return running


def _open(page: FrontEnd) -> bool:
    """Whether a question waits for an answer."""
    return bool(page.model("ButtonModel", description="Deny…", disabled=False))


def _click(page: FrontEnd, click: str | dict[str, Any]) -> None:
    match click:
        case str(label):
            page.click(label)
        case {"Deny": str(reason)}:
            page.click("Deny…")
            button = page.button("Deny")
            page.set(page.model("TextModel"), value=reason)
            page.press(button)
        case {"Edit": arguments}:
            page.click("Edit…")
            button = page.button("Run edited")
            editor = page.model("TextareaModel")
            changed = json.loads(page.models[editor]["value"]) | arguments
            page.set(editor, value=json.dumps(changed, ensure_ascii=False))
            page.press(button)
        case _:
            raise Unanswered(f"there is no such click: {click!r}")
    page.wait(lambda: not _open(page), "the end of the question")


def _output(output: dict[str, Any], cell: Cell, folder: Path) -> Any:
    """An output as a notebook holds it, without what is this run's alone."""
    match output["type"]:
        case "stream":
            made = nbformat.v4.new_output("stream", name=output["name"], text=output["text"])
        case "error":
            fields = {key: output[key] for key in ("ename", "evalue", "traceback")}
            made = nbformat.v4.new_output("error", **fields)
        case kind:
            made = nbformat.v4.new_output(kind, data=output["data"], metadata=output["metadata"])
            if kind == "execute_result":
                made.execution_count = (cell.reply or {}).get("execution_count")
    return _settled(made, folder)


def _settled(value: Any, folder: Path) -> Any:
    """The value with what differs from run to run taken out of its texts."""
    match value:
        case str():
            return _same_everywhere(value, folder)
        case list():
            return [_settled(item, folder) for item in value]
        case dict():
            for key, item in value.items():
                if key not in PICTURES:
                    value[key] = _settled(item, folder)
    return value


def _same_everywhere(text: str, folder: Path) -> str:
    real = {str(folder), os.path.realpath(folder)}
    for base in sorted(real, key=len, reverse=True):
        text = re.sub(re.escape(base) + r"(/agent-magics-\w+)?(?=/|\b)", "…", text)
    text = re.sub(r"\(\d{4}-\d\d-\d\d \d\d:\d\d\)", "(DATE)", text)
    text = re.sub(r"(127\.0\.0\.1|localhost):\d{4,5}", r"\1:PORT", text)
    return re.sub(r"(?<=answers \()[\d.]+ m?s", "… s", text)


def comparable(outputs: Sequence[Any]) -> list[Any]:
    """Outputs for a comparison: a picture is there or not, its bytes are its maker's."""
    compared = json.loads(json.dumps(outputs))
    for output in compared:
        data = output.get("data", {})
        data.update({kind: "a picture" for kind in PICTURES if kind in data})
    return compared


def store(name: str, folder: Path) -> None:
    """Execute a notebook and store it with its outputs."""
    notebook = executed(name, folder)
    nbformat.validate(notebook)
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")
