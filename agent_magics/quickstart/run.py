"""Runs the quickstart notebook headless, prints the conversation, and writes what came of it.

Headless means that nobody can click: a call that asks is refused, except for the tools that the
options name, and those only inside the sample's folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics.errors import AgentMagicsError

NEEDED = ("nbclient", "nbconvert", "ipykernel")
SECONDS = 600
"""For one cell: a real model may think long."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run brought.

    Args:
        notebook: The executed notebook.
        page: The same as one HTML page.
        ran: Titles of the calls that ran after an approval.
        refused: Titles of the calls that were not run.
        error: The error that ended the run early; empty if there was none.
    """

    notebook: Path
    page: Path
    ran: tuple[str, ...]
    refused: tuple[str, ...]
    error: str = ""


def source_notebook() -> Path:
    """The notebook as it is shipped: in a wheel, or in a source tree."""
    package = Path(__file__).parents[1]
    inside = package / "_notebooks" / "quickstart.ipynb"
    return inside if inside.is_file() else package.parent / "notebooks" / "quickstart.ipynb"


def missing_packages() -> tuple[str, ...]:
    """What the run needs and this environment does not have."""
    from importlib.util import find_spec

    return tuple(name for name in NEEDED if find_spec(name) is None)


def run_quickstart(output: Path, approve: Sequence[str], say: Callable[[str], None]) -> Outcome:
    """Execute the notebook with this interpreter's kernel and write it, and its HTML page.

    Args:
        output: The folder for both files; made if there is none.
        approve: Tools whose calls run without a question, inside the sample's folder only.
        say: Takes each line of the conversation as it comes.

    Raises:
        AgentMagicsError: A package that this needs is missing, or no kernel starts.
    """
    missing = missing_packages()
    if missing:
        raise AgentMagicsError(
            f"The quickstart needs {', '.join(missing)}: pip install 'agent_magics[lab]'"
        )
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    notebook = nbformat.read(source_notebook(), as_version=4)  # type: ignore[no-untyped-call]
    error = ""
    with tempfile.TemporaryDirectory(prefix="agent-magics-") as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            store_widget_state=False,
            resources={"metadata": {"path": folder}},
            on_cell_executed=lambda cell, **_: _print_cell(cell, say),
        )
        try:
            client.execute(env=_kernel_environment(Path(folder), approve))
        except CellExecutionError as failure:
            error = f"{failure.ename}: {failure.evalue}"
        except DeadKernelError as failure:
            raise AgentMagicsError(f"The kernel died: {failure}") from failure
    output.mkdir(parents=True, exist_ok=True)
    saved = output / "quickstart.ipynb"
    nbformat.write(notebook, saved)  # type: ignore[no-untyped-call]
    page = output / "quickstart.html"
    page.write_text(_page(notebook), encoding="utf-8")
    calls = [record for record in _records(notebook) if record.get("kind") == "call"]
    return Outcome(
        saved,
        page,
        tuple(_title(c) for c in calls if (c.get("answer") or {}).get("allowed")),
        tuple(_title(c) for c in calls if c.get("outcome") in ("refused", "denied")),
        error,
    )


def _kernel_environment(folder: Path, approve: Sequence[str]) -> dict[str, str]:
    """The kernel's environment: the sample is made in `folder`, and only there options count."""
    environment = dict(os.environ)
    environment.update(
        TMPDIR=str(folder),
        AGENT_MAGICS_APPROVE=" ".join(approve),
        AGENT_MAGICS_APPROVE_IN=str(folder),
        # The sample goes away after the run, and so do its conversations.
        AGENT_MAGICS_DATA=str(folder / "data"),
    )
    # The kernel must find the package that this process runs, installed or not.
    here = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(
        part for part in (here, environment.get("PYTHONPATH", "")) if part
    )
    return environment


def _print_cell(cell: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """The cell as a person would read it in a terminal."""
    if cell["cell_type"] != "code":
        return
    say("")
    for line in cell["source"].split("\n"):
        say(f">>> {line}")
    for output in cell["outputs"]:
        say(_plain(output).rstrip("\n"))


def _plain(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return str(output["data"].get("text/plain", ""))


def _page(notebook: Any) -> str:
    from nbconvert import HTMLExporter

    # The page holds all it needs: nothing is loaded from elsewhere when it is opened.
    exporter = HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="")  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(notebook)
    return str(body)


def _records(notebook: Any) -> list[dict[str, Any]]:
    """What the cells' outputs say about themselves."""
    return [
        output["metadata"]["agent_magics"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "agent_magics" in output.get("metadata", {})
    ]


def _title(record: Mapping[str, Any]) -> str:
    """The tool of a recorded call, and the file it is about."""
    try:
        path = json.loads(record.get("arguments") or "{}").get("path", "")
    except ValueError:
        path = ""  # long arguments are cut in the record
    return f"{record.get('tool', '?')} {path}".strip()


def open_in_lab(output: Path) -> int:
    """Copy the notebook and open it in JupyterLab; returns when Lab ends, with its status."""
    import shutil
    import subprocess
    from importlib.util import find_spec

    if find_spec("jupyterlab") is None:
        raise AgentMagicsError("JupyterLab is not installed: pip install 'agent_magics[lab]'")
    output.mkdir(parents=True, exist_ok=True)
    target = output / "quickstart.ipynb"
    shutil.copyfile(source_notebook(), target)
    command = [sys.executable, "-m", "jupyterlab", str(target)]
    return subprocess.run(command, check=False).returncode  # noqa: S603  # our own words
