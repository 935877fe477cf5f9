"""The skills that come with the package, as the product would load them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from agent_magics.library.bundled import load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.skill import Skill
from agent_magics.tool import Tool, ToolOutput, effective_tools

SKILLS = Path(__file__).parents[1] / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if path.is_dir())
BUILTIN = (
    *("edit", "fetch", "glob", "grep", "ls", "notebook_read", "propose_cell", "python", "read"),
    *("run_shell", "variables", "write"),
)


async def nothing(arguments, report) -> ToolOutput:
    return ToolOutput("")


def find(name: str) -> Skill:
    return Library(lambda: [Place(SKILLS, "bundled")], BUILTIN).find(name)


def visible(name: str) -> list[str]:
    skill = find(name)
    builtins = [Tool(n, "", {}, "read", nothing) for n in BUILTIN]
    bundled = load_tools(skill, workspace=Path, builtin_names=BUILTIN)
    return [tool.name for tool in effective_tools(builtins, [skill], bundled)]


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_skill_has_nothing_off_about_it(name):
    skill = find(name)
    assert skill.diagnostics == ()
    assert 80 < len(skill.description) < 400
    text = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    assert "Use when" in skill.description


def test_explore_shows_three_tools_and_brings_none():
    assert find("explore").tools == ("ls", "glob", "read")
    assert find("explore").bundled == ()
    assert visible("explore") == ["glob", "ls", "read"]


def test_code_review_brings_two_tools_and_shows_two_built_in_tools():
    assert find("code-review").tools == ("read", "glob")
    assert find("code-review").bundled == ("git_diff", "report_findings")
    assert visible("code-review") == ["git_diff", "glob", "read", "report_findings"]


def test_git_diff_is_a_bundled_tool_with_four_optional_parameters():
    tool, _ = load_tools(find("code-review"), workspace=Path, builtin_names=BUILTIN)
    assert (tool.effect, tool.skill) == ("bundled", "code-review")
    assert list(tool.parameters["properties"]) == ["path", "staged", "base", "start"]
    assert "required" not in tool.parameters
    assert all("description" in p for p in tool.parameters["properties"].values())


@pytest.mark.parametrize("file", sorted(SKILLS.rglob("*.py")), ids=lambda p: p.name)
def test_the_code_of_shipped_skills_needs_the_standard_library_and_this_package_alone(file):
    beside = {path.stem for path in (SKILLS / file.relative_to(SKILLS).parts[0]).iterdir()}
    known = sys.stdlib_module_names | beside | {"agent_magics"}
    for node in ast.walk(ast.parse(file.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        assert {name.partition(".")[0] for name in names} <= known


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_that_the_instructions_tell_the_model_to_call_is_there(name):
    told = re.findall(r"[Cc]all `(\w+)|`(\w+)` (?:first|once|is refused)", find(name).instructions)
    assert {word for pair in told for word in pair if word} <= set(visible(name))


def test_code_review_names_each_of_its_tools():
    words = set(re.findall(r"`(\w+)`", find("code-review").instructions))
    assert set(visible("code-review")) <= words
