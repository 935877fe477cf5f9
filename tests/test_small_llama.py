"""A real small model behind a real llama.cpp server: effects are asserted, never texts.

Set AGENT_MAGICS_LLAMA_URL to its base URL (`http://127.0.0.1:8204/v1`); docs/small-models.md says
how such a server is started. Measured with Qwen2.5-Coder-1.5B-Instruct.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_magics.providers.served import served
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]
URL = os.environ.get("AGENT_MAGICS_LLAMA_URL", "").strip()
pytestmark = pytest.mark.skipif(not URL, reason="AGENT_MAGICS_LLAMA_URL names no server")


@pytest.fixture
def agent(shell):
    settings = shell.magics_manager.registry["AgentMagics"]
    settings.base_url, settings.mode, settings.max_turns = URL, "auto", 8
    return settings


def test_the_server_tells_the_models_size_and_its_context():
    known = served(URL, "any")
    assert known.told == "llama.cpp's server"
    assert known.size is not None
    assert known.window > 0


def test_the_connection_is_good_and_the_profile_is_on(shell, agent, capsys):
    magic(shell, "agent", "test")
    assert "small model" in str(magic(shell, "agent"))


def test_a_file_is_written_through_a_tool(shell, agent):
    magic(shell, "agent", "--out result", "Create a file hello.txt with the text: Hello, world!")
    assert Path("hello.txt").read_text(encoding="utf-8").strip() == "Hello, world!"
    result = shell.user_ns["result"]
    assert [call.outcome for call in result.calls][:1] == ["done"]
    assert result.usage.input > 0


def test_a_question_that_needs_no_tool_calls_none_and_a_turn_can_follow(shell, agent):
    magic(shell, "agent", "--out first", "What is the capital of Austria?")
    magic(shell, "agent", "--out second", "And of France?")
    assert shell.user_ns["first"].reason == shell.user_ns["second"].reason == "answered"
    assert shell.user_ns["second"].text


def test_the_map_tells_where_something_is_without_a_call(shell, agent):
    magic(shell, "agent", "--out result", "In which file is monthly reporting done?")
    assert "report" in shell.user_ns["result"].text
