"""Calls that models write into their text: recognised where they are meant, and only there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.providers.written import find_calls, find_first
from agent_magics.tool import Tool, ToolOutput


async def _no_run(_arguments: object, _report: object) -> ToolOutput:
    raise AssertionError


TOOLS = tuple(Tool(name, "A tool.", {}, "read", _no_run) for name in ("ls", "read"))
CALL = '{"name": "ls", "arguments": {"path": "src"}}'
LS = ("ls", {"path": "src"})


def found(text: str) -> tuple[str, list[tuple[str, object]]]:
    rest, calls = find_calls(text, TOOLS)
    assert all(call.written for call in calls)
    return rest, [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n{CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        f"```tool_call\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<tools>{CALL}</tools>",
        f"<function_call>{CALL}</function_call>",
        f"<|python_tag|>{CALL}",
        f"[TOOL_CALLS] [{CALL}]",
        f"[{CALL}]",
        f"<tool_call>{{{CALL}}}</tool_call>",
        '<function=ls>{"path": "src"}</function>',
        '{"name": "ls", "parameters": {"path": "src"}}',
        '{"tool": "ls", "args": {"path": "src"}, "id": "7"}',
        '{"type": "function", "function": {"name": "ls", "arguments": {"path": "src"}}}',
        '{"name": "ls", "arguments": "{\\"path\\": \\"src\\"}"}',
    ],
)
def test_every_way_of_writing_a_call_is_one(text: str) -> None:
    assert found(text) == ("", [LS])


def test_the_prose_before_is_kept() -> None:
    assert found(f"I look.\n\n```json\n{CALL}\n```") == ("I look.", [LS])
    assert found(f"I look. <tool_call>{CALL}</tool_call>") == ("I look.", [LS])
    other = '```json\n{"a": 1}\n```'
    assert found(f"{other}\nso\n{CALL}") == (f"{other}\nso", [LS])


@pytest.mark.parametrize(
    "between", ["\n", ";", " , ", "\n```\n```json\n", "</tool_call><tool_call>"]
)
def test_several_calls_are_several(between: str) -> None:
    opened = "```json\n" if "```" in between else "<tool_call>" if "<" in between else ""
    assert found(f"{opened}{CALL}{between}{CALL}") == ("", [LS, LS])
    assert found(f"[{CALL}, {CALL}]") == ("", [LS, LS])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no call at all",
        '{"a": 1}',
        '{"name": "ls"}',  # no arguments: as likely the name of something
        '{"name": "nope", "arguments": {}}',
        '{"name": "ls", "arguments": {}, "note": "an example"}',
        '{"name": "ls", "arguments": [1]}',
        '{"name": "ls", "arguments": "src"}',
        '{"name": 7, "arguments": {}}',
        f"{CALL} and that is how it is done",
        f"```json\n{CALL}\n```\nThat is how a call looks.",
        f"Write it like {CALL}",
        f"    {CALL}",  # an indented example
        f"[{CALL}, 7]",
        f'{CALL}\n{{"a": 1}}',
        '```json\n{"name": "ls", "arguments": {"path": "src"}\n```',  # cut
        '{{"name": "ls", "arguments": {}}',
        '{{"name": ls}}',
        "{{",
        "{\n" * 3000 + "}",
        "[" * 100_000 + "]",
    ],
)
def test_ordinary_text_is_no_call(text: str) -> None:
    assert find_calls(text, TOOLS) == (text, ())


@given(st.text(alphabet='{}[]"`<>/|:, \nanmelsrgut', max_size=60))
def test_no_text_breaks_the_search(text: str) -> None:
    rest, calls = find_calls(text, TOOLS)
    assert calls or rest == text


@given(
    st.text(max_size=20),
    st.dictionaries(st.text(max_size=5), st.text(max_size=10) | st.integers(), max_size=3),
)
def test_a_fenced_call_is_found_after_any_prose(prose: str, arguments: dict[str, object]) -> None:
    block = json.dumps({"name": "read", "arguments": arguments})
    assert found(f"{prose}\n\n```json\n{block}\n```")[1][-1] == ("read", arguments)


@pytest.mark.parametrize(
    "after", ["", "\n\nThis lists the folder.", "\n\nThe files are:\n- a.py\n"]
)
def test_where_calls_are_written_by_rule_what_follows_the_first_is_dropped(after: str) -> None:
    text = f"I look.\n\n```json\n{CALL}\n```{after}"
    rest, calls = find_first(text, TOOLS)
    assert rest == "I look."
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [LS]
    second = CALL.replace("src", "lib")
    assert len(find_first(f"{CALL}\n{second}", TOOLS)[1]) == 1


@pytest.mark.parametrize(
    "text",
    [
        'It holds:\n```json\n{"a": 1}\n```\nand so on.',
        '```json\n{"name": "rm", "arguments": {}}\n```\nDone.',
        '{"name": "ls"} is a name.',
        "```python\nls('src')\n```",
        "{" * 500,
    ],
)
def test_json_that_calls_no_tool_stays_text(text: str) -> None:
    assert find_first(text, TOOLS) == (text, ())


@given(st.text(alphabet='{}[]"`nameargutls: ,\n<>/json', max_size=200))
def test_no_text_breaks_the_search_for_the_first_call(text: str) -> None:
    rest, calls = find_first(text, TOOLS)
    assert len(calls) <= 1
    assert text.startswith(rest)


# --- calls that were meant, of models that were told to write them ------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('```json\n{"name": "ls", "arguments": {"path": "a"b"}}\n```', "delimiter"),
        ('{"name": "ls", "arguments": {"path": "src"', "delimiter"),
        ('I look.\n```json\n{"name": "ls", "arguments": {"path": """src"""}}\n```', "broken"),
        ('```json\n{"name": "ls"}\n```', "two keys"),
        ('{"name": "ls", "path": "src"}', "two keys"),
        ('{"name": "ls", "arguments": [1]}', "two keys"),
    ],
)
def test_a_call_that_was_meant_is_one_with_a_problem(text: str, told: str) -> None:
    rest, (call,) = find_first(text, TOOLS)
    assert (call.name, call.arguments, call.written) == ("ls", "{}", True)
    assert told in call.problem
    assert rest == text[: text.index("```json")].rstrip() if text.startswith("I") else rest == ""
    assert find_calls(text, TOOLS) == (text, ())


def test_a_call_of_a_tool_that_is_not_there_is_one_and_the_loop_says_so() -> None:
    text = '```json\n{"name": "count_rows", "arguments": {"path": "a.csv"}}\n```'
    _, (call,) = find_first(text, TOOLS)
    assert (call.name, call.problem) == ("count_rows", "")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "born": 1815}',
        '```json\n{"name": "Ada", "input": "x"}\n```',
        '{"name": "nope", "arguments": {}}\n\nis how a call would look.',
        'The file holds {"name": "ls"} twice.',
        '{"name": "Ada", "born": }',
        '{"title": "ls", "arguments": {}',
    ],
)
def test_other_json_of_such_a_model_is_an_answer(text: str) -> None:
    assert find_first(text, TOOLS) == (text, ())


@given(st.text(alphabet='{}[]":,`\n \\abls name arguments', max_size=80))
def test_no_text_breaks_the_reading_of_calls(text: str) -> None:
    rest, calls = find_first('{"name": "ls", "arguments": ' + text, TOOLS)
    assert len(calls) <= 1
    assert all(json.loads(call.arguments) is not None for call in calls)
    assert isinstance(rest, str)
