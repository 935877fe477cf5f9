"""The check of skill folders: each rule of the Agent Skills standard, and this product's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.library.authoring import checked
from agent_magics.skill.standard import FIELDS, about_standard
from agent_magics.skills.__main__ import main
from tests.skill_fixtures import CASES, write_case

TOOLS = ("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python")
GOOD = """\
name: tidy-charts
description: Makes tidy charts. Use when a chart is wanted.
license: Apache-2.0
compatibility: Needs git.
metadata:
  author: me
  version: "1.0"
allowed-tools: Bash(git:*) Bash(python -c "a,b") Read
"""


def folder(tmp_path: Path, header: str, body: str = "Do it.", name: str = "tidy-charts") -> Path:
    root = tmp_path / name
    root.mkdir()
    (root / "SKILL.md").write_text(f"---\n{header}---\n{body}\n", encoding="utf-8")
    return root


def said(root: Path) -> list[str]:
    (entry,) = checked(root, TOOLS)
    return [f"{problem.severity}: {problem}" for problem in entry.skill.diagnostics]


def test_a_skill_by_the_standard_is_without_remark(tmp_path):
    assert said(folder(tmp_path, GOOD)) == []


def changed(key: str, line: str) -> str:
    lines = [each for each in GOOD.splitlines() if not each.startswith(f"{key}:")]
    return "\n".join([*lines, line, ""])


RULES = {
    "name: required": ("name", "", "warning: the header has no name"),
    "name: lower case": ("name", "name: Tidy-Charts", "is not of the standard's form"),
    "name: at most 64 characters": ("name", f"name: {'a' * 65}", "is not of the standard's form"),
    "name: no hyphen at the start": ("name", "name: -tidy", "is not of the standard's form"),
    "name: no hyphen at the end": ("name", "name: tidy-", "is not of the standard's form"),
    "name: no two hyphens": ("name", "name: tidy--charts", "is not of the standard's form"),
    "name: no blanks": ("name", "name: tidy charts", "is not of the standard's form"),
    "name: is the folder's": ("name", "name: other", "is not the folder's, `tidy-charts`"),
    "name: is the folder's, exactly": ("name", "name: tidy_charts", "spelled otherwise than"),
    "name: is text": ("name", "name: [a]", "is no single line of text"),
    "description: required": ("description", "", "there is no description"),
    "description: not empty": ("description", "description: ''", "the description is empty"),
    "description: at most 1,024": ("description", f"description: {'x' * 1025}", "allows 1,024"),
    "description: no markup": ("description", "description: a <b>c</b>", "looks like markup"),
    "compatibility: at most 500": ("compatibility", f"compatibility: {'x' * 501}", "1 to 500"),
    "compatibility: not empty": ("compatibility", "compatibility: ''", "has 0 characters"),
    "compatibility: text": ("compatibility", "compatibility: [git]", "`compatibility` is no text"),
    "license: text": ("license", "license: [MIT]", "info: `license` is no text"),
    "allowed-tools: no list": ("allowed-tools", "allowed-tools: [Read]", "blanks between"),
    "allowed-tools: no commas": ("allowed-tools", "allowed-tools: Read, Grep", "blanks between"),
    "metadata: a mapping": ("metadata", "metadata2: x\nmetadata: [a]", "is no mapping"),
    "metadata: texts": ("license", "license: MIT\nmetadata:\n  tags: [a]", "tags is no text"),
    "six keys": ("license", "license: MIT\nversion: 1\ntools: [read]", "`version`, `tools`"),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_of_the_standard_is_reported(tmp_path, rule):
    key, line, message = RULES[rule]
    header = changed(key, line)
    if "metadata" in line:
        header = header.replace('metadata:\n  author: me\n  version: "1.0"\n', "", 1)
        header = header.replace('  author: me\n  version: "1.0"\n', "", 1)
    assert message in "\n".join(said(folder(tmp_path, header)))


@pytest.mark.parametrize(("lines", "remarks"), [(499, 0), (500, 1), (900, 1)])
def test_the_length_that_the_standard_advises_is_said(tmp_path, lines, remarks):
    found = said(folder(tmp_path, GOOD, "\n".join(["x"] * lines)))
    assert len(found) == remarks
    assert all("the standard advises fewer than 500" in remark for remark in found)


def test_quick_actions_and_tools_are_checked_with_it(tmp_path):
    root = folder(tmp_path, GOOD)
    (root / "plugin.json").write_text('{"palette": [{"id": "A"}]}', encoding="utf-8")
    (root / "tools.py").write_text("def f(:\n", encoding="utf-8")
    found = "\n".join(said(root))
    assert "plugin.json, action 1: its id is A" in found
    assert "tools.py, line 1: invalid syntax" in found


def test_the_list_of_skills_is_spared_what_only_strict_clients_mind(tmp_path):
    from agent_magics.library.discovery import Library, Place

    folder(tmp_path, changed("license", "license: MIT\nversion: 1"))
    (entry,) = Library(lambda: [Place(tmp_path, "user")], TOOLS).entries()
    assert entry.skill.diagnostics == ()


@pytest.mark.parametrize("cid", CASES)
def test_no_folder_makes_the_check_raise(cid, tmp_path):
    root = write_case(cid, tmp_path)
    assert main(["check", str(root)]) in (0, 1, 2)
    for child in root.iterdir():
        assert main(["check", str(child), "--strict"]) in (0, 1, 2)


def test_a_skill_inside_of_another_can_be_checked_alone(tmp_path):
    outer = folder(tmp_path, GOOD)
    inner = folder(outer, GOOD.replace("tidy-charts", "inner"), name="inner")
    (entry,) = checked(inner, TOOLS)
    assert entry.skill.name == "inner"


def test_a_file_without_a_header_has_nothing_to_compare():
    assert about_standard(b"# Text\n", "x") == ()
    assert about_standard(b"---\n: [\n---\n", "x") == ()
    assert len(FIELDS) == 6


@pytest.mark.parametrize(
    ("change", "words", "status"),
    [("", [], 0), ("", ["--strict"], 0), ("1", [], 0), ("1", ["--strict"], 1)],
)
def test_the_exit_status_counts_warnings_only_when_it_is_strict(
    tmp_path, capsys, change, words, status
):
    header = GOOD.replace("compatibility: Needs git.", f"compatibility: {change * 501 or 'git'}")
    assert main(["check", str(folder(tmp_path, header)), *words]) == status
