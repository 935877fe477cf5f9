"""Checking arguments: what passes, and what the model reads when it does not."""

from __future__ import annotations

import subprocess
import sys

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.tools.checking import check
from agent_magics.tools.schemas import flag, integer, record, string

SCHEMA = record(
    ("path",),
    path=string("The file."),
    limit=integer("How many lines.", 1, 600, 100),
    raw=flag("As text."),
    mode={"type": "string", "enum": ["a", "b"]},
    edits={"type": "array", "minItems": 1, "items": record(("old",), old=string("What to find."))},
)


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "x"},
        {"path": "", "limit": 1, "raw": True},
        {"path": "x", "limit": 600.0, "mode": "b", "edits": [{"old": "a"}, {"old": ""}]},
    ],
)
def test_valid_arguments_have_no_problem(arguments):
    assert check(SCHEMA, arguments) == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, ["path is missing; expected string (The file.)."]),
        (
            {"path": "x", "limit": "10"},
            ['limit: got "10" (a text); expected integer from 1 to 600 (How many lines.).'],
        ),
        ({"path": "x", "limit": 0}, ["limit: got 0 (a number); expected integer from 1 to 600"]),
        ({"path": "x", "raw": "yes"}, ['raw: got "yes" (a text); expected boolean']),
        ({"path": "x", "limit": True}, ["limit: got true; expected integer"]),
        ({"path": None}, ["path: got null; expected string"]),
        ({"path": "x", "mode": "c"}, ['mode: got "c" (a text); expected one of "a", "b".']),
        ({"path": "x", "edits": []}, ["edits: got [] (a list); expected array of at least 1 item"]),
        (
            {"path": "x", "edits": [{"new": 1}]},
            ["edits[0].new is unknown.", "edits[0].old is missing"],
        ),
        (
            {"file_path": "x"},
            [
                "file_path is unknown. Did you mean path? The arguments are: path, limit",
                "path is missing",
            ],
        ),
        ({"path": "x", "lmit": 3}, ["lmit is unknown. Did you mean limit?"]),
        ({"path": "x" * 5000, "q": 1}, ["q is unknown. The arguments are"]),
    ],
)
def test_a_problem_names_the_argument_what_was_given_and_what_is_expected(arguments, said):
    text = check(SCHEMA, arguments)
    for part in said:
        assert part in text
    assert len(text) < 1000


def test_many_problems_are_counted():
    text = check(SCHEMA, {f"x{n}": n for n in range(20)})
    assert text.count("\n") == 5
    assert text.endswith("… and 16 more problems")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"type": "object", "properties": {"a": {"$ref": "https://example.invalid/schema.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}},
        {"$ref": "#"},
        {"type": "object", "required": "a"},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": []},
        {"$schema": 3, "type": "string"},
    ],
)
def test_a_foreign_schema_that_is_broken_is_a_text_and_fetches_nothing(schema):
    assert check(schema, {"a": "x"})


def test_a_schema_may_say_its_draft():
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
    limit = {**old, "properties": {"n": {"type": "number", "minimum": 3, "exclusiveMinimum": True}}}
    assert check(limit, {"n": 4}) == ""
    assert "n: " in check(limit, {"n": 3})


def test_valid_arguments_of_plain_schemas_do_not_import_jsonschema():
    code = (
        "import sys; from agent_magics.tools.checking import check; "
        "from agent_magics.tools.schemas import record, string; "
        "assert check(record(('a',), a=string('x')), {'a': 'b'}) == ''; "
        "either = {'anyOf': [{'type': 'integer'}, {'type': 'string'}]}; "
        "assert check(record(('a',), a=either), {'a': 'b'}) == ''; "
        "assert 'jsonschema' not in sys.modules; "
        "assert check(record(('a',), a=string('x')), {}); assert 'jsonschema' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-3, 3)
    | st.sampled_from(["a", "b", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)
_SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "number", "boolean", "null", "object"]),
            "enum": st.lists(_VALUES, min_size=1, max_size=3),
            "minimum": st.integers(-2, 2),
            "maximum": st.integers(-2, 2),
            "maxLength": st.integers(0, 2),
        },
    ),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.sampled_from(["object", "array", "string"])},
            optional={
                "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
                "required": st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True),
                "additionalProperties": st.booleans() | inner,
                "items": inner,
                "minItems": st.integers(0, 2),
            },
        )
        | st.fixed_dictionaries(
            {"anyOf": st.lists(inner, min_size=1, max_size=3)},
            optional={"type": st.sampled_from(["object", "string"]), "title": st.just("t")},
        )
    ),
    max_leaves=5,
)


@settings(max_examples=500, deadline=None)
@given(_SCHEMAS, st.dictionaries(st.sampled_from(["a", "b", "c"]), _VALUES, max_size=3))
def test_exactly_what_jsonschema_takes_is_taken(schema, arguments):
    valid = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert (check(schema, arguments) == "") == valid
