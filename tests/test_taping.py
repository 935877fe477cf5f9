"""What is recorded of a turn, and that it can be played back and compared."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_magics.differences import Places
from agent_magics.errors import ModelError, ReplayDiffers
from agent_magics.events import Question
from agent_magics.magics.judging import JudgingApprover
from agent_magics.messages import Assistant, ToolCall, Usage
from agent_magics.policy import Answer, Policy
from agent_magics.providers.manners import manner_of
from agent_magics.providers.recording_lines import read_recording
from agent_magics.providers.replay import ReplayModel
from agent_magics.providers.scripted import ScriptedModel
from agent_magics.providers.taping import TapedModel, TurnTape
from agent_magics.skill import Skill
from agent_magics.tools.delegating import Delegation, delegate_tool
from agent_magics.tools.workspace import Workspace
from tests.replaykit import HERE, THERE, Studio, recorded_and_played, said
from tests.turns import Person, Scene, Spy, call, calls

YES, NO = Answer(True, by="person"), Answer(False, by="person", reason="not now")
DONE = Assistant("Done.", usage=Usage(10, 2, requests=1))


def lines(studio):
    return [json.loads(line) for line in studio.lines[1:]]


def looked(n=1, text=""):
    return calls(call("look", n=n), text=text)


def poke(n=1):
    return calls(call("poke", n=n))


def scene(replies, answers=(), look=None, **more):
    tools = [(look or Spy()).tool, Spy("poke", "run").tool]
    return Scene(replies, tools, answers, **more)


def test_each_answer_is_a_line_with_what_the_calls_before_brought():
    studio = Studio(scene([looked(text="I look."), DONE]))
    studio.record("Go.")
    first, second = lines(studio)
    assert first == {
        "prompt": "Go.",
        "step": 0,
        "turn": 1,
        "skills": [],
        "reply": {
            "text": "I look.",
            "calls": [{"name": "look", "arguments": {"n": 1}}],
            "model": "scripted",
        },
    }
    (result,) = second["results"]
    assert result.pop("digest")
    assert result == {
        "name": "look",
        "ok": True,
        "text": "seen 1",
        "decided": "allow",
        "by": "policy",
    }
    assert second["reply"]["usage"] == {"input": 10, "output": 2}


def test_a_decision_and_edited_arguments_are_recorded_beside_the_original():
    edit = replace(YES, arguments='{"n": 7}')
    studio = Studio(scene([poke(), poke(2), DONE], [edit, NO]))
    studio.record("Go.")
    first, second, third = lines(studio)
    assert first["reply"]["calls"][0]["arguments"] == {"n": 1}
    assert (second["results"][0]["decided"], second["results"][0]["ran"]) == ("approved", {"n": 7})
    assert (third["results"][0]["decided"], third["results"][0]["ok"]) == ("refused", False)
    assert "ran" not in third["results"][0]


def test_secrets_and_the_workspace_do_not_reach_the_file():
    spy = Spy(answer=lambda _: "token-abc in /work/here/app.py of /home/me")
    reply = calls(call("look", n=1), text="See /work/here/app.py with token-abc.")
    studio = Studio(scene([reply, DONE], look=spy), redact=lambda t: t.replace("token-abc", "[x]"))
    studio.record("Read /work/here/app.py with token-abc")
    text = b"".join(studio.lines).decode()
    assert "token-abc" not in text
    assert "/work/here" not in text
    assert "/home/me" not in text
    assert "⟨workspace⟩/app.py" in text


def test_a_recording_made_in_one_folder_is_played_in_another(tmp_path):
    def spy(root):
        return Spy(answer=lambda _: f"found {root}/app.py")

    studio = Studio(
        scene(
            [calls(call("look", n=1)), Assistant("It is /work/here/app.py.")],
            look=spy("/work/here"),
        )
    )
    studio.record("Where is /work/here?")
    stage = Studio(scene([], look=spy("/elsewhere/there")), places=THERE)
    result = stage.play("Where is /elsewhere/there?", studio.replay(tmp_path / "r"))
    assert result.text == "It is /elsewhere/there/app.py."
    assert result.replay.differences == ()
    assert result.replay.compared == 1


PROMPTS = st.sampled_from(["Go.", "Go on.", "What  is\nhere?", "⟨x⟩ ünï"])
WORDS = st.text("ab ü\n`<>&", min_size=1, max_size=12).filter(str.strip)
CALLS = st.one_of(
    st.builds(lambda n: call("look", n=n), st.integers(0, 3)),
    st.builds(lambda n: call("poke", n=n), st.integers(0, 3)),
    st.just(call("look", n="no number")),
    st.just(call("nowhere", n=1)),
    st.just(ToolCall("c", "look", "{broken")),
)
STEPS = st.builds(
    lambda text, made, thought: Assistant(text, tuple(made), "calls", reasoning=thought),
    st.one_of(st.just(""), WORDS),
    st.lists(CALLS, min_size=1, max_size=3),
    st.one_of(st.just(""), WORDS),
)
ENDS = st.builds(
    lambda text, cut: (
        [Assistant(text, stop="length"), Assistant(text)] if cut else [Assistant(text)]
    ),
    WORDS,
    st.booleans(),
)
TURNS = st.lists(st.tuples(PROMPTS, st.lists(STEPS, max_size=3), ENDS), min_size=1, max_size=4)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    turns=TURNS,
    answers=st.lists(st.sampled_from([YES, NO, replace(YES, arguments='{"n": 9}')]), max_size=12),
)
def test_any_recorded_conversation_is_played_the_same_and_without_differences(
    turns, answers, tmp_path
):
    replies = [reply for _, steps, end in turns for reply in (*steps, *end)]
    prompts = [prompt for prompt, _, _ in turns]
    then, now = recorded_and_played(
        tmp_path / "r.jsonl", lambda given: scene(given, answers), prompts, replies
    )
    assert [said(turn) for turn in now] == [said(turn) for turn in then]
    assert all(turn.replay is None or not turn.replay.differences for turn in now)


def played(tmp_path, replies, stage, prompt="Go.", answers=(), **options):
    studio = Studio(scene(replies, answers))
    studio.record("Go.")
    return Studio(stage).play(prompt, studio.replay(tmp_path / "r.jsonl", **options))


def kinds(result):
    return [item.kind for item in result.replay.differences]


def test_another_result_is_a_difference_with_its_lines(tmp_path):
    other = Spy(answer=lambda _: "seen 2")
    result = played(tmp_path, [looked(), DONE], scene([], look=other))
    (found,) = result.replay.differences
    assert (found.kind, found.where) == ("result", "call of look")
    assert found.lines() == ("-seen 1", "+seen 2")
    assert result.text == "Done."


def test_another_decision_and_other_arguments_are_differences(tmp_path):
    edit = replace(YES, arguments='{"n": 7}')
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [NO]), answers=[YES])) == ["decision"]
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [YES]), answers=[NO])) == ["decision"]
    both = ["arguments", "result"]
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [edit]), answers=[YES])) == both
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [YES]), answers=[edit])) == both
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [edit]), answers=[edit])) == []


def test_who_approved_is_no_difference(tmp_path):
    by_rule = replace(YES, by="environment")
    assert kinds(played(tmp_path, [poke(), DONE], scene([], [by_rule]), answers=[YES])) == []


def test_another_skill_is_a_difference(tmp_path):
    skill = Skill("explore", "d", "Look.", digest="a" * 64)
    studio = Studio(scene([DONE], skills=(skill,)))
    studio.record("Go.")
    changed = Studio(scene([], skills=(replace(skill, digest="b" * 64),)))
    result = changed.play("Go.", studio.replay(tmp_path / "r"))
    assert [d.where for d in result.replay.differences] == ["skill explore"]
    assert kinds(Studio(scene([])).play("Go.", studio.replay(tmp_path / "r"))) == ["skill"]


def test_an_unknown_prompt_is_a_difference_that_names_the_nearest_one(tmp_path):
    result = played(tmp_path, [DONE], scene([]), prompt="Go!")
    (found,) = result.replay.differences
    assert (found.kind, found.recorded, found.now) == ("prompt", "Go.", "Go!")
    assert "has no answer to this prompt" in result.text


def test_a_recording_that_goes_on_or_ends_early_is_a_difference(tmp_path):
    studio = Studio(scene([looked(), DONE]))
    studio.record("Go.")
    whole = list(studio.lines)
    studio.lines = whole[:2]
    assert kinds(Studio(scene([])).play("Go.", studio.replay(tmp_path / "r"))) == ["end"]
    studio.lines = [*whole, whole[-1].replace(b'"step": 1', b'"step": 2')]
    result = Studio(scene([])).play("Go.", studio.replay(tmp_path / "r"))
    assert kinds(result) == ["unplayed"]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("at 2026-11-30T19:36:01Z", "at 2025-01-02T03:04:05Z"),
        ("-rw- 1 me Nov 30 19:36 a", "-rw- 1 me Jan  2 2025 a"),
        ("2 passed in 0.52s", "2 passed in 12.30s"),
        ("<Shop object at 0x7f3a5c0d1e20>", "<Shop object at 0x10ffe2b3c>"),
        ("/work/here/app.py and /home/me/x", "/elsewhere/there/app.py and /home/you/x"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174000"),
        (
            "whole output: /tmp/agent_magics-a1b2c3d4/out-1.txt",
            "whole output: /var/t/agent_magics-zzzzzzzz/out-1.txt",
        ),
        ("pid 4711\n", "pid 12"),
    ],
)
def test_what_depends_on_the_machine_and_the_moment_is_no_difference(then, now):
    assert HERE.comparable(then) == THERE.comparable(now)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("3 rows", "4 rows"),
        ("2026-03-01,7", "2026-03-02,7"),
        ("/work/hereafter", "/elsewhere/thereafter"),
        ("total 10.50", "total 10.51"),
        ("version 1.2.3", "version 1.2.4"),
    ],
)
def test_what_a_person_would_call_another_result_stays_one(then, now):
    assert HERE.comparable(then) != THERE.comparable(now)


def test_the_root_of_the_disk_is_in_every_path_and_no_placeholder():
    assert Places(("/",)).portable("/etc/hosts") == "/etc/hosts"


def test_a_strict_replay_ends_with_an_error_where_the_recording_has_no_answer(tmp_path):
    with pytest.raises(ReplayDiffers, match="no answer to this prompt"):
        played(tmp_path, [DONE], scene([]), prompt="Other", strict=True)


def delegating(replies, look=None):
    """A studio whose scene has a sub-agent."""
    delegation = Delegation(policy=Policy)
    made = scene(replies, look=look)
    made.tools = [*made.tools, delegate_tool(Workspace(Path.cwd), delegation)]
    return Studio(made, began=lambda turn: setattr(delegation, "turn", turn))


def test_a_sub_agents_answers_are_recorded_and_played_and_its_results_compared(tmp_path):
    task = calls(call("delegate", task="Count."), call("delegate", "c2", task="Count."))
    studio = delegating([task, looked(), Assistant("One."), Assistant("Two."), DONE])
    studio.record("Go.")
    told = [
        (line.get("kind"), line["prompt"], line["turn"], line["step"]) for line in lines(studio)
    ]
    assert told == [
        (None, "Go.", 1, 0),
        ("task", "Count.", 2, 0),
        ("task", "Count.", 2, 1),
        ("task", "Count.", 3, 0),
        (None, "Go.", 1, 1),
    ]
    result = delegating([]).play("Go.", studio.replay(tmp_path / "r"))
    assert [made.result for made in result.calls] == ["One.", "Two."]
    assert result.replay.differences == ()
    other = Spy(answer=lambda _: "another")
    result = delegating([], other).play("Go.", studio.replay(tmp_path / "r"))
    assert kinds(result) == ["result"]


def test_a_summary_is_recorded_and_played_as_one(tmp_path):
    long = Spy(answer=lambda _: "words " * 3_000)
    replies = [Assistant("words " * 9_000), Assistant("All was said."), DONE]
    studio = Studio(scene(replies, look=long, window=16_000))
    studio.record("First.")
    studio.record("Second.")
    assert [(x.get("kind"), x["prompt"]) for x in lines(studio)] == [
        (None, "First."),
        ("summary", "Second."),
        (None, "Second."),
    ]
    stage = Studio(scene([], look=long, window=16_000))
    replay = studio.replay(tmp_path / "r")
    stage.play("First.", replay)
    result = stage.play("Second.", replay)
    assert result.text == "Done."
    assert result.replay is None or not result.replay.differences
    assert "All was said." in stage.scene.session.conversation[0].text


def test_a_reviewers_judgements_are_neither_recorded_nor_played(tmp_path):
    question = Question(call("poke", n=1), "poke 1")
    studio = Studio(scene([DONE]))
    tape_model = ScriptedModel([Assistant('{"decision": "allow", "reason": "fine"}')])
    tape = TurnTape(studio.lines.append, print, str, HERE, iter([1]), "Go.")
    person = Person([NO])
    judge = JudgingApprover(person, TapedModel(tape_model, tape), tuple, lambda _: None)
    assert asyncio.run(judge.ask(question)).allowed
    assert len(studio.lines) == 1
    studio.record("Go.")
    replay = studio.replay(tmp_path / "r")
    played_judge = ReplayModel(replay, "replay:r", manner_of(replay.recording, "r"))
    judge = JudgingApprover(person, played_judge, tuple, lambda _: None)
    assert not asyncio.run(judge.ask(question)).allowed
    assert person.asked == [question]


def test_a_failed_request_leaves_no_line_and_the_next_try_is_a_turn_of_its_own(tmp_path):
    studio = Studio(scene([looked(), ModelError("down"), looked(2), DONE]))
    with pytest.raises(ModelError):
        studio.record("Go.")
    studio.record("Go.")
    assert [(line["turn"], line["step"]) for line in lines(studio)] == [(1, 0), (2, 0), (2, 1)]
    stage = Studio(scene([]))
    replay = studio.replay(tmp_path / "r")
    assert kinds(stage.play("Go.", replay)) == ["end"]
    assert stage.play("Go.", replay).text == "Done."


def test_an_answer_that_no_file_can_hold_is_said_and_the_turn_goes_on():
    deep = "1"
    for _ in range(80):
        deep = f"[{deep}]"
    studio = Studio(scene([calls(ToolCall("c", "look", f'{{"n": {deep}}}')), DONE]))
    assert studio.record("Go.").text == "Done."
    assert "nested too deeply" in studio.warnings[0]
    assert [line["step"] for line in lines(studio)] == [1]


def test_a_half_written_last_line_is_left_out_and_said(tmp_path):
    studio = Studio(scene([looked(), DONE]))
    studio.record("Go.")
    path = studio.written(tmp_path / "r.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    recording = read_recording(path)
    assert recording.cut
    assert [reply.step for reply in recording.replies] == [0]
