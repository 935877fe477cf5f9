"""The example notebooks: executed, validated, and compared with the outputs they are stored with.

python -m tests.test_notebooks [NAME…]      executes them anew and stores the outputs
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from agent_magics.providers.recording import spaced
from agent_magics.providers.recording_lines import read_recording
from tests.examplekit import FOLDER, PICTURES, comparable, executed, names, store, stored

LARGEST = 300_000
"""Bytes of a stored notebook: more is slow to open on a code-hosting site."""
LARGEST_PICTURE = 40_000
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
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


WRITE = {"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "a"}}]}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("code", "clicks", "says"),
    [
        ("%%agent\nWrite.", (), "no click answers this question"),
        ("1 + 1", ("Approve",), "no question for 'Approve'"),
        ("1 / 0", (), "ZeroDivisionError"),
    ],
)
def test_a_run_fails_where_questions_and_clicks_do_not_fit_or_a_cell_fails(
    code, clicks, says, tmp_path, monkeypatch
):
    without_settings_of_the_person(monkeypatch)
    source = tmp_path / "source"
    (source / "recordings").mkdir(parents=True)
    lines = ({"agent_magics_recording": 1}, {"prompt": "Write.", "step": 0, "reply": WRITE})
    text = "\n".join(json.dumps(line) for line in lines)
    (source / "recordings" / "r.jsonl").write_text(text, encoding="utf-8")
    cells = ["%load_ext agent_magics\n%agent model replay:recordings/r.jsonl", code]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    notebook.cells[1].metadata["example"] = {"clicks": list(clicks)}
    nbformat.write(notebook, source / "n.ipynb")
    with pytest.raises(AssertionError, match=says):
        executed("n", tmp_path, source)


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
        outputs = cell.get("outputs", [])
        fails = any(output.output_type == "error" for output in outputs)
        assert not any(output.get("name") == "stderr" for output in outputs), cell.id
        assert fails == ("raises-exception" in cell.metadata.get("tags", [])), cell.id


@pytest.mark.parametrize("name", names())
def test_the_pictures_of_a_stored_notebook_are_small(name):
    for cell in stored(name).cells:
        for output in cell.get("outputs", []):
            for kind in PICTURES:
                picture = output.get("data", {}).get(kind, "")
                assert len(base64.b64decode(picture)) <= LARGEST_PICTURE, cell.id


@pytest.mark.parametrize("name", names())
def test_a_stored_notebook_becomes_a_page_that_loads_nothing(name):
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="")
    page, _ = exporter.from_notebook_node(stored(name))
    assert page.count("<h1") == 1
    assert not re.findall(r"""<(?:script|img|link|iframe)[^>]*(?:src|href)=["']?http""", page)


@pytest.mark.parametrize("name", names())
def test_the_links_of_a_notebook_lead_somewhere(name):
    texts = [cell.source for cell in stored(name).cells if cell.cell_type == "markdown"]
    for link in LINK.findall("\n".join(texts)):
        assert "://" in link or (FOLDER / link).exists(), link


def test_the_list_of_notebooks_names_each_of_them_and_nothing_else():
    listed = LINK.findall((FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [f"{name}.ipynb" for name in names()]


@pytest.mark.parametrize("path", sorted((FOLDER / "recordings").iterdir()), ids=lambda p: p.stem)
def test_a_recording_can_be_read_and_its_notebook_asks_what_it_answers(path):
    prompts = {reply.prompt for reply in read_recording(path).replies}
    said = spaced("".join(cell.source + "\n" for cell in stored(path.stem).cells))
    # A text in quotes may be cut there, and an input of `map` stands below the question.
    said = re.sub(r'" "|\\n|[\[\]]', " ", said)
    for prompt in prompts:
        assert spaced(prompt.partition(" The input stands")[0]) in spaced(said), prompt


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(names()):
        sys.exit(f"There is no notebook {min(unknown)!r}; there are: {', '.join(names())}.")
    with pytest.MonkeyPatch.context() as patch:
        without_settings_of_the_person(patch)
        for chosen in sys.argv[1:] or names():
            with tempfile.TemporaryDirectory() as folder:
                store(chosen, Path(folder))
            print(f"stored {chosen}")
