"""Every example of docs/scripts.md, in the order of the page."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import agent_magics
from agent_magics.quickstart import sample_repository
from agent_magics.scripting.items import COLUMNS, Item, MapResult
from agent_magics.scripting.options import RunOptions
from tests.lab_endpoint import Says
from tests.mapkit import prompt_of

pytest_plugins = ["tests.mapkit_fixtures"]

PAGE = Path(__file__).parents[1] / "docs" / "scripts.md"
if not PAGE.is_file():
    pytest.skip("the page comes with the source tree", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(?:^`(?P<file>[\w.]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BLOCKS = [(m["file"] or "", m["language"], m["text"]) for m in BLOCK.finditer(TEXT)]
FILES = {file: text for file, _, text in BLOCKS if file}
CALLS = {
    "NOTES.md": ("write", {"path": "NOTES.md", "content": "pip install it\n"}),
    "two teas": ("price_of", {"item": "tea"}),
    "uncommitted": ("git_diff", {}),
}


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


def test_the_pages_cells_run_in_their_order(program, endpoint, model, capsys):
    endpoint.answering(model, answer)
    names: dict[str, object] = {}
    for file, language, text in BLOCKS:
        if language == "python" and not file:
            exec(compile(text, "scripts.md", "exec"), names)
            if "Add a line" in text:
                assert Path("NOTES.md").read_text(encoding="utf-8") == "pip install it\n"
                assert not names["result"].refused
            if "two teas" in text:
                assert names["result"].text.endswith("3.0")
    assert "3 of 3 items done" in capsys.readouterr().out
    again = agent_magics.map(
        "Is this review positive, negative or neutral? One word.",
        names["reviews"],
        save="answers.jsonl",
    )
    assert all(item.saved for item in again)


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
    (workflow,) = [text for _, language, text in BLOCKS if language == "yaml"]
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
