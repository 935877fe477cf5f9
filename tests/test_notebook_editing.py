"""Changes of cells: exactly what was asked for, and not a byte besides."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.cells.editing import comparable, edited_cells
from agent_magics.tools.cells.file import notebook_text
from tests.notebookkit import code, failure, markdown, notebook, picture, stream

THREE = notebook(
    [
        markdown("# Title\nWords.", "head"),
        code("x = 1\nx", "one", [stream("hello\n")], 3),
        code("y = 2", "two", [picture()], 4),
    ]
)


def cells(text: str) -> list[dict]:
    return json.loads(text)["cells"]


def sources(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in cells(text)]


def edit(text: str, *edits: dict, **options: bool) -> str:
    return edited_cells(text, "a.ipynb", edits, **options).text


def refused(text: str, *edits: dict) -> str:
    with pytest.raises(ToolError) as caught:
        edit(text, *edits)
    return str(caught.value)


def test_a_replaced_cell_loses_its_outputs_and_count_and_the_rest_keeps_its_bytes():
    after = edit(THREE, {"do": "replace", "cell": "one", "source": "x = 10\nx"})
    assert sources(after) == ["# Title\nWords.", "x = 10\nx", "y = 2"]
    assert cells(after)[1]["outputs"] == []
    assert cells(after)[1]["execution_count"] is None
    assert cells(after)[1]["source"] == ["x = 10\n", "x"]
    before, now = THREE.split("\n"), after.split("\n")
    assert before[:9] == now[:9]
    assert before[-30:] == now[-30:]


def test_outputs_stay_where_that_is_asked_for():
    after = edit(THREE, {"do": "replace", "cell": "one", "source": "x"}, keep_outputs=True)
    assert cells(after)[1]["outputs"] == cells(THREE)[1]["outputs"]
    assert cells(after)[1]["execution_count"] == 3


def test_inserted_cells_come_in_their_order_with_ids_that_are_the_same_each_time():
    edits = (
        {"do": "insert", "source": "a", "after": "one"},
        {"do": "insert", "source": "b", "after": "one", "kind": "markdown"},
        {"do": "insert", "source": "top"},
    )
    after = edit(THREE, *edits)
    assert sources(after) == ["top", "# Title\nWords.", "x = 1\nx", "a", "b", "y = 2"]
    assert after == edit(THREE, *edits)
    assert len({cell["id"] for cell in cells(after)}) == 6
    nbformat.validate(nbformat.reads(after, as_version=4))


def test_names_mean_the_cells_as_they_were_before_the_call():
    after = edit(
        THREE,
        {"do": "delete", "cell": "#1"},
        {"do": "move", "cell": "#3"},
        {"do": "insert", "source": "new", "after": "#1"},
    )
    assert sources(after) == ["y = 2", "new", "x = 1\nx"]


def test_a_cell_of_another_kind_has_what_the_format_wants_of_it():
    after = edit(THREE, {"do": "replace", "cell": "one", "source": "# One", "kind": "markdown"})
    assert "outputs" not in cells(after)[1]
    back = edit(after, {"do": "replace", "cell": "one", "source": "1", "kind": "code"})
    assert cells(back)[1]["outputs"] == []
    nbformat.validate(json.loads(back))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"do": "delete", "cell": "three"}, "No cell has the id 'three'"),
        ({"do": "delete", "cell": "#4"}, "no cell #4: the notebook has 3"),
        ({"do": "delete", "cell": "#0"}, "no cell #0"),
        ({"do": "delete"}, "delete needs cell"),
        ({"do": "delete", "cell": "one", "source": "x"}, "delete takes no source"),
        ({"do": "insert", "cell": "one", "source": "x"}, "insert takes no cell"),
        ({"do": "replace", "cell": "one"}, "replace needs source"),
        ({"do": "move", "cell": "one", "after": "one"}, "behind itself"),
        ({"do": "replace", "cell": "one", "source": "\ud800"}, "surrogate"),
    ],
)
def test_a_change_that_cannot_be_made_says_why_and_changes_nothing(change, words):
    assert words in refused(THREE, change)
    assert "Nothing was changed." in refused(THREE, change)
    assert "change 2" in refused(THREE, {"do": "delete", "cell": "two"}, change)


def test_a_cell_is_not_changed_twice_in_one_call():
    again = {"do": "delete", "cell": "one"}
    assert "changed twice" in refused(THREE, again, {**again, "cell": "#2"})


def test_ids_that_two_cells_have_are_ambiguous_and_their_places_are_not():
    text = notebook([code("a", "same"), code("b", "same")])
    assert "2 cells have the id 'same'; name one as #1, #2" in refused(
        text, {"do": "delete", "cell": "same"}
    )
    made = edited_cells(text, "a.ipynb", [{"do": "delete", "cell": "#2"}])
    assert sources(made.text) == ["a"]
    assert made.notes == ()


def test_a_notebook_that_is_broken_stays_changeable_and_says_so():
    text = notebook([code("a", "one"), code("b", "two", [{"output_type": "odd"}])])
    made = edited_cells(text, "a.ipynb", [{"do": "replace", "cell": "one", "source": "c"}])
    assert sources(made.text) == ["c", "b"]
    assert made.notes[0].startswith("the notebook breaks the format, as it did before")


@pytest.mark.parametrize("minor", range(6))
def test_each_minor_format_stays_as_it_is(minor):
    ident = "one" if minor == 5 else ""
    text = notebook([code("a", ident)], minor)
    after = edit(text, {"do": "insert", "source": "b", "after": "#1"})
    assert json.loads(after)["nbformat_minor"] == minor
    assert ("id" in cells(after)[1]) == (minor == 5)
    nbformat.validate(json.loads(after))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read"),
        ("[]", "cannot be read"),
        ("{}", "it has no cells"),
        ('{"cells": [1]}', "cell 1 is no object"),
        ('{"cells": []', "cannot be read"),
        ('{"cells": [], "cells": []}', "two lists of cells"),
        ('{"cells": []} x', "behind its end"),
        ('{"cells": {}}', "cannot be read"),
        ('{"nbformat": 3, "worksheets": []}', "formats before 4"),
        ('{"cells": [], "nbformat": 3}', "format 3"),
        ('{"cells": ' + "[" * 100_000, "cannot be read"),
        ("{1: 2}", "cannot be read"),
    ],
)
def test_what_is_no_notebook_is_refused_in_one_line(text, words):
    said = refused(text, {"do": "insert", "source": "x"})
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "style",
    [
        {"indent": 1},
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": None},
        {"indent": None, "separators": (",", ":")},
        {"ensure_ascii": True},
    ],
)
def test_a_new_cell_is_written_as_the_file_writes_its_own(style):
    both = [code("é = 1", "one"), code("print('ü')", "two")]
    text = notebook(both, **style)
    after = edit(text, {"do": "replace", "cell": "two", "source": "print('ö')"})
    assert after == notebook([both[0], code("print('ö')", "two")], **style)
    emptied = edit(text, {"do": "delete", "cell": "one"}, {"do": "delete", "cell": "two"})
    assert cells(emptied) == []
    assert sources(edit(emptied, {"do": "insert", "source": "x"})) == ["x"]


def test_line_ends_of_windows_stay():
    text = THREE.replace("\n", "\r\n")
    after = edit(text, {"do": "insert", "source": "a\nb", "after": "two"})
    assert after.count("\n") == after.count("\r\n")
    assert sources(after)[-1] == "a\nb"


def test_the_text_for_the_diff_shows_sources_and_outputs_and_no_numbers():
    after = edit(
        THREE, {"do": "insert", "source": "a"}, {"do": "replace", "cell": "two", "source": "z"}
    )
    said = comparable(after, "a.ipynb")
    assert "--- output: image/png" in comparable(THREE, "a.ipynb")
    assert "--- output: image/png" not in said
    rows = set(comparable(THREE, "a.ipynb").split("\n"))
    assert [row for row in said.split("\n") if row not in rows][1:] == [
        "a",
        "=== cell code id=two",
        "z",
    ]
    assert "error KeyError: 'b'" in comparable(
        notebook([code("a", "one", [failure("KeyError", "'b'")])]), "a.ipynb"
    )


idents = st.lists(
    st.text("abcdefghij0123456789-_", min_size=1, max_size=8), max_size=6, unique=True
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
outputs = st.lists(
    st.builds(stream, texts) | st.builds(failure, texts, texts, texts) | st.just(picture()),
    max_size=2,
)


@st.composite
def notebooks(draw: st.DrawFn) -> str:
    made = []
    for ident in draw(idents):
        source = draw(texts)
        made.append(
            draw(
                st.just(markdown(source, ident))
                | outputs.map(lambda out, i=ident, s=source: code(s, i, out, len(out) or None))
            )
        )
    style = draw(
        st.sampled_from([{"indent": 1}, {"indent": 2}, {"indent": None}, {"indent": "\t"}])
    )
    return notebook(made, ensure_ascii=draw(st.booleans()), **style)


@st.composite
def changes(draw: st.DrawFn, count: int) -> list[dict]:
    free = draw(st.permutations(range(1, count + 1)))
    made = []
    for _ in range(draw(st.integers(1, 5))):
        after = (
            {"after": f"#{draw(st.integers(1, count))}"} if count and draw(st.booleans()) else {}
        )
        kind = draw(st.sampled_from([{}, {"kind": "code"}, {"kind": "markdown"}, {"kind": "raw"}]))
        do = draw(st.sampled_from(["insert", "replace", "delete", "move"]))
        if do == "insert" or not free:
            made.append({"do": "insert", "source": draw(texts), **kind, **after})
            continue
        cell = f"#{free.pop()}"
        match do:
            case "replace":
                made.append({"do": do, "cell": cell, "source": draw(texts), **kind})
            case "move" if after.get("after") != cell:
                made.append({"do": do, "cell": cell, **after})
            case _:
                made.append({"do": "delete", "cell": cell})
    return made


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_valid_notebook_stays_valid_and_untouched_cells_keep_their_bytes(data):
    text = data.draw(notebooks())
    before = notebook_text(text, "a.ipynb")
    edits = data.draw(changes(len(before.spots)))
    after = edited_cells(text, "a.ipynb", edits).text
    nbformat.validate(json.loads(after))
    assert {k: v for k, v in json.loads(after).items() if k != "cells"} == before.rest
    touched = {e["cell"] for e in edits if e["do"] in ("replace", "delete")}
    kept = [
        text[spot.start : spot.end]
        for number, spot in enumerate(before.spots, 1)
        if f"#{number}" not in touched
    ]
    now = notebook_text(after, "a.ipynb")
    written = [after[spot.start : spot.end] for spot in now.spots]
    for piece in kept:
        written.remove(piece)
    asked = [e["source"] for e in edits if e["do"] in ("insert", "replace")]
    assert sorted("".join(json.loads(piece)["source"]) for piece in written) == sorted(asked)


@given(st.text(max_size=60) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_no_text_breaks_the_reader(text):
    for attempt in (text, '{"cells": [' + text, '{"cells": [{"cell_type": "code"' + text):
        try:
            found = notebook_text(attempt, "a.ipynb")
        except ToolError:
            continue
        assert found.with_cells(found.spots) == attempt
