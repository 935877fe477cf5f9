"""From values to bytes: what a request holds, and that servers can take it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.messages import (
    Assistant,
    Conversation,
    Image,
    Message,
    ToolCall,
    ToolResult,
    User,
    closed,
    known_ids,
    normalised,
)
from agent_magics.ports import Request
from agent_magics.providers.bodies import BodyWriter, fields_of
from agent_magics.providers.profiles import Profile
from agent_magics.providers.servers import detected
from agent_magics.providers.wire import READ, sent_names, wire_id, wire_name
from agent_magics.providers.written import find_calls
from agent_magics.tool import Tool, ToolOutput
from tests.fake import rig

PICTURE = Image("image/png", "AAAA")


async def _no_run(_arguments: object, _report: object) -> ToolOutput:
    raise AssertionError


def tool(name: str = "get", **parameters: Any) -> Tool:
    return Tool(name, "A tool.", parameters, "read", _no_run)


def body(request: Request, profile: Profile | None = None, stream: bool = True) -> dict[str, Any]:
    value = json.loads(BodyWriter("m").write(request, profile or Profile(), stream=stream))
    assert isinstance(value, dict)
    return value


def said(*calls: ToolCall, text: str = "", **fields: Any) -> Assistant:
    return Assistant(text, calls, "calls" if calls else "end", model="m", **fields)


HISTORY: Conversation = (
    User("look"),
    said(ToolCall("a", "get", '{"n": 1}'), ToolCall("b", "get", "{}")),
    ToolResult("a", "one"),
    ToolResult("b", ""),
)


def test_a_request_as_the_protocol_has_it() -> None:
    request = Request("be brief", HISTORY, (tool(),), max_output=9, options={"temperature": 0})
    assert body(request) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get",
                    "description": "A tool.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "max_tokens": 9,
        "temperature": 0,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "get", "arguments": '{"n": 1}'},
                    },
                    {"id": "b", "type": "function", "function": {"name": "get", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": "(no output)"},
        ],
    }


def test_without_streaming_there_is_no_word_about_it() -> None:
    assert set(body(Request("", (User("x"),)), stream=False)) == {"model", "messages"}


def test_options_cannot_take_what_is_ours() -> None:
    options = {"messages": [], "model": "other", "n": 5, "stream": False, "seed": 1}
    value = body(Request("", (User("x"),), options=options))
    assert (value["model"], value["stream"], len(value["messages"])) == ("m", True, 1)
    assert value["seed"] == 1
    assert "n" not in value


def test_a_limit_among_the_options_goes_into_the_field_of_the_server() -> None:
    request = Request("", (User("x"),), options={"max_tokens": 7})
    value = body(request, Profile(max_tokens="max_completion_tokens"))
    assert value["max_completion_tokens"] == 7
    assert "max_tokens" not in value


def test_an_answer_without_calls_is_asked_for_in_the_way_the_server_knows() -> None:
    request = Request("", HISTORY, (tool(),), tool_choice="none")
    assert body(request)["tool_choice"] == "none"
    assert "tools" not in body(request, Profile(tool_choice_none=False))
    assert body(request, Profile(tool_choice_none=False, tools_needed=True))["tools"] == []


def test_pictures_of_results_follow_the_last_result_and_those_of_a_prompt_stand_in_it() -> None:
    conversation = (
        User("what is it", (PICTURE,)),
        said(ToolCall("a", "get"), ToolCall("b", "get")),
        ToolResult("a", "one", images=(PICTURE,)),
        ToolResult("b", "two"),
    )
    messages = body(Request("", conversation))["messages"]
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert messages[0]["content"] == [{"type": "text", "text": "what is it"}, url]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[-1]["content"][1] == url
    told = body(Request("", conversation), Profile(images=False))["messages"]
    assert "image_url" not in json.dumps(told)
    assert "left out" in told[0]["content"]
    assert "left out" in told[-1]["content"]


def test_what_one_model_needs_back_is_sent_to_no_other() -> None:
    signed = ToolCall("a", "get", extra={"extra_content": {"s": 1}, "function": {"x": 2}})
    message = said(signed, extra={"reasoning_content": "why", "other": 1})
    conversation = (User("x"), message, ToolResult("a", "y"))
    sent = body(Request("", conversation))["messages"][1]
    assert sent["tool_calls"][0]["extra_content"] == {"s": 1}
    assert sent["tool_calls"][0]["function"]["x"] == 2
    assert (sent["reasoning_content"], sent["other"]) == ("why", 1)
    foreign = (User("x"), replace(message, model="else"), ToolResult("a", "y"))
    sent = body(Request("", foreign))["messages"][1]
    assert set(sent) == {"role", "content", "tool_calls"}
    assert set(sent["tool_calls"][0]) == {"id", "type", "function"}


def test_reasoning_goes_back_with_calls_only_since_some_refuse_it_elsewhere() -> None:
    message = said(text="done", extra={"reasoning_content": "why"})
    assert "reasoning_content" not in body(Request("", (User("x"), message)))["messages"][1]


def test_a_nudge_is_the_last_word_of_this_request_and_of_no_other() -> None:
    writer = BodyWriter("m")
    request = Request("s", HISTORY, (tool(),), nudge="go on")
    nudged = json.loads(writer.write(request, Profile(), stream=True))["messages"]
    assert nudged[-1] == {"role": "user", "content": "go on"}
    after = json.loads(writer.write(replace(request, nudge=""), Profile(), stream=True))["messages"]
    assert after == nudged[:-1]


def test_strict_servers_get_the_order_of_roles_they_want() -> None:
    profile = Profile(answer_after_results=True, alternate=True)
    request = Request("s", (*HISTORY, User("and"), User("now", (PICTURE,))), nudge="quick")
    messages = body(request, profile)["messages"]
    roles = [m["role"] for m in messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert messages[-2]["content"] == READ
    assert [p.get("text") for p in messages[-1]["content"]] == ["and", "now", None, "quick"]


def test_a_server_without_a_system_role_gets_the_instructions_in_the_first_prompt() -> None:
    request = Request("be brief", (User("look"),))
    messages = body(request, Profile(system_role="user"))["messages"]
    assert messages == [{"role": "user", "content": "be brief\n\nlook"}]
    assert body(request, Profile(system_role="developer"))["messages"][0]["role"] == "developer"


def test_names_and_ids_take_the_form_that_the_server_takes() -> None:
    profile = Profile(name_length=16, call_ids="nine")
    long = tool("mcp__server__a_very_long_tool_name")
    short = wire_name(long.name, profile)
    assert len(short) <= 16
    assert sent_names((long, tool()), profile) == {short: long.name}
    assert wire_id("call_1", profile).isalnum()
    assert len(wire_id("call_1", profile)) == 9
    assert wire_id("abcdefgh1", profile) == "abcdefgh1"
    assert wire_id("a b|c", Profile(call_ids="plain")) != "a b|c"
    assert wire_id("functions.ls:0", Profile()) == "functions.ls:0"
    messages = body(Request("", HISTORY, (tool(),)), profile)["messages"]
    ids = [c["id"] for c in messages[1]["tool_calls"]]
    assert [m["tool_call_id"] for m in messages[2:]] == ids


def test_schema_keywords_that_a_server_refuses_are_left_out_but_properties_stay() -> None:
    parameters = {
        "type": "object",
        "title": "T",
        "properties": {"title": {"type": "string", "title": "x", "items": [{"title": "y"}]}},
    }
    request = Request("", (User("x"),), (tool(**parameters),))
    value = body(request, Profile(without_schema=frozenset(("title",))))
    sent = value["tools"][0]["function"]["parameters"]
    assert sent == {
        "type": "object",
        "properties": {"title": {"type": "string", "items": [{}]}},
    }


def test_strict_is_asked_for_where_the_schema_qualifies() -> None:
    closed_schema = {"type": "object", "additionalProperties": False, "required": ["a"]}
    inner = {**closed_schema, "properties": {"a": {"type": "string"}}}
    full = {**closed_schema, "properties": {"a": inner}}
    tools = (tool("full", **full), tool("open", type="object", properties={"a": {}}))
    value = body(Request("", (User("x"),), tools), Profile(strict=True))
    assert [t["function"].get("strict") for t in value["tools"]] == [True, None]


def test_what_cannot_be_encoded_does_not_stop_a_request() -> None:
    request = Request("\ud800", (User("a\udfffb"),), (tool(),))
    value = body(request)
    assert value["messages"][1]["content"] == "a?b"


def test_fields_of_a_body_are_named_for_whoever_learns_from_its_refusal() -> None:
    request = Request("", (User("x", (PICTURE,)), *HISTORY), (tool(type="object", minLength=1),))
    names = fields_of(BodyWriter("m").write(request, Profile(), stream=True))
    assert {"stream", "stream_options", "tools", "image_url", "null content", "minlength"} <= names


def test_a_server_that_takes_no_tools_has_them_described_and_gets_calls_as_text() -> None:
    look = Tool(
        "get",
        "Look at it.\nLong.",
        {"properties": {"n": {"type": "integer"}, "x": {}}, "required": ["n"]},
        "read",
        _no_run,
    )
    conversation = (*HISTORY, said(text="done"), User("more", (PICTURE,)))
    value = body(Request("be brief", conversation, (look,)), Profile(tools=False))
    assert "tools" not in value
    system, prompt, calls, results, answer, more = value["messages"]
    assert "- get(n: integer, x?: any): Look at it." in system["content"]
    assert "Long" not in system["content"]
    assert prompt == {"role": "user", "content": "look"}
    assert find_calls(calls["content"], (look,))[1][0].arguments == '{"n": 1}'
    assert results["content"] == "Result of get:\none\n\nResult of get:\n(no output)"
    assert answer == {"role": "assistant", "content": "done"}
    assert more["role"] == "user"
    last = Request("be brief", conversation, (look,), tool_choice="none")
    assert body(last, Profile(tools=False))["messages"][0]["content"] == "be brief"


# --- properties --------------------------------------------------------------------------------

WORDS = st.text(max_size=8)
CALL = st.builds(
    ToolCall,
    st.text(max_size=50),
    st.sampled_from(["get", "a b", "", "n" * 99, "\ud800"]),
    st.sampled_from(["{}", '{"a": 1}', "", "[", "[1]"]),
    st.just({"extra_content": {"s": 1}}),
)
PICTURES = st.sampled_from([(), (PICTURE,)])
ANSWER = st.builds(
    Assistant,
    WORDS,
    st.lists(CALL, max_size=3).map(tuple),
    model=st.sampled_from(["m", "else"]),
)
ROUND = st.tuples(st.builds(User, WORDS, PICTURES), st.lists(ANSWER, max_size=3))
PROFILES = st.sampled_from(
    [
        Profile(),
        Profile(alternate=True, answer_after_results=True),
        Profile(system_role="user"),
        Profile(images=False, call_ids="nine", name_length=20),
        Profile(empty_content=True, call_ids="plain"),
        Profile(tools=False),
        detected("https://api.mistral.ai/v1"),
    ]
)


def conversation_of(rounds: list[Any]) -> Conversation:
    """What a loop would have kept."""
    messages: tuple[Message, ...] = ()
    for prompt, answers in rounds:
        messages = (*messages, prompt)
        for answer in answers:
            message = normalised(answer, known_ids(messages))
            results = [ToolResult(c.id, "r", images=(PICTURE,)) for c in message.calls[:-1]]
            messages = (*messages, message, *results)
            messages = closed(messages, "test")
    return (*messages, User("next"))


@given(st.lists(ROUND, max_size=3), PROFILES, st.booleans())
@settings(max_examples=200)
def test_every_conversation_makes_a_request_that_a_strict_server_takes(
    rounds: list[Any], profile: Profile, nudged: bool
) -> None:
    request = Request("system", conversation_of(rounds), (tool(),), nudge="go on" if nudged else "")
    value = body(request, profile)
    assert [error for error in rig().check(value) if "user message" not in error] == []


@given(st.lists(ROUND, min_size=1, max_size=3))
def test_bytes_that_were_written_before_are_the_bytes_that_would_be_written_now(
    rounds: list[Any],
) -> None:
    conversation = conversation_of(rounds)
    writer = BodyWriter("m")
    for end in range(1, len(conversation) + 1):
        request = Request("s", conversation[:end], (tool(),))
        remembered = writer.write(request, Profile(), stream=True)
        assert remembered == BodyWriter("m").write(request, Profile(), stream=True)


def test_a_new_profile_writes_everything_anew() -> None:
    writer = BodyWriter("m")
    request = Request("s", HISTORY, (tool(),))
    writer.write(request, Profile(), stream=True)
    changed = writer.write(request, Profile(empty_content=True), stream=True)
    assert json.loads(changed)["messages"][2]["content"] == ""


@pytest.mark.parametrize(
    ("url", "field", "value"),
    [
        ("https://api.openai.com/v1", "max_tokens", "max_completion_tokens"),
        ("https://my.openai.azure.com/openai/v1", "max_tokens", "max_completion_tokens"),
        ("https://api.mistral.ai/v1", "call_ids", "nine"),
        ("http://localhost:11434/v1", "tool_choice_none", False),
        ("http://127.0.0.1:8000/v1", "tool_choice_none", True),
        ("https://notapi.openai.com.evil.example/v1", "max_tokens", "max_tokens"),
        ("http://[::1/v1", "max_tokens", "max_tokens"),
    ],
)
def test_well_known_endpoints_are_recognised_by_their_url(
    url: str, field: str, value: object
) -> None:
    assert getattr(detected(url), field) == value
