"""Each error text that docs/troubleshooting.md quotes is one that the code can say."""

from __future__ import annotations

import ast
import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from tests.docskit import DOCS, ROOT

pytest_plugins = ["tests.shellkit_fixtures"]

PAGE = DOCS / "troubleshooting.md"
if not PAGE.is_file():
    pytest.skip("the page comes with the source tree", allow_module_level=True)

QUOTED = re.findall(r"^### `+ ?(.*?) ?`+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
OF_OTHERS = {
    "No module named 'agent_magics'": "python",
    "unrecognized arguments: …": "%%agent hello\nthere",
    "Cell magic `%%agent` not found": "%%agent\nhello",
    "Line magic function `%%agent` not found": "x = 1\n%%agent\nhello",
}
"""Texts of Python and IPython, and the cells that bring IPython's."""


def said_by_the_code() -> list[str]:
    """Every constant text of the package's statements; docstrings are not said to anybody."""
    found: list[str] = []
    for path in sorted((ROOT / "agent_magics").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = [
            node.body[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        ]
        # `{place.host}` of a text that is filled in later is a part that differs.
        found += [
            re.sub(r"\{[\w.!]+\}", "…", node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said
        ]
    return found


SAID = said_by_the_code()


def test_the_page_quotes_texts():
    assert len(QUOTED) > 25


@pytest.mark.parametrize("quoted", [text for text in QUOTED if text not in OF_OTHERS])
def test_a_quoted_text_still_occurs_in_the_code(quoted):
    pieces = [piece.strip() for piece in quoted.split("…") if piece.strip(" .,;:()")]
    assert max(map(len, pieces)) >= 12, "too little is quoted to be found"
    for piece in pieces:
        assert any(piece in text for text in SAID), piece


@pytest.mark.parametrize("quoted", [text for text in OF_OTHERS if OF_OTHERS[text] != "python"])
def test_what_is_quoted_of_ipython_is_what_ipython_says(quoted, home, capsys):
    shell = InteractiveShell()
    if quoted.startswith("unrecognized"):
        agent_magics.load_ipython_extension(shell)
    shell.run_cell(OF_OTHERS[quoted])
    assert quoted.removesuffix(" …") in capsys.readouterr().err
    agent_magics.unload_ipython_extension(shell)


def test_texts_of_others_stand_on_the_page():
    assert [text for text in OF_OTHERS if text not in QUOTED] == []
