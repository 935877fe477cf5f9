"""What the pages name is there: commands, options, settings, variables, files."""

from __future__ import annotations

import re

import pytest

from agent_magics.magics.arguments import cell_parser, skills_parser, use_parser
from agent_magics.magics.commands import COMMANDS
from agent_magics.magics.settings import AgentSettings
from tests.docskit import DOCS, PAGES, ROOT

if not PAGES:
    pytest.skip("the pages come with the source tree", allow_module_level=True)

CODE = re.compile(r"```.*?```|`+[^`]+`+", re.DOTALL)
SOURCE = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "agent_magics").rglob("*.py"))
)
VARIABLE = re.compile(r"\bAGENT_MAGICS_[A-Z_]+[A-Z]\b")
SET_BY_US = {"AGENT_MAGICS_COMMAND"}
"""For the processes that we start; nobody else sets it."""

pages = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def code(path) -> str:
    """All of a page that is code, in lines or in fences; its headings may quote anything."""
    text = re.sub(r"^#.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "\n".join(CODE.findall(text))


def options(parser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings}


@pages
def test_the_commands_of_a_page_are_commands(path):
    names = {command.name for command in COMMANDS}
    # `%agent allow|ask|deny` and `%agent sessions/resume` name several.
    named = re.findall(r"(?<!%)%agent ([a-z][a-z|/-]*)", code(path))
    assert [n for words in named for n in re.split(r"[|/]", words) if n not in names] == []


@pages
def test_the_options_of_a_page_are_options(path):
    for magic, parser in (
        ("%%agent", cell_parser),
        ("%skills", skills_parser),
        ("%use", use_parser),
    ):
        lines = re.findall(rf"(?<!%){magic} ([^`\n]*)", code(path))
        named = [word for line in lines for word in re.findall(r"(?<!\S)--?[a-z][a-z-]*", line)]
        assert [word for word in named if word not in options(parser())] == [], magic


@pages
def test_the_settings_of_a_page_are_settings(path):
    traits = AgentSettings.class_own_traits(config=True)
    named = re.findall(r"\bAgentMagics\.(\w+)", path.read_text(encoding="utf-8"))
    assert [name for name in named if name not in traits] == []


@pages
def test_the_variables_of_a_page_are_read_somewhere(path):
    tests = "".join(
        p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests").glob("test_*.py"))
    )
    named = VARIABLE.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if name not in SOURCE and name not in tests] == []


def test_every_variable_that_a_person_sets_stands_in_the_configurations_page():
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    read = set(VARIABLE.findall(SOURCE)) - SET_BY_US
    assert sorted(name for name in read if f"`{name}`" not in text) == []


@pages
def test_the_files_of_the_repository_that_a_page_names_are_there(path):
    named = re.findall(
        r"`((?:agent_magics|tests|benchmarks|docs|skills)/[\w./-]+\.\w+)`", code(path)
    )
    own = {"skills/csv-facts/", "skills/data-card/"}
    missing = [n for n in named if not (ROOT / n).exists() and not n.startswith(tuple(own))]
    assert missing == []
