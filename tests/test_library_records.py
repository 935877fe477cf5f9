"""Records (TypedDict, dataclass) as types of a skill's parameters: schema and values."""

from __future__ import annotations

import asyncio
import sys

import pytest

from agent_magics.errors import ToolError
from agent_magics.tool import Tool
from agent_magics.tools.checking import check
from tests.test_library_bundled import call, load, refusal, state

TYPED = '''
from __future__ import annotations
from typing import Annotated, Literal, NotRequired, TypedDict

class Where(TypedDict):
    file: str
    line: int | str

class Note(TypedDict, total=False):
    """A note.

    Args:
        text: What it says,
            over two lines.
        level: How loud.
    """
    text: Annotated[str, "hidden by the docstring"]
    level: Literal["a", "b"]
    where: Where
    tags: Annotated[list[str], "Words."]

class Half(TypedDict):
    must: str
    may: NotRequired[int]

def notes(notes: list[Note], half: Half = {}) -> str:
    """Take notes.

    Args:
        notes: All of them.
    """
    return f"{notes} {half}"
'''
WHERE = {
    "type": "object",
    "properties": {
        "file": {"type": "string"},
        "line": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    },
    "required": ["file", "line"],
}


def test_a_list_of_typed_dictionaries_is_an_array_of_described_objects(tmp_path):
    properties = load(tmp_path, TYPED)["notes"].parameters["properties"]
    assert properties["notes"] == {
        "type": "array",
        "description": "All of them.",
        "items": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What it says, over two lines."},
                "level": {"type": "string", "enum": ["a", "b"], "description": "How loud."},
                "where": WHERE,
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Words.",
                },
            },
        },
    }
    assert properties["half"]["required"] == ["must"]
    assert properties["half"]["default"] == {}


def test_the_schema_of_records_is_one_that_calls_are_checked_against(tmp_path):
    schema = load(tmp_path, TYPED)["notes"].parameters
    assert check(schema, {"notes": [{"text": "x", "where": {"file": "a", "line": "3"}}]}) == ""
    assert check(schema, {"notes": [{"more": 1}]}) == ""
    assert "notes[0].where.line is missing" in check(schema, {"notes": [{"where": {"file": "a"}}]})
    assert "notes[0].level" in check(schema, {"notes": [{"level": "c"}]})


def test_typed_dictionaries_reach_the_function_as_they_came(tmp_path):
    tool = load(tmp_path, TYPED)["notes"]
    assert call(tool, notes=[{"text": "x", "more": 1}]) == "[{'text': 'x', 'more': 1}] {}"


MADE = '''
from __future__ import annotations
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Optional, TypedDict

@dataclass(frozen=True)
class Point:
    """A point.

    Attributes:
        x: To the right.
    """
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    sum: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")

class Named(TypedDict):
    points: Sequence[Point]

@dataclass
class Circle:
    centre: Annotated[Point, "Where."]
    radius: float

def draw(
    one: Point,
    more: list[Point] = [],
    by_name: Mapping[str, Point] = {},
    maybe: Optional[Point] = None,
    named: Named | None = None,
    shape: Circle | Point | Literal["all"] | list[int] | None = None,
) -> str:
    """Draw."""
    return repr((one, more, by_name, maybe, named, shape))

def first(one: Point, /) -> str:
    """First."""
    return repr(one)
'''


@pytest.fixture
def draw(tmp_path) -> Tool:
    return load(tmp_path, MADE)["draw"]


def test_a_dataclass_is_a_closed_object_with_its_defaults(draw):
    assert draw.parameters["properties"]["one"] == {
        "type": "object",
        "properties": {
            "x": {"type": "integer", "description": "To the right."},
            "y": {"type": "integer", "default": 0},
            "names": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["x"],
        "additionalProperties": False,
    }
    assert "one.z is unknown" in check(draw.parameters, {"one": {"x": 1, "z": 1}})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "Point(x=1, y=0, names=[], sum=0), [], {}, None, None, None"),
        ({"more": [{"x": 2, "y": 3}]}, "[Point(x=2, y=3, names=[], sum=0)]"),
        ({"by_name": {"a": {"x": 2}}}, "{'a': Point(x=2, y=0, names=[], sum=0)}"),
        ({"maybe": {"x": 2, "names": ["b"]}}, "Point(x=2, y=0, names=['b'], sum=0), None, None"),
        ({"maybe": None}, "{}, None, None, None"),
        ({"named": {"points": [{"x": 2}]}}, "{'points': [Point(x=2, y=0, names=[], sum=0)]}"),
        (
            {"shape": {"centre": {"x": 2}, "radius": 1.5}},
            "Circle(centre=Point(x=2, y=0, names=[], sum=0), radius=1.5)",
        ),
        ({"shape": {"x": 3}}, "None, None, Point(x=3, y=0, names=[], sum=0))"),
        ({"shape": "all"}, "None, 'all')"),
        ({"shape": [1]}, "None, [1])"),
        ({"shape": {"neither": 1}}, "None, {'neither': 1})"),
    ],
)
def test_dataclasses_are_made_wherever_they_stand(draw, arguments, text):
    assert text in call(draw, one={"x": 1}, **arguments)


def test_a_record_without_a_name_at_the_call_is_made_too(tmp_path):
    tool = load(tmp_path, MADE)["first"]
    assert call(tool, one={"x": 1}) == "Point(x=1, y=0, names=[], sum=0)"


def test_what_a_class_says_of_its_values_is_for_the_model(draw):
    with pytest.raises(ToolError, match=r"ValueError: x is negative \(tools.py:\d+\)"):
        asyncio.run(draw.run({"one": {"x": -1}}, lambda _: None))


def test_records_may_come_from_a_file_beside_tools_and_leave_no_trace(tmp_path):
    source = (
        "from __future__ import annotations\nfrom parts.note import Note\n"
        "def t(notes: list[Note]) -> str:\n    'T.'\n    return repr(notes[0].text)\n"
    )
    note = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from typing import Literal\n"
        "@dataclass\nclass Note:\n    text: Literal['a', 'b']\n"
    )
    before = state()
    tool = load(tmp_path, source, **{"parts__note.py": note})["t"]
    assert state() == before
    assert call(tool, notes=[{"text": "a"}]) == "'a'"
    assert not [name for name in sys.modules if name.startswith("_agent_magics_skill")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "from __future__ import annotations\nfrom typing import TypedDict\n"
            "class A(TypedDict):\n    a: Nope\ndef t(a: A) -> str:\n    'T.'\n",
            "t: the parameter a: the types of A cannot be read",
        ),
        (
            "from __future__ import annotations\nfrom typing import TypedDict\n"
            "class A(TypedDict):\n    a: list[A]\ndef t(a: A) -> str:\n    'T.'\n",
            "t: the parameter a has the type A, which contains itself",
        ),
        (
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            "@dataclass\nclass A:\n    b: B | None\n"
            "@dataclass\nclass B:\n    a: dict[str, A]\ndef t(a: list[A]) -> str:\n    'T.'\n",
            "A, which contains itself",
        ),
        (
            "from typing import TypedDict\n"
            "class A(TypedDict):\n    when: set\ndef t(a: A) -> str:\n    'T.'\n",
            "t: the parameter a: when has the type set; use str",
        ),
    ],
)
def test_a_record_that_has_no_schema_is_refused_with_the_place(tmp_path, source, message):
    assert message in refusal(tmp_path, source)
