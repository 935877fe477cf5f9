"""The commands of `%agent` about saved sessions, in a real IPython, from kernel to kernel."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.errors import UsageProblem
from agent_magics.extension import loaded
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Assistant
from agent_magics.policy import Rule
from agent_magics.providers.scripted import ScriptedModel
from tests.shellkit import magic, skill
from tests.turns import call, calls

pytest_plugins = ["tests.shellkit_fixtures"]


@pytest.fixture
def kernels(home, monkeypatch):
    """Makes kernels one after the other; a model that repeats its prompt answers in each."""
    running = []

    def make(*replies):
        if running:
            agent_magics.unload_ipython_extension(running.pop())
        shell = InteractiveShell()
        agent_magics.load_ipython_extension(shell)
        running.append(shell)

        def echo(request):
            return Assistant(f"You said: {request.conversation[-1].text.strip()}")

        script = ScriptedModel([*replies, *[echo] * 50])
        choice = ModelChoice("scripted", "here", "told", lambda: script)
        monkeypatch.setattr(loaded(shell), "choice", lambda model=None: choice)
        return shell

    yield make
    while running:
        agent_magics.unload_ipython_extension(running.pop())


def agent(shell, line):
    return magic(shell, "agent", line)


def files(home):
    return sorted((home.parent / "data" / "sessions").glob("*.jsonl"))


def test_nothing_is_saved_before_the_first_turn_and_nothing_when_it_is_off(kernels, home, capsys):
    shell = kernels()
    agent(shell, "sessions")
    agent(shell, "log")
    assert "No saved sessions" in capsys.readouterr().out
    shell.run_line_magic("config", "AgentMagics.save_sessions = False")
    magic(shell, "agent", "", "Hello?")
    assert not (home.parent / "data").exists()
    assert "save_sessions is off" in agent(shell, "log").text


def test_a_conversation_goes_on_in_the_next_kernel(kernels, home, capsys):
    first = kernels()
    magic(first, "agent", "", "Remember: 42.")
    before = loaded(first).session.conversation
    second = kernels()
    capsys.readouterr()
    agent(second, "resume")
    said = capsys.readouterr().out
    assert "Resumed session" in said
    assert "“Remember: 42.”" in said
    assert "Last answer: You said: Remember: 42." in said
    assert "read again before they are edited" in said
    assert loaded(second).session.conversation == before
    magic(second, "agent", "", "What was it?")
    assert len(files(home)) == 1
    listing = agent(second, "sessions").text
    assert "default (current)" in listing
    assert "| 2     | here " in listing


def test_new_and_reset_begin_another_file(kernels, home):
    shell = kernels()
    magic(shell, "agent", "", "One.")
    magic(shell, "agent", "--new", "Two.")
    agent(shell, "reset")
    magic(shell, "agent", "", "Three.")
    assert len(files(home)) == 3


def test_sessions_are_listed_with_those_of_this_folder_first_and_searched(kernels, tmp_path):
    shell = kernels()
    magic(shell, "agent", "", "Fix the parser.")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    here = Path.cwd()
    os.chdir(elsewhere)
    magic(shell, "agent", "--new", "Plot the <b>prices</b>.")
    os.chdir(here)
    view = agent(shell, "sessions")
    rows = [line for line in view.text.splitlines() if line.startswith("| ")]
    assert "Fix the parser." in rows[1]
    assert "Plot the" in rows[2]
    assert "<b>" not in view.html.split("</b>", 1)[1].replace("</b>", "")
    assert "Fix" not in agent(shell, "sessions PRICES plot").text


def test_a_session_of_its_name_is_offered_and_never_taken_silently(kernels, capsys):
    first = kernels()
    magic(first, "agent", "--session review", "One.")
    ident = loaded(first).sessions["review"].id
    second = kernels()
    capsys.readouterr()
    magic(second, "agent", "--session review", "Two.")
    assert f"%agent resume {ident}" in capsys.readouterr().out
    assert len(loaded(second).sessions["review"].conversation) == 2
    magic(second, "agent", "--session review", "Three.")
    assert "%agent resume" not in capsys.readouterr().out
    agent(second, f"resume {ident}")
    said = capsys.readouterr().out
    assert "stays as session review-2: %%agent --session review-2" in said
    assert len(loaded(second).sessions["review"].conversation) == 2
    assert len(loaded(second).sessions["review-2"].conversation) == 4


def test_what_was_allowed_is_said_and_not_restored(kernels, capsys):
    first = kernels()
    agent(first, "allow run_shell git status")
    agent(first, "deny python")
    magic(first, "agent", "", "One.")
    second = kernels()
    agent(second, "ask read *.sql")
    agent(second, "allow python")
    capsys.readouterr()
    agent(second, "resume")
    said = capsys.readouterr().out
    assert "Permissions are not restored; you had said: allow run_shell git status" in said
    rules = loaded(second).policy().from_source("session")
    assert rules == (Rule("read", "ask", "*.sql"), Rule("python", "deny"))


def test_skills_come_back_when_they_are_what_they_were(kernels, home, capsys):
    mine = home / ".agents" / "skills"
    for name in ("same", "changed", "gone"):
        skill(mine, name)
    first = kernels()
    magic(first, "use", "same only this")
    magic(first, "use", "--add changed")
    magic(first, "use", "--add gone")
    magic(first, "agent", "", "One.")
    (mine / "changed" / "SKILL.md").write_text(
        "---\nname: changed\ndescription: For tests.\n---\nDo more.\n", encoding="utf-8"
    )
    shutil.rmtree(mine / "gone")
    second = kernels()
    capsys.readouterr()
    agent(second, "resume")
    said = capsys.readouterr().out
    assert "Active again: same." in said
    assert "Skill changed changed since, and is not active: %use changed takes the change." in said
    assert "Skill gone is not there any more" in said
    active = loaded(second).session.active
    assert [(a.skill.name, a.arguments) for a in active] == [("same", "only this")]


def test_code_of_a_project_that_is_not_trusted_is_not_imported_by_resuming(
    kernels, capsys, monkeypatch
):
    marker = Path("imported.txt").resolve()
    code = (
        f"open({str(marker)!r}, 'w').close()\n"
        'def count(text: str) -> str:\n    """Count."""\n    return text\n'
    )
    skill(Path("skills"), "counter", code=code)
    first = kernels()
    magic(first, "skills", "--trust counter")
    magic(first, "use", "counter")
    magic(first, "agent", "", "One.")
    marker.unlink()
    trusted = loaded(first).services.config_file.parent / "trusted-skills.json"
    trusted.unlink()
    second = kernels()
    # Somebody would say yes, if they were asked.
    monkeypatch.setattr("builtins.input", lambda _prompt="": "y")
    capsys.readouterr()
    agent(second, "resume")
    said = capsys.readouterr().out
    assert "Skill counter is not active" in said
    assert "%use counter" in said
    assert not marker.exists()
    assert loaded(second).session.active == ()


def test_what_was_read_is_forgotten_so_that_edits_need_a_new_look(kernels):
    first = kernels()
    magic(first, "agent", "", "One.")
    second = kernels(calls(call("read", path="README.md")), Assistant("Read."))
    magic(second, "agent", "", "Read it.")
    workspace = loaded(second).services.workspace
    assert workspace.was_read(Path("README.md").resolve())
    agent(second, "resume")
    assert not workspace.was_read(Path("README.md").resolve())


@pytest.mark.parametrize(("setting", "active"), [("ask", True), ("never", False)])
def test_trusted_code_comes_back_unless_code_is_never_wanted(kernels, capsys, setting, active):
    code = 'def count(text: str) -> str:\n    """Count."""\n    return text\n'
    skill(Path("skills"), "counter", code=code)
    first = kernels()
    magic(first, "skills", "--trust counter")
    magic(first, "use", "counter")
    magic(first, "agent", "", "One.")
    second = kernels()
    second.run_line_magic("config", f"AgentMagics.skill_code = {setting!r}")
    capsys.readouterr()
    agent(second, "resume")
    said = capsys.readouterr().out
    assert ("Active again: counter." in said) is active
    assert ("count" in [tool.name for tool in loaded(second).visible()]) is active


def test_fork_and_rename_leave_the_first_as_it_was(kernels, home, capsys):
    shell = kernels()
    with pytest.raises(UsageProblem, match="nothing to fork"):
        agent(shell, "fork")
    magic(shell, "agent", "", "One.")
    agent(shell, "fork")
    assert "goes on in session default-2" in capsys.readouterr().out
    magic(shell, "agent", "", "Two.")
    agent(shell, 'rename "second try"')
    sessions = loaded(shell).sessions
    assert [len(s.conversation) for s in sessions.values()] == [2, 4]
    assert loaded(shell).session is sessions["second try"]
    second = kernels()
    agent(second, "resume second try")
    assert loaded(second).session.name == "second try"
    agent(second, "resume default")
    assert len(loaded(second).session.conversation) == 2
    agent(second, "resume second try")
    assert "open in this kernel" in capsys.readouterr().out
    assert len(files(home)) == 2


@pytest.mark.parametrize("name", ["", "  ", "-x", "a" * 81, "a\x1b[2J"])
def test_a_name_that_cannot_be_one_is_refused(kernels, name):
    shell = kernels()
    with pytest.raises(UsageProblem, match="one line"):
        agent(shell, f"rename {name}")


def test_a_name_that_is_taken_is_refused(kernels):
    shell = kernels()
    with pytest.raises(UsageProblem, match="already"):
        agent(shell, "rename default")


def test_a_fork_without_saving_is_in_memory_alone(kernels, home, capsys):
    shell = kernels()
    shell.run_line_magic("config", "AgentMagics.save_sessions = False")
    magic(shell, "agent", "", "One.")
    agent(shell, "fork other")
    assert "not saved, since saving is off" in capsys.readouterr().out
    assert loaded(shell).session.name == "other"
    assert not (home.parent / "data").exists()


def test_deleting_needs_an_id_and_spares_what_is_open(kernels, home, capsys):
    shell = kernels()
    for prompt in ("One.", "Two."):
        magic(shell, "agent", "--new", prompt)
    current = loaded(shell).session.id
    with pytest.raises(UsageProblem, match="several sessions"):
        agent(shell, "delete default")
    with pytest.raises(UsageProblem, match="%agent reset first"):
        agent(shell, f"delete {current}")
    with pytest.raises(UsageProblem, match="needs a session's id"):
        agent(shell, "delete")
    other = next(f.stem[-6:] for f in files(home) if current not in f.stem)
    agent(shell, f"delete {other}")
    assert "“One.”" in capsys.readouterr().out
    assert [f.stem[-6:] for f in files(home)] == [current]


@pytest.mark.parametrize("line", ["resume nothing", "delete nothing", "export x.md nothing"])
def test_a_session_that_is_not_there_is_said(kernels, line):
    with pytest.raises(UsageProblem, match=r"no saved session 'nothing'.*%agent sessions"):
        agent(kernels(), line)


def test_resuming_where_nothing_was_saved_is_said(kernels):
    with pytest.raises(UsageProblem, match="no saved session of this folder"):
        agent(kernels(), "resume")


def test_the_log_says_where_and_how_large(kernels, home):
    shell = kernels()
    magic(shell, "agent", "", "One.")
    (path,) = files(home)
    text = agent(shell, "log").text
    assert str(path) in text
    assert "90 days" in text
    assert f"saved as {loaded(shell).session.id}" in agent(shell, "").text


def test_the_panel_of_a_new_kernel_says_what_can_be_resumed(kernels):
    magic(kernels(), "agent", "", "One.")
    shell = kernels()
    assert "Saved sessions of this folder: 1" in agent(shell, "").text
    magic(shell, "agent", "", "Two.")
    assert "Saved sessions" not in agent(shell, "").text


def test_a_full_or_read_only_disk_is_said_in_the_cell_once(kernels, home, capsys):
    (home.parent / "data").write_text("in the way", encoding="utf-8")
    shell = kernels()
    magic(shell, "agent", "", "One.")
    said = capsys.readouterr().out
    assert said.count("not being saved") == 1
    assert "You said: One." in said
    magic(shell, "agent", "", "Two.")
    assert "not being saved" not in capsys.readouterr().out
    assert "no: " in agent(shell, "log").text


def test_the_key_of_the_endpoint_is_never_saved(home, kernels, monkeypatch):
    key = "a-key-without-a-telling-name-7731"
    monkeypatch.setenv("MY_LLM", key)
    (home / "config.yaml").write_text("api_key_env: MY_LLM\n", encoding="utf-8")
    shell = kernels()
    magic(shell, "agent", "", f"Is {key} my key?")
    (path,) = files(home)
    saved = path.read_text(encoding="utf-8")
    assert key not in saved
    assert "my key?" in saved


def test_every_line_of_a_file_is_json_with_its_kind_first(kernels, home):
    shell = kernels()
    magic(shell, "agent", "", "One.")
    (path,) = files(home)
    for line in path.read_text(encoding="utf-8").splitlines():
        assert next(iter(json.loads(line))) == "kind"
