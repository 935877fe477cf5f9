"""Messages, policy, effective tools, repetition: values in, values out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.messages import (
    Assistant,
    Conversation,
    ToolCall,
    ToolResult,
    User,
    closed,
    known_ids,
    normalised,
    turns,
    unanswered,
)
from agent_magics.policy import CallFacts, Policy, Rule
from agent_magics.repetition import repeats
from agent_magics.skill import Skill
from agent_magics.tool import effective_tools, unavailable
from tests.turns import Spy

IDS = st.text(max_size=50) | st.sampled_from(["", "a", "a", "call_000000000"])
CALLS = st.builds(
    ToolCall,
    id=IDS,
    name=st.text(max_size=80),
    arguments=st.text(max_size=30) | st.sampled_from(["{}", "[]", "null", '{"a": 1}', '{"a"']),
)
ASSISTANTS = st.builds(Assistant, text=st.text(), calls=st.lists(CALLS, max_size=4).map(tuple))


@given(ASSISTANTS, st.frozensets(st.text(max_size=10), max_size=5))
def test_whatever_a_server_sends_the_history_takes(message, taken):
    sound = normalised(message, taken)
    ids = [call.id for call in sound.calls]
    assert len(ids) == len(set(ids)) == len(message.calls)
    assert not set(ids) & taken
    for call in sound.calls:
        assert 0 < len(call.id) <= 40
        assert 0 < len(call.name) <= 64
        assert isinstance(json.loads(call.arguments), dict)


def test_arguments_that_are_no_object_carry_a_problem():
    (call,) = normalised(Assistant("", (ToolCall("a", "look", "[1]"),)), ()).calls
    assert (call.arguments, "not a JSON object" in call.problem) == ("{}", True)


@st.composite
def broken_conversations(draw) -> Conversation:
    """What interrupts and crashes leave: results missing anywhere from some point on."""
    messages: list[object] = []
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        messages.append(User(draw(st.text(max_size=5))))
        count = draw(st.integers(0, 3))
        made = tuple(ToolCall(f"c{number + i}", "look") for i in range(count))
        number += count
        messages.append(Assistant("x", made))
        answered = draw(st.integers(0, count))
        messages.extend(ToolResult(call.id, "r") for call in made[:answered])
    return tuple(messages)  # type: ignore[return-value]


@given(broken_conversations())
def test_a_closed_conversation_answers_each_call_once_and_ends_with_the_assistant(conversation):
    whole = closed(conversation, "stopped")
    assert unanswered(whole) == ()
    results = [m.call_id for m in whole if isinstance(m, ToolResult)]
    assert sorted(results) == sorted(known_ids(whole))
    assert not whole or isinstance(whole[-1], Assistant)
    assert closed(whole, "again") == whole


@given(broken_conversations())
def test_results_stand_in_the_order_of_their_calls(conversation):
    waiting: list[str] = []
    for message in closed(conversation, "stopped"):
        if isinstance(message, Assistant):
            assert waiting == []
            waiting = [call.id for call in message.calls]
        elif isinstance(message, ToolResult):
            assert waiting.pop(0) == message.call_id
    assert waiting == []


@given(broken_conversations())
def test_cutting_into_turns_loses_nothing(conversation):
    assert tuple(m for turn in turns(conversation) for m in turn) == conversation


def facts(tool="edit", effect="write", operand="a.py", **more):
    return CallFacts(tool, effect, operand, **more)


def test_defaults_follow_the_effect():
    judged = {
        e: Policy().judge(facts(effect=e)).decision for e in ("read", "write", "run", "bundled")
    }
    assert judged == {"read": "allow", "write": "ask", "run": "ask", "bundled": "ask"}


def test_an_unknown_effect_is_denied():
    assert Policy().judge(facts(effect="magic")).decision == "deny"


def test_a_deny_wins_over_everything():
    policy = Policy((Rule("edit", "deny", source="user"), Rule("edit", "allow")))
    assert policy.judge(facts()).decision == "deny"


def test_the_newest_word_of_the_session_wins_over_the_configuration():
    policy = Policy((Rule("edit", "ask", source="user"),)).with_rule(Rule("edit", "allow"))
    assert policy.judge(facts()).decision == "allow"
    assert policy.with_rule(Rule("edit", "ask")).judge(facts()).decision == "ask"


def test_a_project_can_tighten_and_never_loosen():
    asks = Policy((Rule("read", "allow", source="user"), Rule("read", "ask", source="project")))
    assert asks.judge(facts("read", "read")).decision == "ask"
    loosens = Policy((Rule("edit", "allow", source="project"),))
    assert loosens.judge(facts()).decision == "ask"


def test_outside_the_workspace_asks_even_where_reading_is_allowed():
    policy = Policy((Rule("read", "allow", source="user"),))
    assert policy.judge(facts("read", "read", outside=True)).decision == "ask"


@pytest.mark.parametrize("pattern", ["", "*", "/etc/*"])
def test_a_wide_permission_of_the_session_does_not_reach_outside(pattern):
    policy = Policy((Rule("edit", "allow", pattern),))
    assert policy.judge(facts(operand="/etc/x", outside=True)).decision == "ask"
    assert policy.with_rule(Rule("edit", "deny")).judge(facts(outside=True)).decision == "deny"


def test_a_permission_for_one_file_outside_counts_for_that_file():
    policy = Policy((Rule("edit", "allow", "/etc/x"),))
    assert policy.judge(facts(operand="/etc/x", outside=True)).decision == "allow"
    assert policy.judge(facts(operand="/etc/y", outside=True)).decision == "ask"


def test_patterns_match_the_whole_operand_and_only_the_star_is_special():
    rule = Rule("run_shell", "allow", "git status*")
    policy = Policy((rule,))
    assert policy.judge(facts("run_shell", "run", "git status -s")).decision == "allow"
    assert policy.judge(facts("run_shell", "run", "cd x && git status")).decision == "ask"
    assert not Rule("t", "allow", "a[b]?").matches(facts("t", operand="ab"))


def test_a_rule_of_a_skill_holds_for_its_tool_only():
    policy = Policy((Rule("git_diff", "allow", skill="code-review"),))
    assert policy.judge(facts("git_diff", "bundled", skill="code-review")).decision == "allow"
    assert policy.judge(facts("git_diff", "bundled", skill="other")).decision == "ask"


def test_without_a_skill_every_builtin_is_visible_and_sorted():
    tools = effective_tools([Spy("write").tool, Spy("ls").tool], [])
    assert [tool.name for tool in tools] == ["ls", "write"]


def test_whitelists_of_several_skills_intersect():
    tools = [Spy(n).tool for n in ("ls", "read", "write")]
    first, second = Skill("a", tools=("ls", "read")), Skill("b", tools=("read", "write"))
    assert [t.name for t in effective_tools(tools, [first, second])] == ["read"]
    assert effective_tools(tools, [first, Skill("c", tools=())]) == ()


def test_bundled_tools_pass_the_whitelist_and_denied_ones_are_not_offered():
    bundled = Spy("git_diff", "bundled", skill="r").tool
    skill = Skill("r", tools=("ls",))
    names = [t.name for t in effective_tools([Spy("ls").tool], [skill], [bundled])]
    assert names == ["git_diff", "ls"]
    policy = Policy((Rule("git_*", "deny"),))
    names = [t.name for t in effective_tools([Spy("ls").tool], [skill], [bundled], policy=policy)]
    assert names == ["ls"]


def test_disabled_tools_are_gone():
    assert effective_tools([Spy("ls").tool], [], disabled=["ls"]) == ()


def test_a_missing_tool_names_the_skill_and_what_there_is():
    text = unavailable("grep", [Spy("ls").tool], [Skill("explore")])
    assert text == "Tool 'grep' is not available with skill explore. Available tools: ls."
    assert "none" in unavailable("grep", [], [])


A, B, C = ("look", "{}", "a"), ("look", "{}", "b"), ("read", "{}", "c")


def test_repetition_counts_pairs_and_short_cycles():
    assert repeats([]) == 0
    assert repeats([A]) == 1
    assert repeats([A, A, A]) == 3
    assert repeats([A, B, A, B, A, B]) == 3
    assert repeats([A, B, C, A, B, C]) == 2
    assert repeats([A, A, B]) == 1


@given(st.lists(st.sampled_from([A, B, C]), max_size=30))
def test_repetition_is_never_more_than_the_history(history):
    assert 0 <= repeats(history) <= len(history)
