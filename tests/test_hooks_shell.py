"""Hooks as a person uses them: the decorator, the configuration, `%agent hooks`, programs."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import ModelError, UsageProblem
from agent_magics.events import Question
from agent_magics.extension import loaded, scripts
from agent_magics.magics.approving import BeforehandApprover
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Assistant, User
from agent_magics.policy import Answer
from agent_magics.providers.scripted import ScriptedModel
from tests.shellkit import magic
from tests.turns import Person, call, calls

pytest_plugins = ["tests.shellkit_fixtures"]

LIST = calls(call("ls", path="."))


@pytest.fixture
def here(shell, monkeypatch):
    """The shell as `get_ipython()` finds it."""
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return shell


def ask(shell, *replies, line=""):
    magics = loaded(shell)
    model = ScriptedModel([*replies, Assistant("Done.")])
    choice = ModelChoice("scripted", "here", "a test", lambda: model)
    magics.services = replace(magics.services, choose=lambda _settings: choice)
    magic(shell, "agent", line, "Go.\n")
    return model


def configure(home: Path, hooks: str) -> None:
    (home / "config.yaml").write_text(hooks, encoding="utf-8")


def script(folder: Path, name: str, code: str) -> str:
    path = folder / name
    path.write_text(f"import json, os, sys\ntold = json.load(sys.stdin)\n{code}", encoding="utf-8")
    return json.dumps([sys.executable, str(path)])


def test_a_function_under_the_decorator_is_in_force_from_the_next_cell_on(here, capsys):
    threads = []

    @agent_magics.hook("before_call", tools="ls read")
    def quiet(told):
        threads.append(threading.current_thread() is threading.main_thread())
        return told.deny("do not look")

    ask(here, LIST)
    (record,) = loaded(here).session.last.refused
    assert (record.by, record.reason) == ("hook quiet", "hook quiet: do not look")
    assert threads == [True]
    assert "do not look" in capsys.readouterr().out
    view = str(magic(here, "agent", "hooks"))
    assert "| before_call | quiet | ls read | 10 s | this kernel |" in view.split("\n")[4]
    assert magic(here, "agent", "hooks remove quiet") is None
    ask(here, LIST)
    assert loaded(here).session.last.refused == ()


def test_a_cell_that_is_run_again_replaces_its_hook(here):
    for timeout in (1, 2):

        @agent_magics.hook("turn_end", timeout=timeout)
        def again(_told):
            return None

    assert [hook.timeout for hook in loaded(here).hooks.all()] == [2.0]


def test_a_coroutine_function_can_be_a_hook(here):
    @agent_magics.hook("before_call")
    async def later(told):
        await asyncio.sleep(0)
        return told.deny("later")

    ask(here, LIST)
    assert loaded(here).session.last.calls[0].reason == "hook later: later"


def test_without_the_extension_the_decorator_says_that_it_is_not_in_force(here):
    agent_magics.unload_ipython_extension(here)
    with pytest.warns(UserWarning, match="not in force for %%agent: %load_ext agent_magics"):

        @agent_magics.hook("turn_end")
        def lost(_told):
            return None


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: agent_magics.hook(lambda _: None), "needs a point"),
        (lambda: agent_magics.hook("turn_end")(int), "goes above a function"),
    ],
)
def test_the_decorator_used_wrongly_says_how(use, message):
    with pytest.raises(TypeError, match=message):
        use()


def test_what_a_hook_says_at_the_start_stands_beside_the_prompt_and_the_end_tells_the_result(here):
    told = []

    @agent_magics.hook("session_start")
    def once(_turn):
        return "The branch is main."

    @agent_magics.hook("turn_start")
    def each(turn):
        return turn.note(f"asked: {turn.prompt.strip()}")

    @agent_magics.hook("turn_end")
    def end(turn):
        told.append(turn.result)
        return "noted"

    model = ask(here, calls(call("write", path="new.txt", content="x")))
    prompt = model.requests[0].conversation[-1]
    assert isinstance(prompt, User)
    assert [(a.title, a.text) for a in prompt.attachments] == [
        ("from hook once", "The branch is main."),
        ("from hook each", "asked: Go."),
    ]
    assert told[0].text == "Done."
    assert told[0].usage == loaded(here).session.last.usage
    model = ask(here)
    assert [a.title for a in model.requests[0].conversation[-1].attachments] == ["from hook each"]


def test_the_end_tells_which_files_changed(here):
    told = []

    @agent_magics.hook("turn_end")
    def end(turn):
        told.append(turn.result.changed_files)

    magic(here, "agent", "allow write")
    ask(here, calls(call("write", path="new.txt", content="x")))
    assert told == [("new.txt",)]


def test_a_turn_that_failed_is_told_at_its_end_too(here):
    told = []

    @agent_magics.hook("turn_end")
    def end(turn):
        told.append(turn.result.reason)

    with pytest.raises(ModelError):
        ask(here, ModelError("down"))
    assert told == ["failed"]


def test_a_hook_at_the_start_that_fails_is_shown_and_the_turn_goes_on(here, capsys):
    @agent_magics.hook("turn_start")
    def broken(_turn):
        raise KeyError("x")

    ask(here)
    assert "hook broken failed: KeyError" in capsys.readouterr().out
    assert loaded(here).session.last.text == "Done."


def test_a_command_of_the_configuration_denies(here, home):
    command = script(home, "no.py", "sys.exit('no' if told['tool'] != 'ls' else 2)")
    configure(home, f"hooks: {{before_call: [{{command: {command}, tools: ls, name: no ls}}]}}\n")
    ask(here, LIST)
    assert loaded(here).session.last.refused[0].by == "hook no ls"
    assert "your configuration" in str(magic(here, "agent", "hooks"))
    with pytest.raises(UsageProblem, match=r"'no ls' stands in .*config\.yaml"):
        magic(here, "agent", "hooks remove no ls")


def test_a_command_gets_no_keys_unless_they_are_named_and_runs_beside_its_configuration(
    here, home, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "a1B2" * 12)
    monkeypatch.setenv("CHAT_TOKEN", "c" * 20)
    monkeypatch.setenv("PLAIN", "p")
    out = home / "told.json"
    command = script(
        home, "env.py", f"json.dump([dict(os.environ), os.getcwd()], open({str(out)!r}, 'w'))"
    )
    configure(
        home, f"hooks: {{turn_end: [{{command: {command}, variables: [CHAT_TOKEN], timeout: 60}}]}}"
    )
    ask(here)
    seen, folder = json.loads(out.read_text())
    assert ("OPENAI_API_KEY" in seen, seen["CHAT_TOKEN"], seen["PLAIN"]) == (False, "c" * 20, "p")
    assert folder == str(home)
    configure(
        home,
        f"hooks: {{turn_end: [{{command: {command}, folder: workspace, timeout: 60}}]}}",
    )
    ask(here)
    seen, folder = json.loads(out.read_text())
    assert ("CHAT_TOKEN" in seen, folder) == (False, str(Path.cwd()))


def test_a_projects_file_brings_no_hook(here, capsys):
    trap = Path("caught").resolve()
    Path(".agent_magics").mkdir()
    Path(".agent_magics/config.yaml").write_text(
        f"hooks: {{turn_start: [{{command: [touch, {trap}]}}]}}\n", encoding="utf-8"
    )
    ask(here)
    assert not trap.exists()
    assert any("'hooks'" in each for each in loaded(here).services.configuration().problems)


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ("{before: []}", "line 1: there is no hook point 'before'"),
        ("[]", "hooks must be a mapping"),
        ("{turn_end: {}}", "hooks.turn_end must be a list"),
        ("{turn_end: [x]}", "a hook of turn_end must be a mapping"),
        ("{turn_end: [{}]}", "a hook needs command"),
        ("{turn_end: [{command: ls}]}", "command must be a list"),
        ("{turn_end: [{command: []}]}", "a list of the program and its arguments"),
        ("{turn_end: [{command: ['']}]}", "a list of the program and its arguments"),
        ("{turn_end: [{command: [./run.sh]}]}", "by its whole path, or by a name on PATH"),
        ("{turn_end: [{command: [bin/run]}]}", "by its whole path"),
        ('{turn_end: [{command: [a, "b\\0"]}]}', "NUL"),
        ("{turn_end: [{command: [a], shell: true}]}", "unknown key 'shell' of a hook"),
        ("{turn_end: [{command: [a], tools: read}]}", "turn_end is not about calls"),
        ("{turn_end: [{command: [a], timeout: soon}]}", "timeout must be a number"),
        ("{turn_end: [{command: [a], timeout: 9999}]}", "at most 600"),
        ("{turn_end: [{command: [a], folder: here}]}", "folder is `workspace` or a whole path"),
    ],
)
def test_what_is_off_in_the_configuration_is_said_with_its_line(here, home, hooks, message):
    configure(home, f"hooks: {hooks}\n")
    config = loaded(here).services.configuration()
    assert any("config.yaml, line 1: " in each and message in each for each in config.problems)
    assert config.hooks == ()


def test_a_hook_stays_in_force_when_something_else_in_the_file_is_off(here, home):
    configure(home, "hooks:\n  before_call:\n    - command: [false]\nnonsense: 1\n")
    config = loaded(here).services.configuration()
    assert [hook.name for hook in config.hooks] == ["false"]
    assert config.problems


def test_two_commands_of_one_name_are_told_apart(here, home):
    configure(home, "hooks: {turn_end: [{command: [a]}, {command: [a, b]}, {command: [a, c]}]}\n")
    names = [hook.name for hook in loaded(here).services.configuration().hooks]
    assert names == ["a", "a #2", "a #3"]


def test_a_home_folder_is_meant_by_a_tilde(here, home):
    configure(home, "hooks: {turn_end: [{command: [~/run.sh, ~/x, a~/b]}]}\n")
    (hook,) = loaded(here).services.configuration().hooks
    assert hook.action.words == (str(home / "run.sh"), str(home / "x"), "a~/b")


@pytest.mark.parametrize("line", ["hooks nonsense", "hooks remove", "hooks remove gone"])
def test_a_command_that_is_off_says_what_there_is(here, line):
    with pytest.raises(UsageProblem, match="hook"):
        magic(here, "agent", line)


def test_a_hook_for_a_tool_that_is_not_there_is_marked(here):
    agent_magics.hook("before_call", tools="run_shel", name="typo")(lambda _: None)
    assert "run_shel (no such tool now)" in str(magic(here, "agent", "hooks"))


def test_an_option_given_beforehand_does_not_answer_what_a_hook_asks():
    person = Person()
    approver = BeforehandApprover(person, lambda _question: Answer(True, "option"))
    question = Question(call("ls"), "ls", hook="hook x")
    assert not asyncio.run(approver.ask(question)).allowed
    assert asyncio.run(approver.ask(replace(question, hook=""))).allowed


def test_a_saved_session_says_which_hook_tightened(here):
    agent_magics.hook("before_call", name="no")(lambda told: told.deny("n"))
    ask(here, LIST)
    magics = loaded(here)
    (file,) = magics.services.records.archive.folder.glob("**/*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    (decided,) = [line for line in lines if line["kind"] == "call"]
    assert (decided["decision"], decided["by"]) == ("deny", "hook no")


# ---- programs


@agent_magics.hook("before_call")
def no_looking(told):
    return told.deny("no looking")


def test_a_program_gives_its_hooks_and_the_configurations_commands_hold_too(home, monkeypatch):
    model = ScriptedModel([LIST, Assistant("Done.")])
    choice = ModelChoice("scripted", "here", "a test", lambda: model)
    made = scripts.make_services
    monkeypatch.setattr(
        scripts,
        "make_services",
        lambda *given: replace(made(*given), choose=lambda _settings: choice),
    )
    command = script(home, "note.py", "print('from the command')")
    configure(home, f"hooks: {{turn_start: [{{command: {command}, timeout: 60}}]}}\n")
    result = agent_magics.run("Go.", hooks=[no_looking])
    assert result.refused[0].by == "hook no_looking"
    assert model.requests[0].conversation[-1].attachments[0].text == "from the command"


def test_what_is_no_hook_is_refused(home):
    with pytest.raises(UsageProblem, match="functions under @"):
        agent_magics.run("Go.", hooks=[print])


def test_a_function_that_never_ends_is_stopped_when_its_time_is_up(here):
    @agent_magics.hook("before_call", timeout=0.3)
    def endless(_told):
        while True:
            pass

    ask(here, LIST)
    (record,) = loaded(here).session.last.refused
    assert "hook endless: it took longer than 0.3 s" in record.result + record.reason
