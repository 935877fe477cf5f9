"""Recordings, and the demonstration that plays them."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_magics.errors import ConfigError
from agent_magics.messages import Assistant, ToolCall, ToolResult, User
from agent_magics.ports import Request
from agent_magics.providers.demonstration import MANNER, NAME, demonstration
from agent_magics.providers.playing import Replay
from agent_magics.providers.recording_lines import read_recording
from agent_magics.providers.replay import ReplayModel

HEAD = {"agent_magics_recording": 1, "title": "t"}


def write(tmp_path, *lines):
    path = tmp_path / "r.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def reply(step=0, prompt="Hi", **more):
    record = {"prompt": prompt, "step": step, "reply": {"text": "Hello"}}
    return {**record, **more}


def answer(recording, *messages, choice="auto"):
    async def last():
        items = [
            item
            async for item in ReplayModel(Replay(recording, NAME), NAME, MANNER).stream(
                Request("", messages, tool_choice=choice)
            )
        ]
        assert all(not isinstance(item, Assistant) for item in items[:-1])
        return items[-1]

    return asyncio.run(last())


def test_a_reply_is_played_with_a_banner_that_says_what_it_is(tmp_path):
    recording = read_recording(write(tmp_path, HEAD, reply()))
    said = answer(recording, User("  Hi \n"))
    assert said.text.startswith("> **Scripted demonstration.**")
    assert said.text.endswith("Hello")
    assert "OPENAI_API_KEY" in said.text


def test_calls_of_the_recording_become_calls(tmp_path):
    calls = {"calls": [{"name": "ls", "arguments": {"path": "."}}]}
    recording = read_recording(write(tmp_path, HEAD, reply(reply=calls)))
    (call,) = answer(recording, User("Hi")).calls
    assert (call.name, json.loads(call.arguments)) == ("ls", {"path": "."})


def test_an_unknown_prompt_gets_the_explanation_and_no_imitation(tmp_path):
    recording = read_recording(write(tmp_path, HEAD, reply()))
    assert answer(recording, User("Write me a poem.")).text == MANNER.unknown


@pytest.mark.parametrize(("ok", "said"), [(True, "good"), (False, "bad")])
def test_what_became_of_the_calls_decides_which_reply_fits(tmp_path, ok, said):
    recording = read_recording(
        write(
            tmp_path,
            HEAD,
            reply(0, reply={"calls": [{"name": "ls"}]}),
            reply(1, after="ok", reply={"text": "good"}),
            reply(1, after="refused", reply={"text": "bad"}),
        )
    )
    made = Assistant("", (ToolCall("a", "ls"),))
    text = answer(recording, User("Hi"), made, ToolResult("a", "x", ok)).text
    assert text.endswith(said)


def test_results_that_do_not_fit_end_the_demonstration_honestly(tmp_path):
    recording = read_recording(
        write(
            tmp_path, HEAD, reply(0, reply={"calls": [{"name": "ls"}]}), reply(1, expect=["app.py"])
        )
    )
    made = Assistant("", (ToolCall("a", "ls"),))
    assert answer(recording, User("Hi"), made, ToolResult("a", "other.txt")).text == MANNER.differs
    assert answer(recording, User("Hi"), made, ToolResult("a", "app.py")).text.endswith("Hello")


def test_a_request_without_tools_gets_no_calls(tmp_path):
    recording = read_recording(write(tmp_path, HEAD, reply(0, reply={"calls": [{"name": "ls"}]})))
    assert answer(recording, User("Hi"), choice="none").text == MANNER.differs


def test_only_the_newest_prompt_counts(tmp_path):
    recording = read_recording(write(tmp_path, HEAD, reply(), reply(prompt="Bye")))
    said = answer(recording, User("Hi"), Assistant("Hello"), User("Bye"))
    assert said.text.endswith("Hello")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{}"], "line 1: the first line must be"),
        ([HEAD], "holds no reply"),
        ([HEAD, "{"], "line 2"),
        ([HEAD, "[]"], "line 2: a JSON object is needed"),
        ([HEAD, reply(prompt=1)], "'prompt' is missing or of the wrong type"),
        ([HEAD, reply(step="0")], "'step' is missing or of the wrong type"),
        ([HEAD, reply(after="later")], "'after' must be ok or refused"),
        ([HEAD, reply(expect="x")], "'expect' must be a list of texts"),
        ([HEAD, reply(reply={})], "a reply needs 'text', 'calls', or both"),
        ([HEAD, reply(reply={"calls": [{}]})], "each call needs a 'name'"),
        ([HEAD, reply(reply={"calls": [{"name": "a", "arguments": 1}]})], "must be an object"),
        ([HEAD, reply(colour="red")], "unknown key 'colour'"),
    ],
)
def test_a_slip_in_a_recording_is_said_with_its_line(tmp_path, lines, message):
    with pytest.raises(ConfigError, match=r"recording r\.jsonl") as caught:
        read_recording(write(tmp_path, *lines))
    assert message in str(caught.value)


def test_a_missing_recording_is_a_clear_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_recording(tmp_path / "none.jsonl")


def test_the_shipped_recording_is_sound():
    recording = demonstration().replay.recording
    assert "Review my uncommitted changes." in recording.prompts
    # Each prompt starts at step 0, and every step of it has a reply for calls that went well.
    for prompt in {reply.prompt for reply in recording.replies}:
        steps = [r.step for r in recording.replies if r.prompt == prompt]
        assert sorted(set(steps)) == list(range(max(steps) + 1))
