"""The example notebooks: executed, validated, and compared with the outputs they are stored with.

python -m tests.test_notebooks [NAME…]      executes them anew and stores the outputs
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from tests.examplekit import FOLDER, comparable, executed, names, store, stored

LARGEST = 300_000
"""Bytes of a stored notebook: more is slow to open on a code-hosting site."""
NEEDS = {
    "clean-and-plot-a-data-set": ("pandas", "matplotlib"),
    "many-inputs-on-dask": ("distributed",),
}


@pytest.mark.kernel
@pytest.mark.parametrize("name", names())
def test_a_notebook_runs_and_gives_the_outputs_it_is_stored_with(name, tmp_path, monkeypatch):
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package)
    without_settings_of_the_person(monkeypatch)
    before, after = stored(name), executed(name, tmp_path)
    nbformat.validate(after)
    for old, new in zip(before.cells, after.cells, strict=True):
        assert comparable(new.get("outputs", [])) == comparable(old.get("outputs", [])), (
            f"cell {old.id} of {name} gives another output than it is stored with; "
            f"if that is right: python -m tests.test_notebooks {name}"
        )


def without_settings_of_the_person(patch: pytest.MonkeyPatch) -> None:
    for variable in os.environ:
        if variable.startswith(("OPENAI_", "AGENT_MA", "XDG_", "JUPYTER_", "JPY_")):
            patch.delenv(variable)


@pytest.mark.parametrize("name", names())
def test_a_stored_notebook_depends_on_no_machine_and_holds_no_widget(name):
    path = FOLDER / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    nbformat.validate(stored(name))
    assert path.stat().st_size <= LARGEST
    assert "widgets" not in stored(name).metadata
    assert "widget-view" not in text
    for part in (tempfile.gettempdir(), str(Path.home()), str(FOLDER.parent)):
        assert f"{part}/" not in text


@pytest.mark.parametrize("name", names())
def test_a_stored_notebook_shows_errors_only_where_it_is_about_one(name):
    for cell in stored(name).cells:
        fails = any(o.output_type == "error" for o in cell.get("outputs", []))
        assert fails == ("raises-exception" in cell.metadata.get("tags", [])), cell.id


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        without_settings_of_the_person(patch)
        for chosen in sys.argv[1:] or names():
            with tempfile.TemporaryDirectory() as folder:
                store(chosen, Path(folder))
            print(f"stored {chosen}")
