"""`%agent undo` and `%agent redo` in a real IPython, after cells of a scripted model."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.errors import UsageProblem
from agent_magics.extension import loaded
from agent_magics.magics.services import ModelChoice
from agent_magics.magics.views import View
from agent_magics.messages import Assistant, User
from agent_magics.providers.scripted import ScriptedModel
from tests.shellkit import magic
from tests.turns import call, calls

pytest_plugins = ["tests.shellkit_fixtures"]


def ask(shell, *replies, prompt="Change it.", line=""):
    """One cell in which the model makes these calls, all allowed."""
    magics = loaded(shell)
    model = ScriptedModel([*replies, Assistant("Done.")])
    choice = ModelChoice("scripted", "here", "a test", lambda: model)
    magics.services = replace(magics.services, choose=lambda _settings: choice)
    for tool in ("edit", "write", "delete", "move", "run_shell"):
        magic(shell, "agent", f"allow {tool}")
    magic(shell, "agent", line, f"{prompt}\n")
    return model


def edits(*pairs):
    """A read and edits of a.txt, each in an answer of its own."""
    yield calls(call("read", "r", path="a.txt"))
    for number, (old, new) in enumerate(pairs):
        yield calls(call("edit", f"e{number}", path="a.txt", old=old, new=new))


@pytest.fixture
def a(shell):
    path = Path("a.txt").resolve()
    path.write_text("v0\n", encoding="utf-8")
    return path


def say(shell, capsys, line):
    """What a command prints or returns, as text."""
    capsys.readouterr()
    result = magic(shell, "agent", line)
    return str(result) if isinstance(result, View) else capsys.readouterr().out


def refused(shell, line):
    with pytest.raises(UsageProblem) as caught:
        magic(shell, "agent", line)
    return str(caught.value)


def test_undo_shows_what_would_happen_and_does_it_only_when_told(shell, a, capsys):
    ask(shell, *edits(("v0", "v1"), ("v1", "v2")), prompt="\nMake it v2.\nThanks.")
    view = magic(shell, "agent", "undo")
    assert "“Make it v2.”" in view.text
    assert "nothing is changed yet" in view.text
    assert "| change back | a.txt |" in view.text
    assert "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-v2\n+v0\n```" in view.text
    assert "To do it: %agent undo --yes" in view.text
    assert "<pre" in view.html
    assert a.read_text() == "v2\n"
    said = say(shell, capsys, "undo --yes")
    assert said.startswith("Undone: “Make it v2.”")
    assert "  a.txt changed back" in said
    assert a.read_text() == "v0\n"
    assert "There is nothing to undo" in say(shell, capsys, "undo")
    assert "%agent redo" in say(shell, capsys, "undo")


def test_twenty_edits_are_one_undo_after_a_restart(shell, a, capsys):
    ask(shell, *edits(*((f"v{n}", f"v{n + 1}") for n in range(20))))
    assert a.read_text() == "v20\n"
    agent_magics.unload_ipython_extension(shell)
    fresh = InteractiveShell()
    agent_magics.load_ipython_extension(fresh)
    assert "before a restart" in say(fresh, capsys, "undo")
    magic(fresh, "agent", "undo --yes")
    assert a.read_text() == "v0\n"
    agent_magics.unload_ipython_extension(fresh)


def test_redo_shows_and_does_it_again(shell, a, capsys):
    ask(shell, *edits(("v0", "v1")))
    assert "no undo to take back" in say(shell, capsys, "redo")
    magic(shell, "agent", "undo --yes")
    assert "-v0\n+v1" in say(shell, capsys, "redo")
    assert a.read_text() == "v0\n"
    assert say(shell, capsys, "redo --yes").startswith("Done again:")
    assert a.read_text() == "v1\n"
    magic(shell, "agent", "undo --yes")
    assert a.read_text() == "v0\n"


def test_a_later_change_of_someone_else_is_not_lost_unless_forced(shell, a, capsys):
    ask(shell, *edits(("v0", "v1")))
    a.write_text("mine\n", encoding="utf-8")
    shown = say(shell, capsys, "undo")
    assert "CONFLICT" in shown
    assert "--yes --force" in shown
    assert "a.txt: it was changed since" in refused(shell, "undo --yes")
    assert a.read_text() == "mine\n"
    magic(shell, "agent", "undo --yes --force")
    assert a.read_text() == "v0\n"
    magic(shell, "agent", "redo --yes")
    assert a.read_text() == "mine\n"


def test_one_file_in_conflict_keeps_all_from_being_taken_back(shell, a, capsys):
    new = calls(call("write", "w", path="new.txt", content="x"))
    ask(shell, *edits(("v0", "v1")), new)
    a.write_text("mine\n", encoding="utf-8")
    refused(shell, "undo --yes")
    assert Path("new.txt").exists()


def test_what_a_shell_command_did_is_named_and_not_undone(shell, a, capsys):
    ran = calls(call("run_shell", "s", command="echo x > made.txt"))
    ask(shell, *edits(("v0", "v1")), ran)
    assert "What run_shell (1 call) did is not undone." in say(shell, capsys, "undo")
    assert "What run_shell (1 call) did is not undone." in say(shell, capsys, "undo --yes")
    assert Path("made.txt").exists()


def test_what_a_sub_agent_ran_and_changed_belongs_to_the_cell(shell, a, capsys):
    task = calls(call("delegate", "d", task="Do it for me."))
    new = calls(call("write", "w", path="b.txt", content="x"))
    ran = calls(call("run_shell", "s", command="true"))
    ask(shell, task, new, ran, Assistant("The sub-agent is done."))
    shown = say(shell, capsys, "undo")
    assert "| delete | b.txt |" in shown
    assert "What run_shell (1 call) did is not undone." in shown


def test_a_later_cell_that_only_ran_something_is_named_too(shell, a, capsys):
    ask(shell, *edits(("v0", "v1")), prompt="first")
    ask(shell, calls(call("run_shell", "s", command="true")), prompt="second")
    shown = say(shell, capsys, "undo")
    assert "Undo of “first”" in shown
    assert "Later, “second”" in shown
    assert "changed no file" in say(shell, capsys, "undo 1")


def test_turns_are_listed_and_one_is_chosen_by_its_number(shell, a, capsys):
    assert "No turn changed anything" in say(shell, capsys, "undo list")
    ask(shell, *edits(("v0", "v1")), prompt="first")
    ask(shell, calls(call("write", "w", path="b.txt", content="x")), prompt="second")
    rows = say(shell, capsys, "undo list").split("\n")
    assert [row.split()[-2] for row in rows[4:6]] == ["second", "first"]
    assert "To do it: %agent undo 2 --yes" in say(shell, capsys, "undo 2")
    magic(shell, "agent", "undo 2 --yes")
    assert a.read_text() == "v0\n"
    assert Path("b.txt").exists()
    assert "is undone already" in refused(shell, "undo 2")
    assert "undone" in say(shell, capsys, "undo list").split("\n")[5]
    assert "There is no turn 3" in refused(shell, "undo 3")


@pytest.mark.parametrize(
    "line", ["undo now", "undo --no", "undo 1 2", "redo 1", "undo 0", "undo -1"]
)
def test_words_that_mean_nothing_get_the_usage(shell, line):
    assert "Usage: %agent" in refused(shell, line)


def test_what_was_undone_counts_as_not_read_and_the_model_is_told(shell, a):
    ask(shell, *edits(("v0", "v1")))
    magic(shell, "agent", "undo --yes")
    note, answer = loaded(shell).session.conversation[-2:]
    assert isinstance(note, User)
    assert "a.txt changed back" in note.text
    assert isinstance(answer, Assistant)
    model = ask(shell, calls(call("edit", "x", path="a.txt", old="v0", new="v3")), prompt="Again.")
    assert model.requests[0].conversation[-1] == User("Again.\n")
    assert model.requests[0].conversation[-3:-1] == (note, answer)
    assert a.read_text() == "v0\n"
    assert "changed on disk" in str(loaded(shell).session.last.calls[0].result) or (
        "read it first" in loaded(shell).session.last.calls[0].result
    )


def test_an_empty_conversation_gets_no_note(shell, a):
    ask(shell, *edits(("v0", "v1")))
    magic(shell, "agent", "reset")
    magic(shell, "agent", "undo --yes")
    assert loaded(shell).session.conversation == ()


def test_nothing_is_kept_when_the_setting_says_so(shell, a, capsys):
    loaded(shell).undo_megabytes = 0
    ask(shell, *edits(("v0", "v1")))
    assert "undo_megabytes is 0" in say(shell, capsys, "undo")


def test_another_workspace_has_turns_of_its_own(shell, a, capsys, tmp_path):
    ask(shell, *edits(("v0", "v1")))
    (tmp_path / "elsewhere").mkdir()
    loaded(shell).workspace = str(tmp_path / "elsewhere")
    assert "There is nothing to undo" in say(shell, capsys, "undo")


def test_hostile_names_and_texts_are_escaped_and_secrets_are_not_shown(shell, a, home, capsys):
    os.environ["SOME_API_KEY"] = "sk-averysecretvalue"
    try:
        name = "<img src=x>\n.txt"
        new = calls(call("write", "w", path=name, content="<script>sk-averysecretvalue</script>\n"))
        ask(shell, new, prompt="<b>bold</b>")
        view = magic(shell, "agent", "undo")
    finally:
        del os.environ["SOME_API_KEY"]
    assert "sk-averysecretvalue" not in view.text + view.html
    assert "<script" not in view.html
    assert "<img" not in view.html
    assert "<b>bold" not in view.html


def test_what_a_difference_cannot_show_is_said_in_words(shell, a, capsys):
    Path("data.bin").write_bytes(b"\0" * 2000)
    Path("link").symlink_to("a.txt")
    Path("empty").mkdir()
    Path("run.sh").write_text("x", encoding="utf-8")
    names = ("data.bin", "link", "empty", "run.sh")
    gone = [calls(call("delete", n, path=n)) for n in names]
    ask(shell, *gone, calls(call("write", "w", path="n/new.txt", content="x")))
    shown = say(shell, capsys, "undo")
    assert "| bring back | data.bin  | 2.0 kB, not shown |" in shown
    assert "| bring back | link      | link to a.txt |" in shown
    assert "| bring back | empty     | folder |" in shown
    assert "| delete     | n         | folder, if it is empty then |" in shown
    Path("n/mine.txt").write_text("x", encoding="utf-8")
    assert "The folder n stays" in say(shell, capsys, "undo --yes")
    assert Path("data.bin").stat().st_size == 2000
    assert Path("link").readlink() == Path("a.txt")


def test_a_file_that_is_binary_now_is_not_shown(shell, a, capsys):
    ask(shell, *edits(("v0", "v1")))
    a.write_bytes(b"\0" * 3000)
    shown = say(shell, capsys, "undo")
    assert "```diff" not in shown
    a.unlink()
    a.symlink_to("nowhere")
    assert "it is a link now" in refused(shell, "undo --yes")


def test_what_even_force_cannot_take_back_is_said(shell, a, capsys):
    new = calls(call("write", "w", path="b.txt", content="x"))
    ask(shell, *edits(("v0", "v1")), new)
    a.unlink()
    a.mkdir()
    said = say(shell, capsys, "undo --yes --force")
    assert "Not taken back: a.txt: it is a folder now." in said
    assert not Path("b.txt").exists()
    ask(shell, calls(call("write", "w", path="c.txt", content="x")))
    Path("c.txt").unlink()
    os.mkfifo("c.txt")
    assert "Nothing of it can be taken back." in say(shell, capsys, "undo")
    assert "no ordinary file" in refused(shell, "undo --yes --force")


def test_a_change_without_a_copy_is_named(shell, a, capsys):
    loaded(shell).undo_megabytes = 1
    Path("big.txt").write_text("x" * 600_000 + "\n", encoding="utf-8")
    read = calls(call("read", "r", path="big.txt"))
    write = calls(call("write", "w", path="big.txt", content="small"))
    ask(shell, *edits(("v0", "v1")), read, write)
    shown = say(shell, capsys, "undo")
    assert "Changed without a copy: big.txt: 600.0 kB are more than the 500.0 kB" in shown


def test_a_cell_that_still_runs_is_not_undone(shell, a, capsys):
    recorder = loaded(shell).services.undo
    with recorder.turn("from elsewhere", "default"):
        tools = {tool.name: tool for tool in loaded(shell).all_tools()}
        arguments = {"path": "b.txt", "content": "x"}
        asyncio.run(tools["write"].run(arguments, lambda _: None))
        assert "running" in say(shell, capsys, "undo list")
        assert "still runs" in refused(shell, "undo")
        assert "still runs" in refused(shell, "undo 1 --yes")
    magic(shell, "agent", "undo --yes")
    assert not Path("b.txt").exists()


def test_a_turn_whose_files_are_as_before_anyway_is_passed_over(shell, a, capsys):
    ask(shell, *edits(("v0", "v1")), prompt="first")
    ask(shell, *edits(("v1", "v2"), ("v2", "v1")), prompt="second")
    assert "Undo of “first”" in say(shell, capsys, "undo")
    assert "as they should be already" in say(shell, capsys, "undo 1")
    assert "as they should be already" in say(shell, capsys, "undo 1 --yes")


def test_copies_lie_where_the_environment_says(shell, a, home):
    ask(shell, *edits(("v0", "v1")))
    assert list((home.parent / "data" / "undo" / "turns").glob("*/journal.jsonl"))


def test_a_protected_file_is_taken_back_without_its_content_being_shown(shell, a, capsys):
    Path(".env").write_text("PASSWORD=hunter2\n", encoding="utf-8")
    magic(shell, "agent", "allow delete .env")
    ask(shell, calls(call("delete", "d", path=".env")))
    assert not Path(".env").exists()
    shown = say(shell, capsys, "undo")
    assert "protected, not shown" in shown
    assert "hunter2" not in shown
    magic(shell, "agent", "undo --yes")
    assert Path(".env").read_text(encoding="utf-8") == "PASSWORD=hunter2\n"
