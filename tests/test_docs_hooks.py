"""The examples of docs/hooks.md, plugins.md, tracing.md and configuration.md, as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import agent_magics
from agent_magics.extension import loaded
from agent_magics.extension.config import read_configuration
from agent_magics.magics.settings import AgentSettings
from agent_magics.tracing.setting import Tracing
from tests.test_hooks_shell import ask
from tests.turns import call, calls

pytest_plugins = ["tests.shellkit_fixtures"]

DOCS = Path(__file__).parents[1] / "docs"
if not DOCS.is_dir():
    pytest.skip("the pages come with the source tree", allow_module_level=True)
BLOCK = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [(title, code) for title, kind, code in BLOCK.findall(text) if kind == language]


@pytest.fixture
def here(shell, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return shell


def test_the_functions_of_the_page_do_what_it_says(here, capsys):
    cells = [code for title, code in blocks("hooks.md", "python") if not title]
    names: dict[str, object] = {}
    for code in cells[:-1]:
        exec(compile(code, "hooks.md", "exec"), names)
    magics = loaded(here)
    assert [hook.name for hook in magics.hooks.all()] == [
        "no_force",
        "ask_about_tests",
        "check_syntax",
        "branch",
        "count",
    ]
    here.run_line_magic("agent", "allow write")
    here.run_line_magic("agent", "allow run_shell")
    model = ask(
        here,
        calls(call("run_shell", "a", command="git push --force")),
        calls(call("write", "b", path="tests/new.py", content="x = 1\n")),
        calls(call("write", "c", path="bad.py", content="def\n")),
    )
    denied, asked, ran = magics.session.last.calls
    assert denied.reason == "hook no_force: no --force from notebooks"
    assert "hook ask_about_tests: this changes a test" in f"{asked.reason} {asked.result}"
    assert "bad.py is not valid Python any more: line 1" in ran.result
    assert "The branch is" in model.requests[0].conversation[-1].attachments[0].text
    assert "hook count: 1 files changed" in " ".join(capsys.readouterr().out.split())
    assert "run(" in cells[-1]


def test_the_command_of_the_page_says_no_by_its_status():
    ((_, code),) = [each for each in blocks("hooks.md", "python") if each[0]]
    for content, status in (("password = x", 2), ("hello", 0)):
        told = json.dumps({"arguments": {"content": content}})
        done = subprocess.run(
            [sys.executable, "-c", code], input=told, text=True, capture_output=True, check=False
        )
        assert done.returncode == status
        assert ("there is a password in it" in done.stderr) is (status == 2)


def test_the_configurations_example_is_taken_whole(tmp_path):
    (text,) = [code for _, code in blocks("configuration.md", "yaml") if code.startswith("hooks:")]
    more = blocks("plugins.md", "yaml")[0][1]
    file = tmp_path / "config.yaml"
    file.write_text(text + more, encoding="utf-8")
    config = read_configuration(file, tmp_path / "none")
    assert config.problems == ()
    assert [hook.name for hook in config.hooks] == ["no secrets", "notify-send"]
    assert config.disabled_plugins == ("agent-magics-example",)
    assert yaml.safe_load(text)["hooks"]


def test_the_pages_entry_points_are_those_of_the_example():
    example = (DOCS / "examples" / "agent-magics-example" / "pyproject.toml").read_text()
    assert blocks("plugins.md", "toml")[0][1].strip() in example


def test_the_settings_of_the_tracing_page_exist_and_start_as_it_says():
    text = (DOCS / "tracing.md").read_text(encoding="utf-8")
    for name in re.findall(r"%config AgentMagics\.(\w+)", text):
        assert name in AgentSettings.class_trait_names()
    assert Tracing() == Tracing("auto", content=False)


def test_the_tracing_pages_set_up_runs():
    ((_, code),) = blocks("tracing.md", "python")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_name_of_an_attribute_on_the_page_is_written():
    sources = Path(agent_magics.__file__).parent / "tracing"
    written = "".join(file.read_text(encoding="utf-8") for file in sources.glob("*.py"))
    written = written.replace("__", ".")
    text = (DOCS / "tracing.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"`((?:gen_ai|agent_magics|server)\.[\w.]+)`", text)):
        assert name in written or name == "agent_magics.run", name
