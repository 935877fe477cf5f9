"""What hooks are and what they say: values in, values out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import UsageProblem
from agent_magics.hooks.hook import POINTS, Hook, checked_hook, hooks_of, marked
from agent_magics.hooks.registry import HookRegistry
from agent_magics.hooks.said import (
    MAX_NOTE,
    MAX_REASON,
    HookFailure,
    Said,
    bounded,
    said_by_command,
    said_by_function,
)
from agent_magics.policy import CallFacts, Verdict
from agent_magics.ports import HookWord
from agent_magics.tightening import stricter

ORDER = ("allow", "ask", "deny")


def nothing(_told):
    return None


@given(
    st.sampled_from(ORDER),
    st.sampled_from(["", "ask", "deny", "allow", "nonsense"]),
    st.text(max_size=20),
)
def test_a_verdict_never_gets_milder_whatever_a_hook_says(before, word, problem):
    said = HookWord("hook x", word, "why", problem=problem)  # type: ignore[arg-type]
    after = stricter(Verdict(before, "rule"), said)
    assert ORDER.index(after.decision) >= ORDER.index(before)


def test_a_hook_that_failed_means_ask():
    assert stricter(Verdict("allow", "rule"), HookWord("hook x", problem="boom")) == Verdict(
        "ask", "hook x: boom", "hook x"
    )


def test_a_hook_that_asks_where_the_policy_asks_adds_its_reason():
    after = stricter(Verdict("ask", "it writes"), HookWord("hook x", "ask", "big file"))
    assert after == Verdict("ask", "it writes; hook x: big file", "hook x")


@pytest.mark.parametrize(
    ("status", "output", "errors", "expected"),
    [
        (0, "", "noise", Said()),
        (0, " \n", "", Said()),
        (0, '{"decision": "allow"}', "", Said()),
        (0, '{"decision": null}', "", Said()),
        (0, '{"decision": "ask", "reason": "big"}', "", Said("ask", "big")),
        (0, '{"decision": "deny"}', "", Said("deny")),
        (2, "", "no\n", Said("deny", "no\n")),
    ],
)
def test_before_a_call_a_command_says_its_word_by_status_or_json(status, output, errors, expected):
    assert said_by_command(status, output, errors, "before_call") == expected


@pytest.mark.parametrize(
    ("status", "output", "message"),
    [
        (1, "", "it ended with status 1: last line"),
        (-9, "", "it ended with status -9"),
        (0, "deny", "it printed deny; it can say nothing, ask or deny"),
        (0, "{not json", "not valid JSON"),
        (0, '{"decision": "yes"}', "its decision is 'yes'"),
        (0, '{"decision": ["ask"]}', "its decision is"),
        (0, '{"verdict": "deny"}', "it said verdict; there are: decision, reason, note"),
        (0, '{"decision": "ask", "reason": 5}', "are to be texts"),
        (0, '{"note": "n"}', "it has a note at before_call"),
        (0, "{" * 100_000, "not valid JSON"),
    ],
)
def test_what_cannot_be_understood_before_a_call_is_a_failure_not_a_yes(status, output, message):
    with pytest.raises(HookFailure, match=message.replace("[", r"\[")):
        said_by_command(status, output, "first\nlast line\n", "before_call")


@pytest.mark.parametrize("point", [p for p in POINTS if p != "before_call"])
def test_elsewhere_plain_text_is_a_note_and_a_decision_is_a_failure(point):
    assert said_by_command(0, "look here\n", "", point) == Said(note="look here")
    assert said_by_function("look here", point) == Said(note="look here")
    for wrong in ({"decision": "deny"}, Said("ask")):
        with pytest.raises(HookFailure, match=f"at {point}"):
            said_by_function(wrong, point)


def test_after_a_call_status_two_is_a_note():
    assert said_by_command(2, "", "two lint errors", "after_call") == Said(note="two lint errors")


@pytest.mark.parametrize("value", [True, False, "deny", 0, ["deny"], object()])
def test_a_function_that_gives_something_else_failed(value):
    with pytest.raises(HookFailure, match="it gave"):
        said_by_function(value, "before_call")


def test_words_are_bounded_lose_their_secrets_and_hide_nothing():
    said = bounded(
        Said("deny", "key=S3CRET \x1b[31m\nline " + "x" * 600, "S3CRET \u202e\r\n" + "y" * 5000),
        lambda text: text.replace("S3CRET", "[redacted]"),
    )
    assert said.reason.startswith("key=[redacted] \\x1b[31m line x")
    assert said.note.startswith("[redacted] \n" + "y")
    assert len(said.reason) < MAX_REASON + 40
    assert len(said.note) < MAX_NOTE + 40


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"point": "before"}, "There is no hook point 'before'; there are: session_start"),
        ({"point": ["x"]}, "There is no hook point"),
        ({"point": "turn_end", "tools": "read"}, "turn_end is not about calls"),
        ({"tools": 5}, "tools= takes names"),
        ({"tools": [5]}, "tools= takes names"),
        ({"timeout": 0}, "more than 0"),
        ({"timeout": 601}, "at most 600"),
        ({"timeout": float("nan")}, "more than 0"),
        ({"timeout": "5"}, "number of seconds"),
        ({"timeout": True}, "number of seconds"),
        ({"name": ""}, "needs a name"),
        ({"name": "\x1b"}, "needs a name"),
        ({"name": None}, "needs a name"),
    ],
)
def test_a_hook_that_cannot_be_is_refused_with_what_could_stand_there(given, message):
    words = {"point": "before_call", "name": "x", "action": nothing, **given}
    with pytest.raises(UsageProblem, match=message):
        checked_hook(**words)


@pytest.mark.parametrize(
    ("tools", "tool", "about"),
    [
        ("", "read", True),
        ("read", "read", True),
        ("read", "reader", False),
        ("write edit", "edit", True),
        ("mcp__git__*", "mcp__git__push", True),
        (["notebook_*"], "notebook_edit", True),
        ("re.d", "read", False),
    ],
)
def test_a_hook_is_about_the_tools_it_names(tools, tool, about):
    hook = checked_hook("before_call", "x", nothing, tools)
    assert hook.about(CallFacts(tool, "read")) is about


def test_a_function_can_be_a_hook_at_several_points_and_once_at_each():
    def function(_told):
        return None

    first = Hook("before_call", "a", function)
    again = Hook("before_call", "b", function)
    other = Hook("after_call", "a", function)
    for hook in (first, other, again):
        marked(function, hook)
    assert hooks_of(function) == (other, again)
    assert hooks_of(json) == ()


def test_registering_again_replaces_in_its_place_and_removing_takes_all_points():
    registry = HookRegistry()
    old, new = (Hook("before_call", "a", nothing, timeout=t) for t in (1.0, 2.0))
    second, end = Hook("before_call", "b", nothing), Hook("turn_end", "a", nothing)
    for hook in (old, second, end, new):
        registry.add(hook)
    assert registry.all() == (new, second, end)
    assert registry.remove("a") == (new, end)
    assert registry.remove("a") == ()
    assert registry.all() == (second,)
