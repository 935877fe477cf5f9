"""The programs of docs/scripts.md, run as files; its cells are run by test_docs_examples."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from agent_magics.quickstart import sample_repository
from agent_magics.scripting.items import COLUMNS, Item, MapResult
from agent_magics.scripting.options import RunOptions
from tests.docskit import DOCS, page
from tests.lab_endpoint import Says
from tests.mapkit import prompt_of

pytest_plugins = ["tests.mapkit_fixtures"]

BLOCKS = page("scripts.md")
TEXT = (DOCS / "scripts.md").read_text(encoding="utf-8")
FILES = {block.file: block.text for block in BLOCKS if block.file}
CALLS = {"uncommitted": ("git_diff", {})}


def answer(request):
    """Calls the tool that an example is about, then says something."""
    prompt = prompt_of(request)
    told = [str(m["content"]) for m in request["messages"] if m["role"] == "tool"]
    call = next((call for words, call in CALLS.items() if words in prompt), None)
    if call is not None and not told:
        return Says("", (call,))
    return Says(f"Answer to {prompt.splitlines()[0]} {' '.join(told)}")


def script(name: str) -> subprocess.CompletedProcess[str]:
    Path(name).write_text(FILES[name], encoding="utf-8")
    return subprocess.run([sys.executable, name], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "name",
    [
        "processes.py",
        pytest.param(
            "cluster.py",
            marks=pytest.mark.skipif(not find_spec("distributed"), reason="needs distributed"),
        ),
    ],
)
def test_the_pages_scripts_run(program, endpoint, model, name):
    endpoint.answering(model, answer)
    done = script(name)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 items done" in done.stdout
    assert "Answer to Say it in French." in done.stdout


def test_the_pages_check_ends_with_the_status_it_promises(
    program, endpoint, model, tmp_path, monkeypatch
):
    monkeypatch.chdir(sample_repository(tmp_path))
    endpoint.answering(model, answer)
    done = script("check.py")
    assert (done.returncode, done.stderr) == (0, "")
    # A review that finds something serious, and one that was refused a call.
    file = next(Path().rglob("*.py"))
    finding = {"file": str(file), "line": 1, "severity": "high", "category": "bug",
               "message": "wrong"}  # fmt: skip
    for call in (("report_findings", {"findings": [finding]}), ("read", {"path": "/etc/passwd"})):

        def again(request, call=call):
            told = any(m["role"] == "tool" for m in request["messages"])
            return Says("Said.") if told else Says("", (call,))

        endpoint.answering(model, again)
        assert script("check.py").returncode == 1, call


def test_the_pages_workflow_runs_the_pages_script():
    (workflow,) = [block.text for block in BLOCKS if block.language == "yaml"]
    steps = yaml.safe_load(workflow)["jobs"]["review"]["steps"]
    assert [step["run"] for step in steps if "check.py" in step.get("run", "")] == [
        "python check.py"
    ]
    assert "check.py" in FILES


def test_the_page_names_every_option_and_no_attribute_that_is_none():
    assert [name for name in RunOptions.__annotations__ if f"`{name}`" not in TEXT] == []
    empty = MapResult((Item(0, "x"),))
    for name in re.findall(r"`answers\.(\w+)", TEXT):
        assert hasattr(empty, name), name
    assert {"status", "text", "error", "reason", "seconds"} <= set(COLUMNS)
