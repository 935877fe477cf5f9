"""A recording can come from anybody: it is bounded, it is data, and it approves nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ConfigError
from agent_magics.frontends.blocks import Transcript
from agent_magics.messages import Assistant, User
from agent_magics.policy import Answer
from agent_magics.ports import Request
from agent_magics.providers import recording_lines
from agent_magics.providers.manners import manner_of
from agent_magics.providers.playing import Replay
from agent_magics.providers.recording_lines import load_recording, read_recording
from agent_magics.providers.replay import ReplayModel
from tests.replaykit import HERE, Studio
from tests.turns import Log, Scene, Spy

HEAD = '{"agent_magics_recording": 1, "title": "t"}'


def file(path, *lines):
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join([HEAD, *texts]) + "\n", encoding="utf-8")
    return path


def reply(**more):
    return {"prompt": "Go.", "step": 0, "reply": {"text": "Hi."}, **more}


def deep(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"prompt": "Go.", "step": 0, "reply": ' + deep(100_000) + "}", "nested too deeply"),
        ('{"prompt": "Go.", "step": 0, "expect": ' + deep(90) + "}", "nested too deeply"),
        (reply(step=True), "'step' is missing or of the wrong type"),
        (reply(step=-1), "'step' must be from 0"),
        (reply(turn=10**9), "'turn' must be from 0"),
        ('{"prompt": "Go.", "step": ' + "9" * 5_000 + ', "reply": {}}', "digit"),
        (reply(kind="review"), "'kind' must be task or summary"),
        (reply(kind=["task"]), "'kind' must be task or summary"),
        (reply(skills={"a": "b"}), "'skills' must be a list"),
        (reply(skills=[["a"]]), "'skills' must be a list"),
        (reply(results={}), "'results' must be a list"),
        (reply(results=["x"]), "each result must be an object"),
        (reply(results=[{"text": "x" * 1_000_001}]), "longer than 1,000,000 characters"),
        (reply(results=[{"name": 1}]), "a result's 'name' must be a text"),
        (reply(results=[{"ok": "yes"}]), "a result's 'ok' must be true or false"),
        (reply(results=[{"ran": []}]), "a result's 'ran' must be an object"),
        (reply(reply={"text": 1}), "a reply needs 'text'"),
        (reply(reply={"text": "a", "reasoning": 1}), "a reply needs 'text'"),
        (reply(reply={"text": "a", "stop": "never"}), "'stop' must be one of"),
        (reply(reply={"calls": {"name": "ls"}}), "'calls' must be a list"),
        (reply(reply={"calls": [{"name": "ls"}] * 201}), "at most 200"),
        (reply(reply={"calls": [{"name": "ls", "problem": 1}]}), "'problem' must be a text"),
    ],
)
def test_a_line_that_is_off_is_one_error_with_its_number(line, why, tmp_path):
    with pytest.raises(ConfigError, match=r"line 2") as caught:
        read_recording(file(tmp_path / "r.jsonl", line, reply()))
    assert why in str(caught.value)


def test_a_file_that_is_too_large_a_folder_or_no_text_is_refused(tmp_path, monkeypatch):
    large = tmp_path / "large"
    with large.open("wb") as hole:
        hole.truncate(recording_lines.MAX_BYTES + 1)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe")
    for name, why in [
        ("large", "larger than"),
        ("binary", "cannot be read"),
        ("pipe", "cannot be read"),
        (".", "is a folder"),
        ("none", "does not exist"),
    ]:
        with pytest.raises(ConfigError, match=why):
            read_recording(tmp_path / name)


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(
        st.one_of(
            st.text(max_size=40),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(
                            [
                                "prompt",
                                "step",
                                "reply",
                                "text",
                                "calls",
                                "name",
                                "arguments",
                                "turn",
                                "kind",
                                "results",
                                "ok",
                                "skills",
                                "x",
                            ]
                        ),
                        inner,
                        max_size=5,
                    )
                ),
                max_leaves=12,
            ).map(json.dumps),
        ),
        max_size=4,
    )
)
def test_any_file_is_read_or_refused_in_one_way(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    path.write_text("\n".join([HEAD, *lines]), encoding="utf-8", errors="replace")
    with contextlib.suppress(ConfigError):  # any other error fails
        load_recording(path)


def shown(tmp_path, line, prompt="Go.", name="r.jsonl", tools=(), answers=()):
    """What a person sees of a replayed turn."""
    recording = read_recording(file(tmp_path / "r.jsonl", line))
    stage = Studio(Scene([], tools, answers))
    result = stage.play(prompt, Replay(recording, name))
    transcript = Transcript()
    blocks = [block for event in stage.scene.log.events for block in transcript.feed(event)]
    return result, "\n".join(block.html for block in blocks)


EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>"


def test_texts_of_a_recording_and_its_name_are_escaped_on_screen(tmp_path):
    looks = [{"name": "look", "arguments": {"n": 1}}]
    lines = (
        reply(reply={"text": EVIL, "reasoning": EVIL, "calls": looks}),
        {
            "prompt": "Go.",
            "step": 1,
            "turn": 1,
            "results": [{"name": EVIL, "text": EVIL}],
            "reply": {"text": EVIL},
        },
    )
    recording = read_recording(file(tmp_path / "r.jsonl", *({**x, "turn": 1} for x in lines)))
    stage = Studio(Scene([], [Spy().tool]))
    result = stage.play("Go.", Replay(recording, EVIL))
    assert result.replay.differences
    transcript = Transcript()
    html = "\n".join(
        block.html for event in stage.scene.log.events for block in transcript.feed(event)
    )
    assert "<img" not in html
    assert "<script" not in html


def test_an_unknown_prompt_names_hostile_prompts_as_code_of_one_line(tmp_path):
    result, html = shown(tmp_path, reply(prompt=f"`{EVIL}\n# Big\u202e [x](javascript:1)"), "Other")
    listed = [row for row in result.text.splitlines() if row.startswith("- ")]
    (row,) = listed
    assert row.count("`") == 2
    assert "\u202e" not in result.text
    assert "<img" not in html


def test_a_recorded_yes_asks_the_person_all_the_same(tmp_path):
    run = Spy("poke", "run")
    line = reply(turn=1, reply={"calls": [{"name": "poke", "arguments": {"n": 1}}]})
    after = {
        "prompt": "Go.",
        "step": 1,
        "turn": 1,
        "reply": {"text": "Done."},
        "results": [{"name": "poke", "text": "ran", "decided": "approved", "by": "policy"}],
    }
    recording = read_recording(file(tmp_path / "r.jsonl", line, after))
    stage = Studio(Scene([], [run.tool], [Answer(False)]))
    result = stage.play("Go.", Replay(recording, "r"))
    assert len(stage.scene.person.asked) == 1
    assert run.ran == []
    assert [d.kind for d in result.replay.differences] == ["decision"]


def test_a_call_of_a_tool_that_is_hidden_is_not_run(tmp_path):
    line = reply(reply={"calls": [{"name": "write", "arguments": {"path": "x"}}]})
    result, _ = shown(tmp_path, line, tools=[Spy().tool])
    assert result.calls[0].outcome == "invalid"
    assert "not available" in result.calls[0].result


def test_a_large_difference_is_shown_within_bounds(tmp_path):
    looks = {"calls": [{"name": "look", "arguments": {"n": 1}}]}
    long = "\n".join(f"{n} {'x' * 5_000}" for n in range(190))
    lines = (
        reply(turn=1, reply=looks),
        {
            "prompt": "Go.",
            "step": 1,
            "turn": 1,
            "results": [{"name": "look", "text": long}],
            "reply": {"text": "Done."},
        },
    )
    recording = read_recording(file(tmp_path / "r.jsonl", *lines))
    stage = Studio(Scene([], [Spy().tool]))
    result = stage.play("Go.", Replay(recording, "r"))
    assert len(str(result.replay)) < 5_000
    assert "more lines" in str(result.replay)


def test_a_placeholder_leads_nowhere_but_to_the_workspace():
    assert HERE.here("⟨workspace⟩/../../etc/passwd") == "/work/here/../../etc/passwd"
    # The path guard of the tools resolves it as it does any path of a model.


def test_a_model_of_a_recording_outside_of_a_turn_answers_as_well(tmp_path):
    recording = read_recording(file(tmp_path / "r.jsonl", reply()))
    model = ReplayModel(Replay(recording, "r"), "replay:r", manner_of(recording, "r"))

    async def last():
        items = [item async for item in model.stream(Request("", (User("Go."),)))]
        return items[-1]

    assert asyncio.run(last()) == Assistant("Hi.")
    assert Log().events == []
