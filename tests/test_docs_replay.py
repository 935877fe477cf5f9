"""What docs/replay.md says of the product; its examples run in `test_docs_examples`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from agent_magics.differences import Kind
from agent_magics.providers import exchanges, recording_lines
from tests.docskit import page
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

BLOCKS = page("replay.md")
TEXT = (Path(__file__).parents[1] / "docs" / "replay.md").read_text(encoding="utf-8")
NOTE, FILE = (block.text for block in BLOCKS if block.language == "text")


def test_the_note_on_the_page_is_what_is_shown(shell, capsys):
    Path("look.jsonl").write_text(FILE, encoding="utf-8")
    magic(shell, "agent", "model replay:look.jsonl")
    magic(shell, "agent", "record review.jsonl")
    magic(shell, "agent", "", "What is in the folder shop?")
    Path("shop/new.py").touch()
    capsys.readouterr()
    magic(shell, "agent", "--model replay:review.jsonl", "What is in the folder shop?")
    assert NOTE.strip() in capsys.readouterr().out.replace("┃ ", "")


def test_the_page_names_every_kind_of_difference_and_the_bounds():
    for kind in get_args(Kind):
        assert f"| `{kind}` |" in TEXT
    assert f"{recording_lines.MAX_BYTES // 1_000_000} MB for a file" in TEXT
    assert f"{recording_lines.MAX_CALLS} calls" in TEXT
    assert f"{recording_lines.MAX_DEPTH}\nlevels" in TEXT
    assert exchanges.MAX_TEXT == 1_000_000
