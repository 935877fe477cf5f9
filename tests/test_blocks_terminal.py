"""Blocks in a terminal: a bar that no model can draw, and nothing that moves the cursor."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.events import Question
from agent_magics.frontends.ansi import clean_terminal, render_question, render_terminal
from agent_magics.frontends.blocks_block import Block, gone
from agent_magics.messages import Display, ToolCall
from agent_magics.plain import visible
from tests.hostile import HOSTILE

CALL = Block(
    "b1",
    "",
    "✓ `edit x` · approved · 0.1 s\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n\nnote",
    {"kind": "call"},
)
PLAIN = re.compile(r"\x1b\[[0-9]+m")


def test_our_lines_stand_behind_a_bar_and_their_payload_behind_another():
    assert render_terminal(CALL, colour=False, width=80).split("\n") == [
        "┃ ✓ `edit x` · approved · 0.1 s",
        "┃ │ @@ -1 +1 @@",
        "┃ │ -a",
        "┃ │ +b",
        "┃ note",
    ]


def test_colours_only_add_to_the_plain_text():
    coloured = render_terminal(CALL, colour=True, width=80)
    assert "\x1b[32m│ +b\x1b[0m" in coloured
    assert PLAIN.sub("", coloured) == render_terminal(CALL, colour=False, width=80)


def test_an_answer_comes_as_its_markdown():
    text = "# Head\n```py\nx\n```\nrest"
    block = Block("b1", "", text, {"kind": "answer"})
    assert render_terminal(block, colour=False, width=10) == text
    coloured = render_terminal(block, colour=True, width=10)
    assert coloured.startswith("\x1b[1m# Head\x1b[0m\n\x1b[2m```py\x1b[0m\n\x1b[36mx\x1b[0m")
    assert PLAIN.sub("", coloured) == text


def test_what_is_only_for_now_leaves_nothing():
    assert render_terminal(gone("b1"), colour=True, width=80) == ""
    assert render_terminal(Block("b1", "", "", {"kind": "call"}), colour=False, width=80) == ""


def test_long_lines_are_wrapped_between_words_and_every_part_keeps_its_bars():
    text = "note " + "word " * 30 + "x" * 90 + "\n\n```\n" + "y" * 100 + "漢" * 50 + "a\u0301\n```"
    shown = render_terminal(Block("b1", "", text, {"kind": "call"}), colour=False, width=40)
    rows = shown.split("\n")
    assert all(row.startswith("┃ ") for row in rows)
    assert all(row.startswith("┃ │ ") for row in rows if "y" in row or "漢" in row)
    assert all(len(row) + row.count("漢") <= 42 for row in rows)
    assert "┃ note word word" in rows[0]
    assert rows[0].endswith("word ")


def test_a_narrow_terminal_does_not_break_it():
    assert render_terminal(CALL, colour=False, width=0).count("\n") >= 4


@settings(deadline=None)
@given(st.text() | st.sampled_from([text for _, text in HOSTILE]))
def test_a_models_words_hold_no_bar_and_no_control_character(text):
    clean = clean_terminal(text)
    assert not {"┃", "│"} & set(clean)
    assert visible(clean) == clean
    for part in (text[:3], text[3:]):
        assert not {"\x1b", "\r", "\x9b"} & set(clean_terminal(part))


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_question_stays_behind_its_bars(text):
    call = ToolCall("c", "run_shell", '{"command": "ls", "n": 3}')
    for kind in ("diff", "code"):
        question = Question(call, f"run_shell {text}", (Display(kind, text),), reason=text)
        shown = render_question(question, colour=False, width=60)
        assert all(row.startswith("┃ ") for row in shown.split("\n"))
        assert visible(shown) == shown
        coloured = render_question(question, colour=True, width=60)
        assert PLAIN.sub("", coloured) == shown
        payload = [row for row in shown.split("\n") if row.startswith("┃ │ ")]
        assert "n: 3" in " ".join(payload[:2])
