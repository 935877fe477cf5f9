"""The skill of docs/skills.md does what the page promises; its cells: test_docs_examples."""

from __future__ import annotations

import asyncio
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from agent_magics.extension import loaded
from agent_magics.magics.commands import COMMANDS
from agent_magics.skill.actions import read_actions
from agent_magics.skill.reading import FIELDS, read_skill
from agent_magics.skills.__main__ import main
from tests.docskit import DOCS, page, written
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

BLOCKS = page("skills.md")
TEXT = (DOCS / "skills.md").read_text(encoding="utf-8")


def of(language: str) -> list[str]:
    return [block.text for block in BLOCKS if block.language == language and not block.file]


@pytest.fixture
def work(shell) -> Path:
    """The page's own skill in the workspace, trusted, and a file to ask about."""
    for block in BLOCKS:
        if block.file.startswith("skills/"):
            written(block)
    Path("sales.csv").write_text("item,price\ntea,3\nmilk,\nbread,2\n", encoding="utf-8")
    magic(shell, "skills", "--trust csv-facts")
    return Path.cwd()


def test_the_pages_files_are_a_skill_without_fault(work, capsys):
    assert sorted(path.name for path in Path("skills/csv-facts").iterdir()) == [
        "SKILL.md",
        "plugin.json",
        "tools.py",
    ]
    (command,) = of("sh")
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "agent_magics.skills"]
    assert main(words[3:]) == 0
    assert main([*words[3:], "--strict"]) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_the_pages_tools_give_what_they_promise(shell, work):
    magic(shell, "use", "csv-facts")
    tools = {tool.name: tool for tool in loaded(shell).visible() if tool.skill}
    assert list(tools) == ["count_rows", "missing_values"]

    def call(name: str, file: str) -> str:
        return asyncio.run(tools[name].run({"file": file}, lambda _: None)).text

    assert call("count_rows", "sales.csv") == '{"rows": 3, "columns": 2}'
    assert call("missing_values", "sales.csv") == "item: 0\nprice: 1"
    with pytest.raises(Exception, match="outside the workspace"):
        call("count_rows", "../x.csv")
    assert "file" in tools["missing_values"].parameters["required"]


def test_the_pages_header_offers_the_action_too():
    palette = next(text for text in of("yaml") if "palette" in text)
    skill = read_skill(f"---\nname: x\n{palette}---\nDo.".encode(), "x", known_tools=("read",))
    actions, problems = read_actions(None, skill.metadata["metadata"])
    assert ([action.id for action in actions], problems) == (["overview"], ())


def test_the_pages_package_is_found_once_it_is_installed(shell, work, tmp_path, monkeypatch):
    (project,) = [block.text for block in BLOCKS if block.file == "pyproject.toml"]
    points = tomllib.loads(project)["project"]["entry-points"]
    site = tmp_path / "site-packages"
    info = site / "acme_skills-1.0.dist-info"
    info.mkdir(parents=True)
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points[group].items())
             for group in points]  # fmt: skip
    (info / "entry_points.txt").write_text("".join(lines), encoding="utf-8")
    package = site / "acme_skills"
    target = package / "skills" / "acme-facts"
    target.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    text = Path("skills/csv-facts/SKILL.md").read_text(encoding="utf-8")
    (target / "SKILL.md").write_text(text.replace("csv-facts", "acme-facts"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    row = magic(shell, "skills")["acme-facts"]
    assert (row.origin, row.state) == ("package", "enabled")


def test_the_pages_workflow_is_yaml_and_its_last_line_works(work):
    workflow = next(text for text in of("yaml") if "jobs" in text)
    steps = yaml.safe_load(workflow)["jobs"]["check"]["steps"]
    words = shlex.split(steps[-1]["run"])
    assert words[:3] == ["python", "-m", "agent_magics.skills"]
    assert main(words[3:]) == 0


def test_the_page_names_every_key_of_the_header_and_no_tool_that_is_none(shell):
    assert [key for key in FIELDS if f"`{key}`" not in TEXT] == []
    builtin = [tool.name for tool in loaded(shell).services.builtins()]
    named = re.search(r"Built-in tools are (.*?) and those", TEXT, re.DOTALL)
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) <= set(builtin)
    assert "action" in [command.name for command in COMMANDS]


def test_the_pages_settings_are_settings(shell):
    for name, value in re.findall(r"%config AgentMagics\.(\w+) = (\"\w+\")", TEXT):
        setattr(loaded(shell), name, value.strip('"'))
