"""The format of saved sessions: what is written comes back, whatever becomes of the file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import UsageProblem
from agent_magics.messages import (
    Assistant,
    Display,
    Image,
    ToolCall,
    ToolResult,
    User,
    appended,
    closed,
    unanswered,
)
from agent_magics.policy import Rule
from agent_magics.records.encoding import (
    DISPLAY_DATA,
    DISPLAY_TEXT,
    decoded,
    encoded,
    redacted_arguments,
)
from agent_magics.records.entries import (
    SCHEMA,
    CallDecided,
    Head,
    KeptSkill,
    Named,
    Replaced,
    RulesSet,
    Said,
    SkillsSet,
    TurnBegan,
    TurnClosed,
)
from agent_magics.records.lines import entry_of, line_of
from agent_magics.records.stored import NEVER_RAN, read_lines
from tests.record_values import entries, messages, objects
from tests.recordkit import SECRET, hide

HEAD = line_of(Head("abcdef", "default", "/work", "2026-01-01T00:00:00+00:00"))


@given(entries)
def test_every_entry_comes_back_from_its_line(entry):
    line = line_of(entry)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert entry_of(line) == entry


@given(st.lists(messages, max_size=8))
def test_a_recorded_conversation_comes_back_whole(said):
    conversation = ()
    for message in said:
        conversation = appended(conversation, message)
    stored = read_lines([HEAD, *(line_of(Said(message)) for message in said)])
    assert stored.recorded == conversation
    assert stored.damaged == 0


@given(st.lists(entries, max_size=12), st.data())
@settings(max_examples=200)
def test_whatever_lines_are_lost_or_spoilt_the_next_prompt_can_follow(given_entries, data):
    lines = [line_of(entry) for entry in given_entries]
    kept = [line for line in lines if data.draw(st.booleans())]
    spoilt = [line[: data.draw(st.integers(0, len(line)))] + b"\n" for line in kept]
    conversation = read_lines([HEAD, *spoilt]).conversation
    assert closed(conversation, "x") == conversation
    assert not unanswered(conversation)
    answered = [m.call_id for m in conversation if isinstance(m, ToolResult)]
    known = [c.id for m in conversation if isinstance(m, Assistant) for c in m.calls]
    assert set(answered) <= set(known)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"{}",
        b'{"kind":3}',
        b"\0\0\0",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"kind":"message"}',
        b'{"kind":"message","message":{"role":"system"}}',
        b'{"kind":"message","message":{"role":"user","text":7}}',
        b'{"kind":"message","message":{"role":"assistant","calls":{}}}',
        b'{"kind":"message","message":{"role":"tool","call":"c","text":"","display":[3]}}',
        b'{"kind":"turn","message":{"role":"assistant"}}',
        b'{"kind":"conversation","keep":-1}',
        b'{"kind":"rules","rules":[{"tool":"x","decision":"maybe"}]}',
        b'{"kind":"skills","skills":3}',
        b'{"kind":"session","schema":"new"}',
    ],
)
def test_a_line_that_says_nothing_is_a_value_error(line):
    with pytest.raises(ValueError, match=r"."):
        entry_of(line)


def test_a_kind_of_a_later_version_is_left_out_and_the_rest_is_read():
    later = b'{"kind":"mood","of":"the person"}\n'
    stored = read_lines([HEAD, later, line_of(TurnBegan("", User("Hi.")))])
    assert stored.recorded == (User("Hi."),)
    assert stored.damaged == 0


def test_a_display_of_a_later_version_does_not_cost_the_result():
    shown = b'[{"kind":"smell"},{"kind":"text","text":"y"}]'
    line = b'{"kind":"message","message":{"role":"tool","call":"c","text":"x","display":%s}}'
    assert entry_of(line % shown) == Said(ToolResult("c", "x", display=(Display("text", "y"),)))


def test_a_newer_schema_is_refused_with_what_to_do():
    head = replace(entry_of(HEAD), schema=SCHEMA + 1)
    with pytest.raises(UsageProblem, match=r"newer agent_magics \(schema 2.*Update"):
        read_lines([line_of(head)])


@pytest.mark.parametrize("lines", [[], [b"\n"], [HEAD[:20]], [line_of(Named("x"))]])
def test_a_file_without_its_first_line_says_so(lines):
    with pytest.raises(UsageProblem, match="first line"):
        read_lines(lines)


def test_lines_that_are_damaged_in_the_middle_are_counted_and_a_cut_last_one_is_not():
    said = line_of(Said(Assistant("Yes.")))
    turn = line_of(TurnBegan("", User("Hi.")))
    assert read_lines([HEAD, turn, said[:9] + b"\n", said, said[:5]]).damaged == 1


def test_calls_that_ran_are_told_from_calls_that_never_did():
    both = Assistant("", (ToolCall("a", "run"), ToolCall("b", "run")), "calls")
    lines = [
        HEAD,
        line_of(TurnBegan("", User("Hi."))),
        line_of(Said(both)),
        line_of(CallDecided("a", runs=True)),
    ]
    stored = read_lines(lines)
    first, second = (m for m in stored.conversation if isinstance(m, ToolResult))
    assert (first.call_id, second.call_id) == ("a", "b")
    assert "the kernel ended" in first.text
    assert "effects are unknown" in first.text
    assert second.text == NEVER_RAN
    assert not first.ok
    assert not second.ok
    assert stored.cut_calls == ("run",)
    assert stored.broke_off
    assert stored.conversation[-1] == Assistant("(the kernel ended)", stop="cut")


def test_no_secret_is_written_wherever_it_stands():
    call = ToolCall(
        "c", "run", json.dumps({"a": f"x {SECRET}", SECRET: [SECRET]}), {"sig": SECRET}, SECRET
    )
    display = Display("bundle", SECRET, "", {"text/plain": SECRET, "x/json": {"k": [SECRET]}})
    for entry in (
        TurnBegan("", User(SECRET), SECRET),
        Said(Assistant(SECRET, (call,), reasoning=SECRET, extra={"r": [{"t": SECRET}]})),
        Said(ToolResult("c", SECRET, display=(display,))),
        CallDecided("c", SECRET, "approved", "click", SECRET, json.dumps({"x": SECRET})),
        Replaced(0, (User(SECRET),)),
        RulesSet((Rule("run_shell", "allow", SECRET),)),
        SkillsSet((KeptSkill("a", "b", "", SECRET),)),
        Named(SECRET),
        TurnClosed("failed", text=SECRET),
    ):
        line = line_of(entry, hide)
        assert SECRET.encode() not in line
        assert b"[redacted KEY]" in line
        assert entry_of(line) is not None


def test_a_secret_with_characters_that_json_escapes_is_found_in_arguments():
    secret = 'a"b\\c\n' + SECRET
    text = json.dumps({"command": f"echo {secret}"})
    clean = redacted_arguments(text, lambda t: t.replace(secret, "[gone]"))
    assert json.loads(clean) == {"command": "echo [gone]"}


@given(objects.map(json.dumps))
def test_arguments_without_secrets_are_written_byte_for_byte(text):
    assert redacted_arguments(text, hide) == text


def test_a_secret_that_is_a_word_of_the_format_leaves_the_file_readable():
    said = Said(Assistant("the assistant message", (ToolCall("c", "text"),), "calls"))
    for word in ("assistant", "message", "text", "kind", "role", "calls"):
        back = entry_of(line_of(said, lambda t, word=word: t.replace(word, "[redacted]")))
        assert isinstance(back, Said)
        assert isinstance(back.message, Assistant)


def test_displays_are_kept_up_to_a_bound_and_say_what_is_missing():
    big = "x" * (DISPLAY_DATA + 1)
    result = ToolResult(
        "c",
        "t" * 500_000,
        images=(Image("image/png", big),),
        display=(
            Display("text", "y" * (DISPLAY_TEXT + 5)),
            Display("bundle", data={"image/png": big, "text/plain": "a figure"}),
            Display("bundle", data={"a/b": "z" * (DISPLAY_DATA // 2), "c/d": "z" * DISPLAY_DATA}),
        ),
    )
    back = decoded(json.loads(json.dumps(encoded(result))))
    assert (back.text, back.images) == (result.text, result.images)
    text, figure, two = back.display
    assert text.text.endswith("[… 5 characters not saved …]")
    assert figure.data == {
        "text/plain": f"a figure\n[image/png of {DISPLAY_DATA + 1:,} characters not saved]"
    }
    assert list(two.data) == ["a/b", "text/plain"]


def test_what_is_no_json_in_a_message_is_written_as_text():
    odd = Assistant("x", extra={"when": object})
    assert isinstance(entry_of(line_of(Said(odd))), Said)


def test_arguments_that_were_tampered_with_become_a_call_that_is_not_run():
    line = line_of(Said(Assistant("", (ToolCall("c", "run", '{"a": 1}'),))))
    back = entry_of(line.replace(b'{\\"a\\": 1}', b"[1]"))
    assert back.message.calls[0].arguments == "{}"
    assert "could not be read" in back.message.calls[0].problem
