"""From bytes to messages: events, deltas, calls. Whatever comes, the contract holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.events import CallDelta, ReasoningDelta, TextDelta
from agent_magics.messages import Assistant
from agent_magics.providers.answers import AnswerReader, coalesced
from agent_magics.providers.assembler import CUT, Assembler, Offer
from agent_magics.providers.drafts import tool_name
from agent_magics.providers.faults import Fault
from agent_magics.providers.place import Place
from agent_magics.providers.sse import EventReader, Unreadable
from agent_magics.tool import Tool, ToolOutput

PLACE = Place("http://host/v1", "m")


async def _no_run(_arguments: object, _report: object) -> ToolOutput:
    raise AssertionError


def tool(name: str, effect: Any = "read") -> Tool:
    return Tool(name, "A tool.", {"type": "object"}, effect, _no_run)


OFFER = Offer("m", (tool("get"), tool("get_more"), tool("write", "write")))
STOPS = ("end", "calls", "length", "filter", "refusal", "cut")


def keeps_the_contract(message: Assistant) -> None:
    ids = [call.id for call in message.calls]
    assert all(0 < len(one) <= 40 for one in ids)
    assert len(set(ids)) == len(ids)
    assert message.stop in STOPS
    for call in message.calls:
        assert isinstance(json.loads(call.arguments), dict)
        assert call.name
        json.dumps(dict(call.extra))
    if message.stop in ("length", "cut", "filter"):
        assert all(call.problem for call in message.calls)
    for text in (message.text, message.reasoning, *(c.arguments for c in message.calls)):
        text.encode()


# --- events ------------------------------------------------------------------------------------

EVENTS = [{"choices": [{"delta": {"content": f"ä\u2028 {n}"}}]} for n in range(4)]


def written(style: str, end: bytes) -> bytes:
    out = b"\xef\xbb\xbf"
    for event in EVENTS:
        data = json.dumps(event, ensure_ascii=False).encode()
        out += {
            "plain": b"data: " + data + end + end,
            "no space": b"data:" + data + end + end,
            "no blank line": b"data: " + data + end,
            "fields": b": hi" + end + b"event: x" + end + b"data: " + data + end + b"id: 1" + end
            + end + b"data:" + end + end + b"data: ping" + end + end,
            "several lines": b"".join(
                b"data: " + line + end
                for line in json.dumps(event, ensure_ascii=False, indent=1).encode().split(b"\n")
            ) + end,
            "bare lines": data + end,
            "indented": b"  data: " + data + end + end,
        }[style]  # fmt: skip
    return out + b"data: [DONE]"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize(
    "style",
    ["plain", "no space", "no blank line", "fields", "several lines", "bare lines", "indented"],
)
@given(data=st.data())
@settings(max_examples=30)
def test_events_are_the_same_wherever_the_bytes_were_cut(
    style: str, end: bytes, data: st.DataObject
) -> None:
    stream = written(style, end)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=30)))
    reader = EventReader()
    found = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += reader.feed(stream[start:stop])
    found += reader.end()
    assert found == EVENTS
    assert reader.done


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_break_the_reader_of_events(pieces: list[bytes]) -> None:
    reader = EventReader()
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.end()
    except Unreadable:
        pass


def test_an_event_that_is_no_json_is_not_passed_over() -> None:
    reader = EventReader()
    with pytest.raises(Unreadable):
        reader.feed(b'data: {"choices": [{"delta": \n\ndata: {"choices": []}\n\n')


def test_what_follows_done_is_not_read() -> None:
    reader = EventReader()
    assert reader.feed(b"data: [DONE]\n\ndata: {broken\n\n") == []
    assert reader.end() == []


# --- calls -------------------------------------------------------------------------------------

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["get", "get_more", "write"]),
        st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=6), min_size=1),
    ),
    min_size=1,
    max_size=4,
)


def pieces_of(text: str, data: st.DataObject) -> list[str]:
    cuts = sorted(set(data.draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=6))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]


def deltas_of(style: str, calls: list[Any], data: st.DataObject) -> list[dict[str, Any]]:
    """The entries of `tool_calls` as a server of this style sends them."""
    streams = []
    for number, (name, arguments) in enumerate(calls):
        parts = pieces_of(json.dumps(arguments), data)
        if style in ("whole, same index", "whole, nothing"):
            parts = ["".join(parts)]
        entries = []
        for k, part in enumerate(parts):
            entry: dict[str, Any] = {"function": {"arguments": part}}
            if style not in ("no index", "no id, no index", "id in each", "whole, nothing"):
                entry["index"] = 0 if "same index" in style else number
            if style == "id in each" or (
                k == 0 and style not in ("no id", "no id, no index", "whole, nothing")
            ):
                entry["id"] = f"id{number}"
            if style == "new id in each":
                entry["id"] = f"id{number}-{k}"
            if k == 0 or style == "name in each":
                entry["function"]["name"] = name
            entries.append(entry)
        streams.append(entries)
    if style in ("interleaved", "id in each"):
        longest = max(map(len, streams))
        return [s[k] for k in range(longest) for s in streams if k < len(s)]
    return [entry for entries in streams for entry in entries]


STYLES = [
    "standard", "no id", "no index", "no id, no index", "whole, same index", "whole, nothing",
    "new id in each", "name in each", "id in each", "interleaved",
]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@given(calls=CALLS, data=st.data())
def test_every_style_of_deltas_gives_the_calls_that_were_made(
    style: str, calls: list[Any], data: st.DataObject
) -> None:
    assembler = Assembler(OFFER)
    for entry in deltas_of(style, calls, data):
        assembler.feed({"choices": [{"delta": {"tool_calls": [entry]}}]})
    assembler.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    message = assembler.message()
    assert [(c.name, json.loads(c.arguments)) for c in message.calls] == calls
    assert not any(call.problem for call in message.calls)
    keeps_the_contract(message)


@given(calls=CALLS, ids=st.booleans())
def test_a_whole_response_gives_the_calls_that_were_made(calls: list[Any], ids: bool) -> None:
    entries = [
        {**({"id": f"c{k}"} if ids else {}), "function": {"name": n, "arguments": json.dumps(a)}}
        for k, (n, a) in enumerate(calls)
    ]
    assembler = Assembler(OFFER)
    assembler.feed({"choices": [{"message": {"tool_calls": entries}, "finish_reason": "stop"}]})
    message = assembler.message()
    assert [(c.name, json.loads(c.arguments)) for c in message.calls] == calls
    assert message.stop == "calls"


ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(-1, 2) | st.none() | st.sampled_from(["0", "x", True, 1.5]),
        "id": st.sampled_from(["a", "b", "", None, 7, "x" * 99, "\ud800"]),
        "type": st.sampled_from(["function", None]),
        "function": st.none()
        | st.sampled_from(["get", 3])
        | st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["get", "ge", "t", "_more", "nope", "", None, 5, "a b\n"]),
                "arguments": st.sampled_from(
                    ["", "{", '{"a"', ": 1}", '{"a": 1}', "{}", "}", "[1]", None, 5, " ", "\ud83d"]
                )
                | st.dictionaries(st.sampled_from("ab"), st.integers(), max_size=2),
            },
        ),
        "name": st.sampled_from(["get", None]),
        "arguments": st.sampled_from(['{"b": 2}', None]),
        "extra_content": st.just({"google": {"thought_signature": "s"}}),
    },
)
TEXTS = st.sampled_from(["", None, "word ", "\ud83d", "\ude00", "```json\n", '{"name": "get"', 5])
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "content": TEXTS | st.lists(st.just({"type": "text", "text": "part"}) | TEXTS, max_size=2),
        "refusal": TEXTS,
        "reasoning_content": TEXTS,
        "reasoning": TEXTS | st.just({"a": 1}),
        "reasoning_details": st.lists(
            st.just({"type": "reasoning.text", "index": 0, "text": "t"}), max_size=2
        ),
        "tool_calls": st.none()
        | ENTRIES
        | st.lists(ENTRIES | st.none() | st.just("x"), max_size=3),
        "function_call": st.none() | st.just({"name": "get", "arguments": "{}"}),
    },
)
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.none()
        | st.lists(
            st.none()
            | st.fixed_dictionaries(
                {},
                optional={
                    "index": st.integers(0, 3),
                    "delta": st.none() | MESSAGES,
                    "message": st.none() | MESSAGES,
                    "text": TEXTS,
                    "finish_reason": st.sampled_from(
                        [None, "stop", "tool_calls", "length", "content_filter", "odd", "error", 5]
                    ),
                    "usage": st.none() | st.just({"prompt_tokens": 1}),
                },
            ),
            max_size=2,
        ),
        "usage": st.none()
        | st.just({"prompt_tokens": 5, "completion_tokens": 9})
        | st.just({"prompt_tokens": "x", "completion_tokens": -1, "prompt_tokens_details": 3}),
        "x_groq": st.just({"usage": {"prompt_tokens": 2}}),
    },
)


@given(st.lists(CHUNKS, max_size=12), st.booleans(), st.sampled_from([None, 9]))
@settings(max_examples=400)
def test_whatever_chunks_come_the_message_keeps_the_contract(
    chunks: list[Any], broken: bool, cap: int | None
) -> None:
    assembler = Assembler(Offer("m", OFFER.tools, None, cap))
    shown = [delta for chunk in chunks for delta in assembler.feed(chunk)]
    message = assembler.message(broken=broken)
    keeps_the_contract(message)
    for delta in shown:
        match delta:
            case TextDelta(text=text) | ReasoningDelta(text=text):
                text.encode()
                assert text
            case CallDelta(arguments=text):
                text.encode()


@given(st.lists(CHUNKS, max_size=8), st.data())
@settings(max_examples=200)
def test_whatever_bytes_come_there_is_an_answer_or_a_fault(
    chunks: list[Any], data: st.DataObject
) -> None:
    form = data.draw(st.sampled_from(["events", "value", "lines"]))
    body = {
        "events": b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks),
        "lines": b"".join(json.dumps(c).encode() + b"\n" for c in chunks),
        "value": json.dumps(chunks[0] if chunks else None).encode(),
    }[form]
    body = body[: data.draw(st.integers(0, len(body)))] + data.draw(
        st.sampled_from([b"", b"data: [DONE]\n\n", b"<html>", b"\x00\xff", b'{"error": "x"}'])
    )
    reader = AnswerReader(OFFER, PLACE)
    try:
        for start in range(0, len(body), 50):
            reader.feed(body[start : start + 50])
        _, message = reader.end()
    except Fault as fault:
        told = fault.error
    else:
        assert message.text or message.calls
        keeps_the_contract(message)
        return
    assert 1 <= len(str(told).splitlines()) <= 2


# --- what single things mean -------------------------------------------------------------------


def answer(*chunks: dict[str, Any], offer: Offer = OFFER, broken: bool = False) -> Assistant:
    assembler = Assembler(offer)
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler.message(broken=broken)


def choice(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def call(arguments: str, name: str = "get") -> dict[str, Any]:
    return {
        "tool_calls": [{"id": "a", "index": 0, "function": {"name": name, "arguments": arguments}}]
    }


def entry(text: str, **fields: Any) -> dict[str, Any]:
    name = {"name": fields.pop("name")} if "name" in fields else {}
    return choice(tool_calls=[{**fields, "function": {**name, "arguments": text}}])


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str, str]]:
    return [(c.name, c.arguments) for c in answer(*chunks, choice("tool_calls")).calls]


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        # A name in pieces, whose first piece is a tool too.
        ([entry("", name="get", index=0), entry('{"a": 1}', name="_more", index=0)],
         [("get_more", '{"a": 1}')]),
        # Two calls without arguments are two, although nothing tells them apart but the name.
        ([entry("", name="get", index=0), entry("", name="write", index=0)],
         [("get", "{}"), ("write", "{}")]),
        # The name grows.
        ([entry("", name="get_m", index=0), entry('{"a": 1}', name="get_more", index=0)],
         [("get_more", '{"a": 1}')]),
        # A placeholder that the real arguments replace.
        ([entry("{}", name="get", id="a", index=0), entry('{"a"', index=0), entry(": 1}", index=0)],
         [("get", '{"a": 1}')]),
        # Whole arguments, and whole again.
        ([entry('{"a": 1}', name="get", id="a", index=0), entry('{"a": 1}', id="a", index=0)],
         [("get", '{"a": 1}')]),
        ([entry('{"a": 1}', name="get", id="a"), entry('{"a": 1}', name="get", id="a")],
         [("get", '{"a": 1}')]),
        # The same id twice for two calls.
        ([entry('{"a": 1}', name="get", id="a"), entry('{"a": 2}', name="get", id="a")],
         [("get", '{"a": 1}'), ("get", '{"a": 2}')]),
        # A head that is sent again under another index.
        ([entry("", name="get", id="a", index=0), entry('{"a": 1}', name="get", id="a", index=1)],
         [("get", '{"a": 1}')]),
        # The function is only a name; the arguments stand beside it.
        ([choice(tool_calls=[{"function": "get", "arguments": {"a": 1}}])],
         [("get", '{"a": 1}')]),
        # A late line end, with an id of its own.
        ([entry('{"a": 1}', name="get", id="a", index=0), entry("\n", id="b", index=0)],
         [("get", '{"a": 1}')]),
        # Closing tags after the arguments.
        ([entry('{"a": 1}', name="get", index=0), entry("</tool_call>", index=0)],
         [("get", '{"a": 1}')]),
    ],
)  # fmt: skip
def test_deltas_that_could_mean_two_things_mean_the_likely_one(
    chunks: list[dict[str, Any]], calls: list[tuple[str, str]]
) -> None:
    assert calls_of(*chunks) == calls


def test_a_second_object_without_a_name_is_no_part_of_the_first_call() -> None:
    chunks = [entry('{"a": 1}', name="get", index=0), entry('{"a": 2}', index=0)]
    first, second = answer(*chunks, choice("tool_calls")).calls
    assert (first.arguments, first.problem) == ('{"a": 1}', "")
    assert second.problem


def test_rubbish_after_whole_arguments_is_said_to_the_model() -> None:
    message = answer(entry('{"a": 1}', name="get", index=0), entry("rubbish", index=0))
    assert message.calls[0].problem


def test_arguments_nested_without_end_are_a_problem_and_no_crash() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    message = answer(choice(tool_calls=[{"function": {"name": "get", "arguments": {"a": value}}}]))
    assert message.calls[0].problem


def test_fields_inside_a_function_go_back_too() -> None:
    function = {"name": "get", "arguments": "{}", "signature": "s"}
    message = answer(choice(tool_calls=[{"function": function}]))
    assert message.calls[0].extra == {"function": {"signature": "s"}}


def test_unknown_fields_are_put_together_from_their_pieces() -> None:
    message = answer(
        choice(note="a", deep={"x": "1"}, seen=1),
        choice(note="b", deep={"x": "2", "y": 1}, seen=2, content="text"),
    )
    assert message.extra == {"note": "ab", "deep": {"x": "12", "y": 1}, "seen": 2}


def test_content_in_parts_is_text_and_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        "a ",
        {"type": "text", "text": "word"},
        {"type": "image"},
        7,
    ]
    message = answer(choice(content=parts), {"choices": {"delta": {"content": {"text": "!"}}}})
    assert (message.text, message.reasoning) == ("a word!", "hm")
    assert message.extra == {}


MEGABYTE = b"x" * (1 << 20)


def feed_often(reader: EventReader | AnswerReader, piece: bytes) -> None:
    for _ in range(70):
        reader.feed(piece)


def test_an_endless_line_or_event_is_given_up() -> None:
    with pytest.raises(Unreadable):
        feed_often(EventReader(), MEGABYTE)
    with pytest.raises(Unreadable):
        feed_often(EventReader(), b"data: {" + MEGABYTE + b"\n")
    with pytest.raises(Fault, match="endless") as caught:
        feed_often(AnswerReader(OFFER, PLACE), b"{" + MEGABYTE)
    assert not caught.value.again


def test_an_object_over_lines_that_end_in_braces_is_one_event() -> None:
    reader = EventReader()
    assert reader.feed(b'data: {"a": {}\ndata: , "b": {"c": 1}\ndata: {not an event}\ndata:}') == []
    with pytest.raises(Unreadable):
        reader.feed(b"\n\n")
    assert reader.feed(b'data: {"a": {}\ndata: , "b": 1}\n\n') == [{"a": {}, "b": 1}]


def test_an_event_that_is_broken_off_by_another_is_not_passed_over() -> None:
    reader = EventReader()
    with pytest.raises(Unreadable):
        reader.feed(b'data: {"choices": [\ndata: {"choices": []}\n\n')


def read_whole(body: bytes) -> Assistant:
    reader = AnswerReader(OFFER, PLACE)
    reader.feed(body)
    return reader.end()[1]


@pytest.mark.parametrize(
    "body",
    [b'[{"error": {"message": "boom"}}]', b'data: [{"error": {"message": "boom"}}]\n\n'],
)
def test_an_error_in_a_list_is_an_error(body: bytes) -> None:
    with pytest.raises(Fault, match="boom"):
        read_whole(body)


def test_no_call_of_a_message_that_hit_the_limit_can_run_not_even_a_whole_one() -> None:
    message = answer(choice(**call('{"a": 1}')), choice("length"))
    assert (message.stop, message.calls[0].problem, message.calls[0].arguments) == (
        "length",
        CUT,
        "{}",
    )


def test_a_cut_at_the_cap_is_seen_though_the_server_says_tool_calls() -> None:
    usage = {"usage": {"completion_tokens": 100}}
    offer = Offer("m", OFFER.tools, None, 100)
    message = answer(choice(**call('{"a": "b')), choice("tool_calls"), usage, offer=offer)
    assert (message.stop, message.calls[0].problem) == ("length", CUT)


def test_whole_calls_at_the_cap_are_kept() -> None:
    usage = {"usage": {"completion_tokens": 100}}
    offer = Offer("m", OFFER.tools, None, 100)
    message = answer(choice(**call('{"a": 1}')), choice("tool_calls"), usage, offer=offer)
    assert (message.stop, message.calls[0].problem) == ("calls", "")


def test_calls_count_whatever_the_server_says_at_the_end() -> None:
    assert answer(choice(**call("{}")), choice("stop")).stop == "calls"


def test_cut_arguments_of_a_tool_that_writes_are_never_repaired() -> None:
    message = answer(choice(**call("{'path': 'a',}", "write")), choice("tool_calls"))
    assert message.calls[0].problem
    assert not answer(choice(**call("{'path': 'a',}")), choice("tool_calls")).calls[0].problem


def test_fields_that_must_be_sent_back_are_kept_with_call_and_message() -> None:
    google = {"google": {"thought_signature": "s"}}
    entry = {"id": "a", "index": 0, "function": {"name": "get", "arguments": "{}"}}
    message = answer(
        choice(reasoning_content="be"),
        choice(reasoning_content="cause", reasoning="because"),
        choice(tool_calls=[{**entry, "extra_content": google}], extra_content=google),
        choice("tool_calls"),
    )
    assert message.calls[0].extra == {"extra_content": google}
    assert message.extra == {"reasoning_content": "because", "extra_content": google}
    assert message.reasoning == "because"


def test_pieces_of_one_block_of_reasoning_details_become_one() -> None:
    piece = {"type": "reasoning.text", "index": 0, "text": "a", "signature": None}
    last = {"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}
    message = answer(
        choice(reasoning_details=[piece]), choice(reasoning_details=[last], content="x")
    )
    assert message.extra["reasoning_details"] == [{**last, "text": "ab"}]


def test_refusals_and_filters_are_shown_as_what_they_are() -> None:
    refused = answer(choice(refusal="I can"), choice(refusal="not."), choice("stop"))
    assert (refused.stop, refused.text) == ("refusal", "I cannot.")
    withheld = answer(choice(content=""), choice("content_filter"))
    assert withheld.stop == "filter"
    assert "filter" in withheld.text


def test_a_call_written_into_the_text_is_marked_as_such_and_the_text_around_is_kept() -> None:
    text = 'I look.\n```json\n{"name": "get", "arguments": {"a": 1}}\n```'
    message = answer(choice(content=text), choice("stop"))
    assert (message.text, message.stop) == ("I look.", "calls")
    assert (message.calls[0].name, message.calls[0].written) == ("get", True)


def test_a_call_written_into_a_cut_text_is_none() -> None:
    text = '{"name": "get", "arguments": {"a": 1}}'
    assert answer(choice(content=text), choice("length")).calls == ()


def test_usage_is_read_by_every_name_servers_use() -> None:
    openai = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    usage = answer(choice(content="x"), {"choices": [], "usage": openai}).usage
    assert (usage.input, usage.output, usage.cached, usage.reasoning) == (10, 5, 4, 3)
    deepseek = {"input_tokens": 10, "output_tokens": 5, "prompt_cache_hit_tokens": 4}
    usage = answer(choice(content="x"), {"choices": [], "usage": deepseek}).usage
    assert (usage.input, usage.output, usage.cached) == (10, 5, 4)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("get", "get"),
        (" get\n", "get"),
        ("functions.get", "get"),
        ("default_api.get", "get"),
        ("Get", "get"),
        ("get<|channel|>commentary", "get"),
        ("get </parameter", "get"),
        ("nope", "nope"),
        ("getx", "getx"),
        ("", ""),
    ],
)
def test_a_name_with_rubbish_around_it_is_the_tool_that_was_meant(name: str, meant: str) -> None:
    assert tool_name(name, frozenset(("get", "get_more"))) == meant


def test_names_that_were_shortened_for_the_server_come_back_whole() -> None:
    long = tool("x" * 60)
    offer = Offer("m", (long,), {"x_short": long.name})
    assert answer(choice(**call("{}", "x_short")), offer=offer).calls[0].name == long.name


def test_arguments_are_shown_while_they_come_at_a_cost_that_does_not_explode() -> None:
    assembler = Assembler(OFFER)
    assembler.feed(choice(**call('{"a": "')))
    shown = sum(
        len(delta.arguments)
        for _ in range(20_000)
        for delta in assembler.feed(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "xxxxx"}}]}}
                ]
            }
        )
        if isinstance(delta, CallDelta)
    )
    assert 100_000 < shown < 100 * 100_000


def test_what_came_in_one_piece_is_one_event() -> None:
    deltas = [
        TextDelta("a"),
        TextDelta("b"),
        CallDelta("0", "get", "{"),
        CallDelta("0", "get", "{}"),
    ]
    assert coalesced([*deltas, ReasoningDelta("x"), ReasoningDelta("y")]) == [
        TextDelta("ab"),
        CallDelta("0", "get", "{}"),
        ReasoningDelta("xy"),
    ]
