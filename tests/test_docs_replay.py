"""Every example of docs/replay.md, in the order of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_magics.differences import SHOWN
from agent_magics.providers import exchanges, recording_lines
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

PAGE = Path(__file__).parents[1] / "docs" / "replay.md"
if not PAGE.is_file():
    pytest.skip("the page comes with the source tree", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]


def test_the_examples_run_in_their_order(shell, capsys):
    (written,) = [text for language, text in BLOCKS if language == "json"]
    Path("look.jsonl").write_text(written, encoding="utf-8")
    magic(shell, "agent", "model replay:look.jsonl")
    for number, block in enumerate(PYTHON):
        if block.startswith("%agent model replay:review.jsonl"):
            # What was recorded until then.
            magic(shell, "agent", "", "What is in the folder shop?")
            magic(shell, "agent", "record stop")
        if block.startswith("%%agent"):
            shell.run_line_magic("config", "AgentMagics.replay_tools = 'run'")
            Path("shop/new.py").touch()
        if "replay_strict" in block:
            Path("shop/new.py").unlink()
        done = shell.run_cell(block)
        assert done.success, f"example {number}: {block}"
        if "d.kind" in block:
            assert done.result == [
                ("result", "call of ls", (" __init__.py", "+new.py", " orders.py"))
            ]
    assert done.result is None
    assert "A bookkeeping package." in capsys.readouterr().out


def test_the_note_on_the_page_is_what_is_shown(shell, capsys):
    (written,) = [text for language, text in BLOCKS if language == "json"]
    Path("look.jsonl").write_text(written, encoding="utf-8")
    magic(shell, "agent", "model replay:look.jsonl")
    magic(shell, "agent", "record review.jsonl")
    magic(shell, "agent", "", "What is in the folder shop?")
    Path("shop/new.py").touch()
    capsys.readouterr()
    magic(shell, "agent", "--model replay:review.jsonl", "What is in the folder shop?")
    (note,) = [text for language, text in BLOCKS if language == "text"]
    shown = capsys.readouterr().out.replace("┃ ", "")
    assert note.strip() in shown


def test_the_page_names_every_kind_of_difference_and_the_bounds():
    from typing import get_args

    from agent_magics.differences import Kind

    for kind in get_args(Kind):
        assert f"| `{kind}` |" in TEXT
    assert f"{recording_lines.MAX_BYTES // 1_000_000} MB for a file" in TEXT
    assert f"{recording_lines.MAX_CALLS} calls" in TEXT
    assert f"{recording_lines.MAX_DEPTH}\nlevels" in TEXT
    assert exchanges.MAX_TEXT == 1_000_000
    assert SHOWN > 0
