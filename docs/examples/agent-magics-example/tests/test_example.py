"""The parts by themselves; no kernel and no network."""

from __future__ import annotations

import asyncio

import pytest
from agent_magics_example.front_end import Lines
from agent_magics_example.models import model
from agent_magics_example.tools import count_words

from agent_magics.errors import ModelError, ToolError
from agent_magics.events import MessageAdded
from agent_magics.messages import Assistant, User
from agent_magics.ports import Request


def test_words_are_counted_inside_the_workspace_only(tmp_path):
    (tmp_path / "a.txt").write_text("one two three")
    assert count_words(tmp_path, "a.txt") == "a.txt has 3 words."
    for wrong in ("../a.txt", "gone.txt"):
        with pytest.raises(ToolError):
            count_words(tmp_path, wrong)


def test_the_model_shouts():
    async def said():
        return [item async for item in model("shout").stream(Request("", (User("hello"),)))]

    assert asyncio.run(said())[-1].text == "HELLO"
    with pytest.raises(ModelError, match="there is: shout"):
        model("whisper")


def test_what_hides_is_shown(capsys):
    Lines(quiet=False).show(MessageAdded(Assistant("a\x1b[31m")))
    assert capsys.readouterr().out == "answer: a\\x1b[31m\n"
