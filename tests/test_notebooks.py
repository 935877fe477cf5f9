"""The example notebooks: executed, validated, and compared with the outputs they are stored with.

python -m tests.test_notebooks      executes them anew and stores the outputs
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.name for path in FOLDER.glob("*.ipynb"))
APPROVED = "git_diff report_findings edit"


def executed(path: Path, folder: Path) -> Any:
    """A notebook as a headless run leaves it, without anything that differs from run to run.

    Args:
        path: The notebook.
        folder: For all that the run writes.
    """
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    home = folder / "home"
    home.mkdir()
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "AGENT_MA"))}
    variables |= {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(FOLDER.parent),
        "AGENT_MAGICS_CONFIG": str(home / "config.yaml"),
        "AGENT_MAGICS_LOCAL_SERVERS": "0",
        "AGENT_MAGICS_APPROVE": APPROVED,
        "AGENT_MAGICS_APPROVE_IN": str(folder),
    }
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,
        record_timing=False,
        store_widget_state=True,
        extra_arguments=["--AgentMagics.times=False"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=variables)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs with text of one stream in one piece: where a kernel cuts it is chance."""
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and last.output_type == output.output_type == "stream" and last.name == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


@pytest.mark.kernel
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_gives_the_outputs_it_is_stored_with(name, tmp_path):
    stored = nbformat.read(FOLDER / name, as_version=4)
    now = executed(FOLDER / name, tmp_path)
    nbformat.validate(now)
    for before, after in zip(stored.cells, now.cells, strict=True):
        assert after.get("outputs") == before.get("outputs"), (
            f"cell {before.id} of {name} gives another output than it is stored with; "
            "if that is right: python -m tests.test_notebooks"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_notebook_depends_on_no_machine(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    stored = nbformat.reads(text, as_version=4)
    nbformat.validate(stored)
    assert "widgets" not in stored.metadata
    assert "widget-view" not in text
    for part in (tempfile.gettempdir(), str(Path.home()), str(FOLDER.parent)):
        assert f"{part}/" not in text


if __name__ == "__main__":
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(FOLDER / name, Path(folder)), FOLDER / name)
        print(f"stored {name}")
