"""Arguments of calls: what is read, what is repaired, what is refused, what is coerced."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.providers.arguments import (
    NotAnObject,
    coerced,
    is_object,
    read_arguments,
    without_surrogates,
)

SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=5)


@given(OBJECTS, st.booleans())
def test_the_text_of_an_object_comes_back_byte_for_byte(
    value: dict[str, Any], careful: bool
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert read_arguments(text, careful=careful) == text


@given(OBJECTS, st.booleans())
def test_an_object_in_place_of_a_text_is_taken(value: dict[str, Any], careful: bool) -> None:
    assert json.loads(read_arguments(value, careful=careful)) == value


@given(OBJECTS, st.data(), st.booleans())
def test_a_text_that_was_cut_is_never_completed(
    value: dict[str, Any], data: st.DataObject, careful: bool
) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    with pytest.raises(NotAnObject):
        read_arguments(cut, careful=careful)


@given(st.text(max_size=40) | VALUES, st.booleans())
def test_whatever_was_written_gives_an_object_or_a_reason(written: Any, careful: bool) -> None:
    try:
        text = read_arguments(written, careful=careful)
    except NotAnObject:
        return
    assert isinstance(json.loads(text), dict)
    text.encode()


@given(st.text(alphabet="{}[]'\",:\\ntrueNoneFals0159.-+e`<>/ \n", max_size=30))
def test_what_is_repaired_for_a_reader_says_what_the_careful_reading_says(text: str) -> None:
    try:
        careful = read_arguments(text, careful=True)
    except NotAnObject:
        return
    assert read_arguments(text, careful=False) == careful


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", {}),
        ("  \n", {}),
        ("null", {}),
        (None, {}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ('\ufeff {"a": 1} ', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ],
)
@pytest.mark.parametrize("careful", [True, False])
def test_harmless_forms_are_read_for_every_tool(written: Any, value: Any, careful: bool) -> None:
    assert json.loads(read_arguments(written, careful=careful)) == value


REPAIRS = [
    ("{'a': 1}", {"a": 1}),
    ('{"a": 1,}', {"a": 1}),
    ('{"a": [1, 2,],}', {"a": [1, 2]}),
    ("{'a': True, 'b': None, 'c': \"it's\"}", {"a": True, "b": None, "c": "it's"}),
    ("{'say': 'a \"word\" and it\\'s'}", {"say": 'a "word" and it\'s'}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('{"a": 1}</parameter>\n</tool_call>', {"a": 1}),
    ('{"a": 1}<|im_end|>', {"a": 1}),
]


@pytest.mark.parametrize(("written", "value"), REPAIRS)
def test_slips_are_repaired_for_tools_that_only_look(written: str, value: Any) -> None:
    assert json.loads(read_arguments(written, careful=False)) == value


@pytest.mark.parametrize("written", [written for written, _ in REPAIRS])
def test_nothing_is_repaired_for_tools_that_write_or_run(written: str) -> None:
    with pytest.raises(NotAnObject):
        read_arguments(written, careful=True)


@pytest.mark.parametrize(
    "written",
    [
        '{"n": 1}{"n": 2}',  # two calls in one: neither is known to be meant
        '{"path": "a.py", "content": "x = \\"hel',  # cut
        '{"path": "C:\\path\\new"}',  # `\n` could be meant as it stands
        "hello",
        "[1, 2]",
        "7",
        '{"n": NaN}',
        '{"n": 1e999}',
        "{a: 1}",
        "{'a': 'it's'}",
        '{"a": 1}}',
        "'just a text'",
        '"not an object"',
        '"[1]"',
        "[None, null]",
        '{"a":' * 400 + "1" + "}" * 400,
        "{" * 100_000,
        True,
        [{"a": 1}],
    ],
)
@pytest.mark.parametrize("careful", [True, False])
def test_what_could_mean_something_else_is_refused(written: Any, careful: bool) -> None:
    with pytest.raises(NotAnObject, match=r"nothing was executed|nested|no form"):
        read_arguments(written, careful=careful)


def test_the_model_is_told_that_its_arguments_were_cut() -> None:
    with pytest.raises(NotAnObject, match="smaller parts"):
        read_arguments('{"path": "a.py", "content": "x', careful=True)


def test_is_object_wants_a_whole_object() -> None:
    assert is_object(' {"a": {}} ')
    assert not any(map(is_object, ("", "{", "[1]", '{"a": 1', "}", '"{}"')))


@given(st.text(alphabet=st.characters(codec="utf-16", categories=["Cs", "L", "N"]), max_size=20))
def test_text_without_surrogates_can_be_encoded(text: str) -> None:
    without_surrogates(text).encode()


def test_halves_of_a_pair_are_joined_and_lone_ones_replaced() -> None:
    assert without_surrogates("\ud83d\ude00 \ud83d") == "😀 \ufffd"


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "yes": {"type": "boolean"},
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"k": {"type": "integer"}}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["string", "integer"]},
        "far": {"$ref": "#/$defs/Far"},
        "any": {},
    },
    "required": ["n"],
    "$defs": {"Far": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("given_", "got"),
    [
        ({"n": "5"}, {"n": 5}),
        ({"n": " -5 "}, {"n": -5}),
        ({"n": 5.0}, {"n": 5}),
        ({"n": "5.0"}, {"n": 5}),
        ({"x": "1.5"}, {"x": 1.5}),
        ({"yes": "True"}, {"yes": True}),
        ({"yes": "false"}, {"yes": False}),
        ({"list": '[1, "2"]'}, {"list": [1, 2]}),
        ({"inner": '{"k": "3"}'}, {"inner": {"k": 3}}),
        ({"inner": {"k": "3"}}, {"inner": {"k": 3}}),
        ({"text": 5}, {"text": "5"}),
        ({"text": True}, {"text": "true"}),
        ({"text": ["a\n", "b"]}, {"text": "a\nb"}),
        ({"text": [{"type": "text", "text": "a"}, {"text": "b"}]}, {"text": "ab"}),
        ({"maybe": "null"}, {"maybe": None}),
        ({"maybe": "7"}, {"maybe": 7}),
        ({"far": "9"}, {"far": 9}),
        ({"text": None, "n": 1}, {"n": 1}),
    ],
)
def test_one_reading_left_is_taken(given_: Any, got: Any) -> None:
    assert coerced(SCHEMA, given_) == got


@pytest.mark.parametrize(
    "given_",
    [
        {"n": "five"},
        {"n": "5.5"},
        {"n": 5.5},
        {"n": None},
        {"n": True},
        {"n": "9" * 30},
        {"x": "1e999"},
        {"yes": "maybe"},
        {"yes": 1},
        {"list": "[1, 2"},
        {"list": '{"a": 1}'},
        {"list": "a.py"},
        {"text": ["a", "b"]},  # with or without a line end in between?
        {"text": []},
        {"text": {"a": 1}},
        {"either": "5"},
        {"any": "5"},
        {"unknown": "5"},
        {"maybe": None},
    ],
)
def test_everything_else_stays_for_the_validator(given_: Any) -> None:
    assert coerced(SCHEMA, given_) == given_


def _same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(st.dictionaries(st.sampled_from(list(SCHEMA["properties"])), VALUES, max_size=5))
def test_coercion_ends_never_raises_and_never_harms_what_is_valid(value: dict[str, Any]) -> None:
    once = coerced(SCHEMA, value)
    assert _same(coerced(SCHEMA, once), once)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    if validator.is_valid(value):
        assert validator.is_valid(once)
        assert once == value


@given(VALUES, OBJECTS)
def test_odd_schemas_do_no_harm(schema: Any, value: dict[str, Any]) -> None:
    wrapped = {"type": "object", "properties": dict.fromkeys(value, schema)}
    assert isinstance(coerced(wrapped, value), dict)


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#"}}}
    assert coerced(schema, {"a": "5", "b": {"b": {"a": "1"}}}) == {"a": "5", "b": {"b": {"a": "1"}}}
