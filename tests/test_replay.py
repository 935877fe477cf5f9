"""`replay:FILE` as a model, in IPython and in programs."""

from __future__ import annotations

import json

import pytest

from agent_magics import run
from agent_magics.errors import UsageProblem
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

HEAD = {"agent_magics_recording": 1, "title": "t"}


def line(prompt="Hi", step=0, **more):
    return {"prompt": prompt, "step": step, "reply": {"text": "Hello there."}, **more}


def tape(path, *lines):
    text = "\n".join(json.dumps(part) for part in (HEAD, *lines))
    path.write_text(text + "\n", encoding="utf-8")
    return path


def result(shell):
    return magic(shell, "agent", "last")


def test_a_file_of_the_workspace_answers_in_a_cell(shell, tmp_path, capsys):
    tape(tmp_path / "home" / "r.jsonl", line())
    magic(shell, "agent", "model replay:~/r.jsonl")
    magic(shell, "agent", "", "Hi")
    assert result(shell).text == "Hello there."
    assert result(shell).model == "replay:~/r.jsonl"
    assert "Replay of ~/r.jsonl: the model's words are played" in capsys.readouterr().out


def test_a_cell_a_setting_and_a_variable_name_it_as_well(home, monkeypatch, tmp_path):
    from IPython.core.interactiveshell import InteractiveShell

    import agent_magics

    tape(tmp_path / "r.jsonl", line())
    monkeypatch.setenv("AGENT_MAGICS_MODEL", f"replay:{tmp_path}/r.jsonl")
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    magics = shell.magics_manager.registry["AgentMagics"]
    assert magics.choice().name == f"replay:{tmp_path}/r.jsonl"
    assert "AGENT_MAGICS_MODEL" in magics.choice().why
    magics.model = "replay:none.jsonl"
    with pytest.raises(UsageProblem, match=r"replay:none.jsonl cannot be replayed. .*none.jsonl"):
        magics.choice()
    magic(shell, "agent", f"--model replay:{tmp_path}/r.jsonl", "Hi")
    assert result(shell).text == "Hello there."
    agent_magics.unload_ipython_extension(shell)


def test_a_program_replays_relative_to_its_folder(home, tmp_path):
    tape(tmp_path / "r.jsonl", line())
    assert run("Hi", cwd=tmp_path, model="replay:r.jsonl").text == "Hello there."


def test_a_bad_line_is_one_clear_error_with_its_number(shell, tmp_path):
    tape(tmp_path / "home" / "r.jsonl", line(), {"prompt": "x"})
    with pytest.raises(UsageProblem, match=r"r\.jsonl, line 3: 'step' is missing"):
        magic(shell, "agent", "model replay:~/r.jsonl")


def test_an_unknown_prompt_is_told_what_the_file_knows(shell, tmp_path):
    tape(tmp_path / "home" / "r.jsonl", line())
    magic(shell, "agent", "model replay:~/r.jsonl")
    magic(shell, "agent", "", "Something else")
    assert "has no answer to this prompt" in result(shell).text
    assert "- `Hi`" in result(shell).text


def test_a_relative_name_means_the_same_file_after_the_folder_was_changed(
    shell, tmp_path, monkeypatch
):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    tape(tmp_path / "one" / "r.jsonl", line())
    monkeypatch.chdir(tmp_path / "one")
    magic(shell, "agent", "model replay:r.jsonl")
    monkeypatch.chdir(tmp_path / "two")
    magic(shell, "agent", "", "Hi")
    assert result(shell).text == "Hello there."
    tape(tmp_path / "two" / "r.jsonl", line(reply={"text": "From the nearer one."}))
    magic(shell, "agent", "", "Hi")
    assert result(shell).text == "From the nearer one."
