"""The generated pages of the reference say what the code says."""

from __future__ import annotations

import inspect

import pytest

from agent_magics.extension import config
from agent_magics.extension.assembly import builtin_names
from agent_magics.magics.commands import COMMANDS
from agent_magics.magics.settings import AgentSettings
from tests.docskit import DOCS

if not DOCS.is_dir():
    pytest.skip("the pages come with the source tree", allow_module_level=True)

from docs.generate import PAGES, main
from docs.generating.docstrings import docstring
from docs.generating.keys import KeyWithoutText, keys
from docs.generating.markdown import code, prose, table
from docs.generating.tools import WHEN, described


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_as_the_code_is(name, tmp_path):
    assert PAGES[name]() == (DOCS / "reference" / name).read_text(encoding="utf-8"), (
        "the reference is out of date: python -m docs.generate"
    )


def test_the_script_writes_every_page_and_there_is_no_other(tmp_path):
    assert main([str(tmp_path)]) == 0
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in (DOCS / "reference").glob("*.md"))


def test_no_command_setting_key_or_tool_is_left_out():
    text = "".join(make() for make in PAGES.values())
    wanted = [
        *(f"`%agent {command.usage}`".replace("|", r"\|") for command in COMMANDS),
        *(f"`{name}`" for name in AgentSettings.class_own_traits(config=True)),
        *(f"`{name}`" for name in config.USER_KEYS),
        *(f"`{name}`" for name in builtin_names()),
    ]
    assert [word for word in wanted if word not in text] == []


def test_a_key_without_a_line_in_the_modules_text_is_named(monkeypatch):
    monkeypatch.setattr(config, "USER_KEYS", (*config.USER_KEYS, "surprise"))
    with pytest.raises(KeyWithoutText, match="surprise"):
        keys()


def test_what_is_said_of_when_a_tool_is_there_is_said_of_tools_that_are():
    assert set(WHEN) <= {tool.name for tool in described()}


def test_a_docstring_is_read_by_its_sections():
    def example():
        """Do it.

        At length.

        Args:
            first: One thing,
                on two lines.
            second: Another.

        Returns:
            What came of it.

        Raises:
            ValueError: It is off.
        """

    said = docstring(example)
    assert said.paragraphs == ("Do it.", "At length.")
    assert [name for name, _ in said.arguments] == ["first", "second"]
    assert " ".join(said.arguments[0][1].split()) == "One thing, on two lines."
    assert (said.returns, said.raises) == ("What came of it.", (("ValueError", "It is off."),))
    assert docstring(inspect.cleandoc) != docstring(None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a|b", "`a|b`"), ("a`b", "``a`b``"), ("`x`", "`` `x` ``"), ("", "``")],
)
def test_code_holds_any_text(text, shown):
    assert code(text) == shown


def test_a_tables_cells_stay_on_their_line():
    assert table(("a",), [("x|y",)]).splitlines()[-1] == r"| x\|y |"
    assert prose("a\n  *b* <c> `d_e`") == r"a \*b\* \<c\> `d_e`"
