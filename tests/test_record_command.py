"""`%agent record` and the settings of a replay, in IPython."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.errors import ReplayDiffers, UsageProblem
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

HEAD = {"agent_magics_recording": 1, "title": "t"}


def line(step, prompt="What is here?", **reply):
    return {"prompt": prompt, "step": step, "reply": reply}


def tape(name, *lines):
    text = "\n".join(json.dumps(part) for part in (HEAD, *lines))
    Path(name).write_text(text + "\n", encoding="utf-8")


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


LS = [line(0, calls=[call("ls", path=".")]), line(1, text="A corner shop.")]
WRITE = [
    line(0, "Note it.", calls=[call("write", path="note.txt", content="noted\n")]),
    line(1, "Note it.", text="Noted."),
]


@pytest.fixture
def magics(shell):
    tape("model.jsonl", *LS, *WRITE)
    magic(shell, "agent", "model replay:model.jsonl")
    return shell.magics_manager.registry["AgentMagics"]


def say(shell, capsys, words):
    capsys.readouterr()
    magic(shell, "agent", words)
    return capsys.readouterr().out


def recorded(shell, name="new.jsonl"):
    magic(shell, "agent", f"record {name}")
    magic(shell, "agent", "", "What is here?")
    magic(shell, "agent", "record stop")


def test_a_session_is_recorded_from_then_on_and_stops(shell, magics, capsys):
    magic(shell, "agent", "", "What is here?")
    assert "Recording this session in new.jsonl" in say(shell, capsys, "record new.jsonl")
    magic(shell, "agent", "", "What is here?")
    assert "recorded in new.jsonl: 2 answers" in say(shell, capsys, "record")
    assert "%agent model replay:new.jsonl" in say(shell, capsys, "record stop")
    magic(shell, "agent", "", "What is here?")
    assert "not recorded" in say(shell, capsys, "record")
    steps = [json.loads(x) for x in Path("new.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    assert [(x["turn"], x["step"]) for x in steps] == [(1, 0), (1, 1)]
    assert steps[1]["results"][0]["name"] == "ls"
    assert stat.S_IMODE(os.stat("new.jsonl").st_mode) == 0o600


def test_a_recording_is_added_to_and_its_turns_numbered_on(shell, magics, capsys):
    recorded(shell)
    assert "behind the 1 turn that it has" in say(shell, capsys, "record new.jsonl")
    magic(shell, "agent", "", "What is here?")
    magic(shell, "agent", "record stop")
    turns = [json.loads(x).get("turn") for x in Path("new.jsonl").read_text().splitlines()]
    assert turns == [None, 1, 1, 2, 2]


def test_only_this_session_is_recorded(shell, magics, capsys):
    magic(shell, "agent", "record new.jsonl")
    magic(shell, "agent", "--session other", "What is here?")
    assert len(Path("new.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_a_file_that_is_no_recording_is_left_as_it_is(shell, magics):
    Path("notes.txt").write_text("mine\n", encoding="utf-8")
    Path("empty").touch()
    for name, why in [
        ("notes.txt", "is no recording, so it is left as it is"),
        ("shop", "is a folder"),
        (".env", "may hold secrets"),
        (".git/hooks/post-commit", "can run programs"),
        ("~/.ssh/config", "may hold secrets"),
        ("nowhere/new.jsonl", "No such file"),
        ("a\0b", "null"),
        ("~nobody-at-all/x", "cannot be written to"),
    ]:
        with pytest.raises(UsageProblem, match=why):
            magic(shell, "agent", f"record {name}")
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine\n"
    magic(shell, "agent", "record empty")
    assert Path("empty").read_text(encoding="utf-8").startswith('{"agent_magics_recording": 1')


def test_a_recording_with_a_slip_is_not_added_to(shell, magics):
    tape("bad.jsonl", *LS, {"prompt": "x"})
    before = Path("bad.jsonl").read_bytes()
    with pytest.raises(UsageProblem, match="line 4"):
        magic(shell, "agent", "record bad.jsonl")
    assert Path("bad.jsonl").read_bytes() == before


def test_two_kernels_cannot_record_to_one_file(shell, magics):
    magic(shell, "agent", "record new.jsonl")
    with pytest.raises(UsageProblem, match=r"recorded in new\.jsonl already"):
        magic(shell, "agent", "record other.jsonl")
    second = InteractiveShell()
    agent_magics.load_ipython_extension(second)
    with pytest.raises(UsageProblem, match="being written to already"):
        magic(second, "agent", "record new.jsonl")
    agent_magics.unload_ipython_extension(second)


def test_a_recording_that_is_deleted_meanwhile_costs_no_answer(shell, magics, capsys):
    magic(shell, "agent", "record new.jsonl")
    Path("new.jsonl").unlink()
    magic(shell, "agent", "", "What is here?")
    assert magics.session.last.text == "A corner shop."
    assert "Nothing more is recorded in new.jsonl: the file was deleted" in capsys.readouterr().out
    assert "Nothing more is recorded" in say(shell, capsys, "record")


def test_a_replay_in_the_same_folder_has_no_differences(shell, magics, capsys):
    recorded(shell)
    magic(shell, "agent", "--model replay:new.jsonl --new", "What is here?")
    compared = magics.session.last.replay
    assert (compared.compared, compared.differences) == (1, ())
    assert "1 compared, no differences" in capsys.readouterr().out


def test_a_difference_is_counted_shown_and_kept_with_the_session(shell, magics, capsys):
    recorded(shell)
    Path("added.txt").touch()
    magic(shell, "agent", "--model replay:new.jsonl", "What is here?")
    out = capsys.readouterr().out
    assert "Replay of new.jsonl: 1 difference from the recording." in out
    assert "+added.txt" in out
    assert [d.kind for d in magics.session.last.replay.differences] == ["result"]
    saved = say(shell, capsys, "export told.md") and Path("told.md").read_text(encoding="utf-8")
    assert "+added.txt" in saved


def test_strict_ends_the_cell_with_an_error_and_keeps_the_result(shell, magics):
    recorded(shell)
    Path("added.txt").touch()
    magics.replay_strict = True
    with pytest.raises(ReplayDiffers, match=r"(?s)new\.jsonl has 1 difference .*\+added\.txt"):
        magic(shell, "agent", "--model replay:new.jsonl", "What is here?")
    assert magics.session.last.text == "A corner shop."
    with pytest.raises(ReplayDiffers, match="no answer to this prompt"):
        magic(shell, "agent", "--model replay:new.jsonl", "What else?")


def test_strict_can_be_said_in_the_name_and_in_the_environment(shell, magics, monkeypatch):
    recorded(shell)
    with pytest.raises(ReplayDiffers):
        magic(shell, "agent", "--model replay:new.jsonl?strict", "What else?")
    monkeypatch.setenv("AGENT_MAGICS_REPLAY_STRICT", "1")
    with pytest.raises(ReplayDiffers):
        agent_magics.run("What else?", model="replay:new.jsonl")


def approve(monkeypatch):
    monkeypatch.setenv("AGENT_MAGICS_APPROVE", "write")
    monkeypatch.setenv("AGENT_MAGICS_APPROVE_IN", str(Path.cwd()))


def written(monkeypatch):
    """A recording of a call that was approved; what it wrote is gone."""
    approve(monkeypatch)
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    tape("model.jsonl", *LS, *WRITE)
    magic(shell, "agent", "model replay:model.jsonl")
    magic(shell, "agent", "record new.jsonl")
    magic(shell, "agent", "", "Note it.")
    agent_magics.unload_ipython_extension(shell)
    Path("note.txt").unlink()
    monkeypatch.delenv("AGENT_MAGICS_APPROVE")


def test_a_recording_approves_nothing(home, monkeypatch):
    written(monkeypatch)
    result = agent_magics.run("Note it.", model="replay:new.jsonl")
    assert not Path("note.txt").exists()
    assert [call.outcome for call in result.refused] == ["refused"]
    assert [d.kind for d in result.replay.differences] == ["decision"]


def test_calls_are_answered_from_the_recording_and_nothing_runs(home, monkeypatch):
    written(monkeypatch)
    result = agent_magics.run("Note it.", model="replay:new.jsonl?tools=recorded&strict")
    assert not Path("note.txt").exists()
    (made,) = result.calls
    assert made.outcome == "done"
    assert "note.txt" in made.result
    assert made.display[0].text.startswith("From the recording; nothing was run.")
    assert result.text == "Noted."
    assert result.replay.differences == ()


def test_a_rule_of_the_person_holds_for_recorded_answers_as_well(home, monkeypatch):
    written(monkeypatch)
    result = agent_magics.run(
        "Note it.", model="replay:new.jsonl?tools=recorded", policy=["deny write note*"]
    )
    assert [call.outcome for call in result.calls] == ["denied"]


def test_a_call_that_the_recording_does_not_answer_says_so(home):
    tape("model.jsonl", *LS)
    result = agent_magics.run("What is here?", model="replay:model.jsonl?tools=recorded")
    assert "The recording has no result of this call of ls." in result.calls[0].result


def test_the_same_prompt_twice_plays_what_was_said_first_and_then_second(shell, magics):
    told = [
        {"prompt": "Again?", "step": 0, "turn": n, "reply": {"text": f"Answer {n}."}}
        for n in (1, 2)
    ]
    tape("twice.jsonl", *told)
    said = []
    for _ in range(3):
        magic(shell, "agent", "--model replay:twice.jsonl --new", "Again?")
        said.append(magics.session.last.text)
    assert said == ["Answer 1.", "Answer 2.", "Answer 1."]


def test_a_changed_file_is_read_again(shell, magics):
    tape("r.jsonl", line(0, text="One."))
    magic(shell, "agent", "--model replay:r.jsonl", "What is here?")
    tape("r.jsonl", line(0, text="Another."))
    magic(shell, "agent", "--model replay:r.jsonl", "What is here?")
    assert magics.session.last.text == "Another."


def test_map_plays_a_recording_in_its_threads(home):
    said = [line(0, f"Say {n}", text=f"It is {n}.") for n in range(4)]
    tape("r.jsonl", *said)
    result = agent_magics.map(
        lambda n: f"Say {n}", range(4), model="replay:r.jsonl", progress=False
    )
    assert [item.result.text for item in result] == [f"It is {n}." for n in range(4)]


def test_nothing_to_test_where_a_recording_answers(shell, magics, capsys):
    assert "a recording answers, not a model" in say(shell, capsys, "test")


def test_a_recording_that_cannot_be_played_leaves_the_model_as_it_is(shell, magics):
    with pytest.raises(UsageProblem, match="does not exist"):
        magic(shell, "agent", "model replay:none.jsonl")
    assert magics.choice().name == "replay:model.jsonl"
