"""What code did to the names: told without running anything of the objects."""

from __future__ import annotations

import collections
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_magics.namespace.changes import changes, display_of, folded, moment, told
from agent_magics.namespace.keeping import TURNS, KeptNames
from agent_magics.namespace.looking import Look, look
from agent_magics.namespace.prints import visible_names
from agent_magics.tools.variables.cells import cell
from agent_magics.tools.variables.describing import described, listed
from tests.hostile_objects import BASES, CALLS, FACES, HOOKS, hostile_class, instance_of


class Thing:
    """A thing."""


RECIPES = st.tuples(
    st.sampled_from(BASES),
    st.sets(st.sampled_from(HOOKS)),
    st.sets(st.sampled_from(FACES)),
    st.booleans(),
    st.sampled_from(("", "numpy", "pandas", "builtins", "polars.dataframe")),
    st.integers(0, 4),
)
"""How to make a hostile object: made in the test, since hypothesis looks at what it draws."""


def hostile(recipe) -> object:
    base, hooks, faces, meta, lie, where = recipe
    cls = hostile_class(base, hooks, faces, meta=meta, lie=lie)
    value = instance_of(cls, base)
    match where:
        case 0:
            return [value, {"k": value}, (value,)]
        case 1:
            return {"k": value, 1: [value]}
        case 2:
            return cls
        case _:
            return value


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECIPES, RECIPES)
def test_no_hook_of_an_object_is_called_by_looking_comparing_or_describing(first, second):
    one, other = hostile(first), hostile(second)
    CALLS.clear()
    before = moment({"a": one, "b": other, "c": one})
    found, after = changes(before, {"a": other, "b": other, "d": one})
    KeptNames().note(None, before, after, found)
    told(found)
    display_of(found)
    for value in (one, other):
        look(value)
        cell(value)
        described("x", value)
    listed({"a": one, "b": other})
    assert CALLS == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "int"),
        ("abc", "str 3 characters"),
        ([1], "list 1 item"),
        ({1: 2, 3: 4}, "dict 2 items"),
        (collections.Counter("aab"), "collections.Counter 2 items"),
        (Thing(), "tests.Thing"),
        (b"x", "bytes 1 byte"),
        (None, "NoneType"),
        (range(10), "range 10 items"),
    ],
)
def test_an_object_is_its_type_and_its_length(value, text):
    assert str(look(value)) == text


def run(before: dict, after: dict) -> str:
    return told(changes(moment(before), after)[0])


def test_new_changed_and_deleted_names_are_told_with_their_types():
    assert run({"a": 1, "gone": []}, {"a": "x", "new": (1, 2)}) == (
        "new: new (tuple 2 items); changed: a (int → str 1 character); deleted: gone (list 0 items)"
    )


def test_an_equal_simple_value_is_no_change_and_a_nan_equals_itself():
    big = 10**30
    text = "x" * 1000
    one = {"n": big, "t": text, "f": math.nan}
    other = {"n": 10**30, "t": "x" * 1000, "f": float("nan")}
    assert run(one, other) == ""
    assert run({"n": 1}, {"n": True}) == "changed: n (int → bool)"
    assert run({"n": 0.0}, {"n": -0.0}) == "changed: n (float)"


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (list, lambda value: value.append(1)),
        (lambda: [1, 2], lambda value: value.__setitem__(0, 5)),
        (lambda: {"a": 1}, lambda value: value.update(a=2)),
        (set, lambda value: value.add(1)),
        (Thing, lambda value: setattr(value, "fitted", True)),
        (bytearray, lambda value: value.extend(b"x")),
    ],
)
def test_a_change_inside_an_object_is_seen(make, change):
    value = make()
    before = moment({"x": value})
    assert told(changes(before, {"x": value})[0]) == ""
    change(value)
    found, _ = changes(before, {"x": value})
    assert [(c.name, c.word, c.in_place) for c in found] == [("x", "changed", True)]


def test_many_names_are_counted_and_odd_names_stay_on_their_line():
    text = run({}, {f"n{i}": i for i in range(100)})
    assert text.endswith(" and 88 more")
    assert run({}, {"a\nb\x1b": 1}) == "new: a\\nb\\x1b (int)"
    assert len(run({}, {"n" * 5000: 1})) < 120


def test_private_names_and_those_of_ipython_are_left_out():
    own = object()
    names = {"_": 1, "__x": 1, "In": own, "exit": 5, "df": 1, 3: 1}
    assert visible_names(names, {"In": own, "exit": own}) == {"exit": 5, "df": 1}


