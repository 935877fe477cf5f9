"""Arguments and prompts as values: what is shown, what is understood, what is refused."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.events import Question
from agent_magics.frontends.arguments import edited_arguments, same_arguments, visible_json
from agent_magics.frontends.headless import Nobody
from agent_magics.frontends.prompt import answered_within, ask_typed, choices, understood
from agent_magics.messages import ToolCall
from agent_magics.policy import Answer, Rule, Scope

ONE = (Scope("this file", Rule("write", "allow", "a.txt")),)
TWO = (*ONE, Scope("this folder", Rule("write", "allow", "*")))

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
objects = st.dictionaries(st.text(), json_values)


@given(objects, st.sampled_from([None, 2]))
def test_shown_arguments_are_the_same_arguments_with_nothing_hidden(value, indent):
    text = json.dumps(value)
    shown = visible_json(text, indent=indent)
    assert same_arguments(text, shown)
    assert not any(0x200B <= ord(char) <= 0x200F or ord(char) == 0x202E for char in shown)


@given(objects)
def test_arguments_survive_being_shown_and_taken_back(value):
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    taken, problem = edited_arguments(visible_json(json.dumps(value), indent=2))
    assert problem == ""
    assert taken is not None
    assert same_arguments(taken, json.dumps(value))


@given(st.text())
def test_any_text_is_an_object_or_has_a_problem_in_one_line(text):
    taken, problem = edited_arguments(text)
    assert (taken is None) == bool(problem)
    assert "\n" not in problem
    if taken is not None:
        assert isinstance(json.loads(taken), dict)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[1, 2]", "JSON object"),
        ("null", "JSON object"),
        ('{"n": NaN}', "NaN"),
        ('{"n": Infinity}', "Infinity"),
        ('{"n": 1e999}', "not JSON"),
        ('{"n": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "not JSON"),
        ('{"a": 1', "not JSON"),
    ],
)
def test_what_is_no_object_is_refused_with_the_reason(text, problem):
    assert problem in edited_arguments(text)[1]


def test_a_number_and_a_truth_are_different_arguments():
    assert not same_arguments('{"n": 1}', '{"n": true}')
    assert same_arguments('{"a": 1, "b": 2}', '{ "b": 2, "a": 1 }')


@pytest.mark.parametrize(
    ("line", "scopes", "expected"),
    [
        ("y", (), Answer(True, by="typed")),
        (" YES ", (), Answer(True, by="typed")),
        ("n", (), Answer(False, by="typed")),
        ("no, use the other file", (), Answer(False, by="typed", reason="use the other file")),
        ("n: it's mine", (), Answer(False, by="typed", reason="it's mine")),
        ("a", ONE, Answer(True, by="typed", scope=ONE[0])),
        ("always", ONE, Answer(True, by="typed", scope=ONE[0])),
        ("a1", ONE, Answer(True, by="typed", scope=ONE[0])),
        ("a2", TWO, Answer(True, by="typed", scope=TWO[1])),
        ("a 2", TWO, Answer(True, by="typed", scope=TWO[1])),
        ("e", (), "edit"),
    ],
)
def test_an_answer_is_understood(line, scopes, expected):
    assert understood(line, scopes) == expected


@pytest.mark.parametrize("line", ["", "yy", "y please", "a", "a3", "ok", "e now", "\u202ey", "1"])
def test_what_is_not_clearly_an_answer_is_asked_again(line):
    answer = understood(line, TWO)
    assert isinstance(answer, str)
    assert "y, a1, a2, e, n" in answer


@given(st.text())
def test_only_a_clear_yes_is_a_yes(line):
    answer = understood(line, TWO)
    if isinstance(answer, Answer) and answer.allowed:
        assert line.strip().split()[0].rstrip(":,.").casefold() in {
            "y",
            "yes",
            "a1",
            "a2",
            "always1",
            "always2",
            "a",
            "always",
        }


def test_the_prompt_names_what_always_would_allow():
    assert "this file" in choices(ONE)
    assert "[a1]" in choices(TWO)
    assert "this folder" in choices(TWO)
    assert "always" not in choices(())
    hostile = Scope("\x1b[2K\u202e", ONE[0].rule)
    assert "\x1b" not in choices((hostile,))


def asked(*lines: str) -> tuple[Answer, list[str]]:
    """Type these lines; gives the answer and what was said in between."""
    typed, said = iter(lines), []

    async def read(_prompt: str) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    question = Question(ToolCall("1", "write", '{"path": "a.txt"}'), "write a.txt")
    return asyncio.run(ask_typed(question, read, said.append)), said


def test_edited_arguments_are_shown_before_and_taken_after():
    answer, said = asked("e", '{"path": "b.txt"}')
    assert json.loads(answer.arguments) == {"path": "b.txt"}
    assert any('"a.txt"' in line for line in said)


def test_the_same_arguments_typed_again_are_no_edit():
    assert asked("e", '{"path":"a.txt"}')[0] == Answer(True, by="typed")


def test_nothing_typed_runs_nothing():
    answer, said = asked("e", "", "n")
    assert answer == Answer(False, by="typed")
    assert any("nothing has run" in line for line in said)


def test_the_end_of_input_is_a_no():
    for lines in ((), ("what?",), ("e",)):
        answer, _ = asked(*lines)
        assert (answer.allowed, answer.by) == (False, "nobody")


def test_whatever_breaks_while_asking_is_a_no():
    async def broken() -> Answer:
        raise OSError("the page is gone")

    answer = asyncio.run(answered_within(None, broken()))
    assert (answer.allowed, answer.by) == (False, "nobody")
    assert "the page is gone" in answer.reason


def test_a_time_limit_is_a_no():
    async def never() -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    answer = asyncio.run(answered_within(0.01, never()))
    assert (answer.allowed, answer.by, answer.reason) == (
        False,
        "timeout",
        "no answer within 0.01 s",
    )


def test_nobody_refuses_at_once_and_says_how_to_allow_it_beforehand():
    answer = asyncio.run(Nobody("no terminal").ask(Question(ToolCall("1", "write"), "write a.txt")))
    assert (answer.allowed, answer.by) == (False, "nobody")
    assert answer.reason == (
        "nobody can answer here: no terminal; allow it beforehand with '%agent allow write' or in "
        "the configuration file"
    )
