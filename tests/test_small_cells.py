"""`%%agent` with a small model, in a real shell against the loopback endpoint."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import agent_magics
from agent_magics.context import BASE, SMALL
from tests.fake import FakeServer
from tests.shellkit import magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]


@pytest.fixture(scope="module")
def server():
    with FakeServer() as server:
        yield server


def asked(shell, server, model="tiny-1b", small="auto", cell="What is here?", line="", **spec):
    """The bodies of the requests that one cell makes."""
    scenario = server.scenario(**{"turns": 0, "final": 3, **spec})
    agent = shell.magics_manager.registry["AgentMagics"]
    agent.base_url, agent.model, agent.small = scenario.url, model, small
    magic(shell, "agent", line, cell)
    return [json.loads(body) for body in scenario.bodies]


def test_a_small_model_gets_a_map_short_instructions_and_few_tools(shell, server, capsys):
    (body,) = asked(shell, server)
    system, prompt = (message["content"] for message in body["messages"])
    assert system.startswith(SMALL)
    assert '<attached title="a map of the workspace">' in prompt
    assert prompt.endswith("What is here?")
    assert "tools" not in body
    names = set(re.findall(r"^- (\w+)\(", system, re.MULTILINE))
    assert {"ls", "read", "python"} <= names <= {
        "ls", "glob", "read", "grep", "write", "edit", "run_shell", "python",
    }  # fmt: skip


def test_for_every_other_model_a_request_is_the_same_as_with_the_profile_off(shell, server):
    # The scenario's name is part of its address only, so the bodies can be compared as they are.
    large = asked(shell, server, model="big-70b", line="--new")
    unknown = asked(shell, server, model="gpt-5-mini", line="--new")
    off = asked(shell, server, model="tiny-1b", small="off", line="--new")
    for bodies in (large, unknown):
        assert [{**b, "model": ""} for b in bodies] == [{**b, "model": ""} for b in off]
    assert off[0]["messages"][0]["content"].startswith(BASE)
    assert off[0]["tools"]


def test_the_profile_can_be_set_by_hand(shell, server):
    (body,) = asked(shell, server, model="gpt-5-mini", small="on")
    assert body["messages"][0]["content"].startswith(SMALL)


def test_the_panel_and_the_preview_say_what_is_on_and_how_it_is_switched_off(shell, server):
    agent = shell.magics_manager.registry["AgentMagics"]
    agent.base_url, agent.model = server.scenario(turns=0).url, "tiny-1b"
    for view in (magic(shell, "agent"), magic(shell, "agent", "--preview", "Hello")):
        text = view._repr_mimebundle_()["text/plain"] if hasattr(
            view, "_repr_mimebundle_"
        ) else str(view)  # fmt: skip
        assert "since the model has 1 billion parameters (its name)" in text
        assert "AgentMagics.small = 'off'" in text
    assert "a map of the workspace" in text
    agent.small = "off"
    assert "small model" not in str(magic(shell, "agent"))


def test_the_map_is_sent_again_only_when_the_folder_has_changed(shell, server):
    first, second = asked(shell, server), asked(shell, server, cell="And now?")
    assert "a map of the workspace" in first[0]["messages"][-1]["content"]
    assert "a map of the workspace" not in second[0]["messages"][-1]["content"]
    Path("new_file.py").write_text('"""New."""\n', encoding="utf-8")
    (third,) = asked(shell, server, cell="And now?")
    assert "new_file.py: New." in third["messages"][-1]["content"]


def test_a_skill_that_declares_a_diff_has_it_sent_ahead_where_its_tool_may_run(shell, server, home):
    def git(*words):
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", "state")
    Path("brand_new.py").write_text("answer = 42\n", encoding="utf-8")
    (body,) = asked(shell, server, line="--skill code-review", cell="Review.")
    assert "answer = 42" not in body["messages"][-1]["content"]  # its tool would ask first
    home.joinpath("config.yaml").write_text("policy: {allow: [git_diff]}\n", encoding="utf-8")
    (body,) = asked(shell, server, line="--new --skill code-review", cell="Review.")
    prompt = body["messages"][-1]["content"]
    assert "the uncommitted changes; git_diff was called already" in prompt
    assert "answer = 42" in prompt


def test_a_skill_that_hides_the_file_tools_gets_no_map(shell, server, home):
    skill(Path(".agents/skills"), "calm", tools="tools: [todo]\n")
    shell.magics_manager.registry["AgentMagics"].skill_code = "allow"
    (body,) = asked(shell, server, line="--skill calm", cell="Make a plan.")
    assert "a map of the workspace" not in body["messages"][-1]["content"]


def test_a_setting_that_is_none_is_refused(shell):
    with pytest.raises(Exception, match="small"):
        shell.magics_manager.registry["AgentMagics"].small = "maybe"


def test_calls_and_results_are_told_in_words_in_later_requests_too(shell, server):
    bodies = asked(shell, server, cell="List.", turns=1, tool="ls")
    assert len(bodies) >= 2
    for body in bodies:
        assert "tools" not in body
        assert all("tool_calls" not in m and m["role"] != "tool" for m in body["messages"])
    # The call failed, so its reason is told beside the conversation.
    reason = "n is unknown. The arguments are: path"
    assert f'<result of="ls" state="failed">\n{reason}\n</result>' in sent(bodies)
    (body,) = asked(shell, server, cell="And now?")
    assert any("Result of ls:" in message["content"] for message in body["messages"])
    assert all("tool_calls" not in m and m["role"] != "tool" for m in body["messages"])


# --- files that the prompt names ---------------------------------------------------------------


def sent(bodies):
    return bodies[-1]["messages"][-1]["content"]


def test_files_that_the_prompt_names_go_with_it_once(shell, server):
    Path("sub").mkdir()
    Path("sub/due.py").write_text("X = 1\n", encoding="utf-8")
    Path("t.csv").write_text("a,b\n" + "1,2\n" * 50, encoding="utf-8")
    prompt = sent(asked(shell, server, cell="What is X in `due.py`? And t.csv, sub/due.py."))
    assert '<attached title="the file sub/due.py">\nX = 1\n</attached>' in prompt
    assert prompt.count("the file sub/due.py") == 1
    assert prompt.count("1,2") == 5
    assert "python has the rest" in prompt
    assert "the file sub/due.py" not in sent(asked(shell, server, cell="And Y in due.py?"))
    Path("sub/due.py").write_text("Y = 2\n", encoding="utf-8")
    assert "Y = 2" in sent(asked(shell, server, cell="And Y in due.py?"))


def test_a_notebook_that_the_prompt_names_goes_as_its_cells(shell, server):
    cell = {"cell_type": "code", "source": "1 / 0", "metadata": {}, "execution_count": 1,
            "outputs": []}  # fmt: skip
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    Path("a.ipynb").write_text(json.dumps(book), encoding="utf-8")
    prompt = sent(asked(shell, server, cell="What fails in a.ipynb?"))
    assert 'title="the file a.ipynb"' in prompt
    assert "1 / 0" in prompt
    assert '"cell_type"' not in prompt


def test_a_file_that_reading_would_ask_about_is_not_sent_ahead(shell, server, home):
    Path("plain.txt").write_text("harmless-word\n", encoding="utf-8")
    Path(".env").write_text("KEY=secret-word\n", encoding="utf-8")
    Path("gone.txt").write_text("ignored-word\n", encoding="utf-8")
    Path(".gitignore").write_text("gone.txt\n", encoding="utf-8")
    Path("../beside.txt").write_text("outside-word\n", encoding="utf-8")
    Path("bin.dat").write_bytes(b"\0\1\2")
    cell = "What do plain.txt, .env, gone.txt, ../beside.txt, bin.dat and not-there.txt hold?"
    prompt = sent(asked(shell, server, cell=cell))
    assert re.findall(r"(\w+)-word", prompt) == ["harmless"]
    home.joinpath("config.yaml").write_text("policy: {ask: [read]}\n", encoding="utf-8")
    assert "harmless-word" not in sent(asked(shell, server, line="--new", cell=cell))


def test_with_hooks_no_file_is_sent_ahead_since_they_would_not_see_it(shell, server, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    Path("plain.txt").write_text("harmless-word\n", encoding="utf-8")
    agent_magics.hook("before_call")(lambda call: None)
    assert "harmless-word" not in sent(asked(shell, server, cell="What is in plain.txt?"))


def test_a_long_file_is_cut_and_says_how_to_go_on(shell, server):
    Path("long.txt").write_text("word\n" * 20_000, encoding="utf-8")
    prompt = sent(asked(shell, server, cell="Sum up long.txt."))
    assert len(prompt) < 6_000
    assert "read shows the rest" in prompt