def test_the_record_has_names_types_and_shapes():
    found, _ = changes(moment({"a": 1}), {"b": [1]})
    display = display_of(found)
    assert display.kind == "names"
    assert display.data == {"new": [["b", "list", "1 item"]], "deleted": [["a", "int", ""]]}


def test_several_runs_together_say_what_became_of_each_name():
    one, middle = {"gone": 1, "a": 1}, {"a": 2, "new": 1, "brief": 1}
    last = {"a": 3, "new": 2, "gone": 5}
    runs = [changes(moment(one), middle)[0], changes(moment(middle), last)[0]]
    words = folded(display_of(found) for found in runs)
    assert words == {"a": "changed", "new": "new", "gone": "changed"}


# --- giving names back -----------------------------------------------------------------------


def noted(kept: KeptNames, token: object, names: dict, code) -> None:
    before = moment(dict(names))
    code(names)
    found, after = changes(before, dict(names))
    kept.note(token, before, after, found)


def test_names_stand_for_their_earlier_objects_again():
    kept, first, second = KeptNames(), Thing(), Thing()
    names = {"a": first, "b": second, "n": 1}
    noted(kept, 1, names, lambda n: n.update(a=5, n=2, new=3))
    noted(kept, 1, names, lambda n: n.pop("b"))
    noted(kept, 1, names, lambda n: n.update(a=6))
    undone = kept.undo(names)
    assert undone is not None
    assert undone.restored == ("n", "a", "b") or set(undone.restored) == {"a", "b", "n"}
    assert undone.new == ("new",)
    assert names["a"] is first
    assert names["b"] is second
    assert names["n"] == 1
    assert names["new"] == 3
    assert kept.undo(names) is None


def test_what_the_person_set_since_is_left_alone():
    kept = KeptNames()
    names: dict = {"a": [1], "b": [2], "c": [3]}
    noted(kept, 1, names, lambda n: (n.update(a=[9]), n.pop("b"), n.update(c=[8])))
    names["a"], names["b"] = "mine", "mine too"
    undone = kept.undo(names)
    assert (undone.restored, set(undone.rebound)) == (("c",), {"a", "b"})
    assert names == {"a": "mine", "b": "mine too", "c": [3]}


def test_what_was_changed_inside_is_said_and_not_undone():
    kept, names = KeptNames(), {"a": [1]}
    noted(kept, 1, names, lambda n: n["a"].append(2))
    undone = kept.undo(names)
    assert (undone.restored, undone.in_place) == ((), ("a",))
    assert names == {"a": [1, 2]}


def test_only_the_newest_turns_are_kept():
    kept, names = KeptNames(), {"a": Thing()}
    for turn in range(TURNS + 2):
        noted(kept, turn, names, lambda n: n.update(a=Thing()))
    assert [kept.undo(names) is not None for _ in range(TURNS + 1)] == [True] * TURNS + [False]


def test_an_object_that_is_too_large_is_not_kept_alive(monkeypatch):
    numpy = pytest.importorskip("numpy")
    monkeypatch.setattr("agent_magics.namespace.changes.KEPT_BYTES", 1000)
    kept, names = KeptNames(), {"a": numpy.zeros(1000), "small": numpy.zeros(3)}
    noted(kept, 1, names, lambda n: n.update(a=1, small=2))
    undone = kept.undo(names)
    assert (undone.restored, undone.too_large) == (("small",), ("a",))


# --- data libraries --------------------------------------------------------------------------


def test_tables_and_arrays_have_shapes_and_their_changes_are_seen():
    pd = pytest.importorskip("pandas")
    np = pytest.importorskip("numpy")
    names = {
        "df": pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        "same": pd.DataFrame({"a": [1.5]}),
        "s": pd.Series([1.0, 2.0]),
        "arr": np.arange(12).reshape(3, 4),
    }
    assert look(names["df"]) == Look("pandas.DataFrame", "2×2")
    assert look(names["arr"]) == Look("numpy.ndarray", "3×4 int64")
    before = moment(names)
    assert changes(before, names)[0] == ()
    names["df"]["a"] = names["df"]["a"] * 2
    names["s"].iloc[0] = 9
    names["arr"][0, 0] = 7
    names["df"].attrs["note"] = 1
    found = changes(before, names)[0]
    assert [(c.name, c.in_place) for c in found] == [("df", True), ("s", True), ("arr", True)]


def test_a_broken_frame_is_its_type():
    pd = pytest.importorskip("pandas")
    broken = pd.DataFrame.__new__(pd.DataFrame)
    assert str(look(broken)) == "pandas.DataFrame"
    assert changes(moment({"x": broken}), {"x": broken})[0] == ()
    assert "cannot be described" in described("x", broken)
