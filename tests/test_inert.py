"""What tools of others show: what can act is left out, what says something stays."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.findings import MIME
from agent_magics.frontends.inert import HTML, SVG, TEXT, inert, inert_bundle, inert_html
from agent_magics.magics.displaying import displaying_inertly
from agent_magics.messages import Assistant, Display
from agent_magics.plain import visible
from agent_magics.tool import ToolOutput
from tests.hostile import HOSTILE, problems
from tests.turns import Scene, Spy, call, calls

PICTURE = base64.b64encode(b"\x89PNG picture").decode()
TABLE = (
    "<style>td{color:red}</style><table border=1 class=dataframe><thead><tr>"
    "<th onclick=x()>a</th></tr></thead><tbody><tr><td colspan=2 style='position:fixed'>1 &lt; 2"
    "</td></tr></tbody></table>"
)
TAGS = ("table", "div", "script", "style", "b", "a", "svg", "template", "td", "br", "p", "/p")
pieces = st.sampled_from([f"<{t}>" for t in TAGS] + [f"</{t}>" for t in TAGS]) | st.text(max_size=4)


def test_a_table_keeps_its_cells_and_their_extent_and_nothing_that_styles_or_acts():
    assert inert_html(TABLE) == (
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr>"
        '<td colspan="2">1 &lt; 2</td></tr></tbody></table>'
    )


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_no_hostile_html_is_left_active(text):
    assert problems(inert_html(text)) == []
    kept = inert_bundle({HTML: text, TEXT: text, text: text, "image/png": text}, text)
    assert set(kept) <= {HTML, TEXT, "image/png"}
    assert problems(str(kept.get(HTML, ""))) == []
    assert visible(str(kept[TEXT])) == kept[TEXT]


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=30).map("".join))
def test_whatever_is_not_closed_or_closed_twice_comes_out_whole(html):
    assert problems(inert_html(html)) == []


@pytest.mark.parametrize(
    "kind",
    [
        "application/javascript",
        "text/markdown",
        "text/latex",
        "application/vnd.vega.v5+json",
        "application/vnd.jupyter.widget-view+json",
        "application/pdf",
        "text/html; charset=utf-8",
        "TEXT/HTML",
    ],
)
def test_types_that_a_front_end_acts_on_are_left_out(kind):
    assert inert_bundle({kind: "x", TEXT: "words"}, "skill s") == {TEXT: "words"}
    assert inert_bundle({kind: "x"}, "skill s") == {TEXT: f"({kind})"}


def test_pictures_stay_where_they_are_pictures():
    assert inert_bundle({"image/png": PICTURE, HTML: "<b>x</b>"}, "s") == {
        "image/png": PICTURE,
        TEXT: "x",
    }
    assert inert_bundle({"image/png": '"><script>'}, "s") == {TEXT: "(image/png)"}


def test_a_drawing_becomes_a_picture_in_which_nothing_runs():
    kept = inert_bundle({SVG: "<svg onload='x()'><script>x()</script></svg>"}, "skill s")
    html = str(kept[HTML])
    assert html.count("<img") == 1
    assert "script" not in html
    assert "onload" not in html
    assert 'src="data:image/svg+xml;base64,' in html


def test_html_says_who_shows_it_and_its_words_are_its_plain_text():
    kept = inert_bundle({HTML: TABLE}, "skill <shop>")
    assert str(kept[HTML]).startswith("<small>shown by skill &lt;shop&gt;</small>")
    assert kept[TEXT] == "a\n1 < 2"


def test_findings_stay_as_they_are_and_so_does_all_that_is_no_bundle():
    data = {MIME: {"findings": []}}
    assert inert_bundle(data, "s") == data
    diff = Display("diff", "<b>")
    assert inert(diff, "s") is diff


@pytest.mark.parametrize("content", [None, 3, {"a": 1}, [1], [], ["<b>", "x</b>"], "x" * 400_000])
def test_any_content_of_a_type_is_taken(content):
    kept = inert_bundle({HTML: content, SVG: content, "image/png": content}, "s")
    json.dumps(kept)
    assert problems(str(kept.get(HTML, "")).partition("<img")[0]) is not None


@pytest.mark.parametrize(("skill", "left"), [("shop", False), ("", True)])
def test_the_tool_of_a_skill_shows_inertly_and_a_tool_of_ours_as_it_is(skill, left):
    bundle = Display("bundle", data={HTML: "<script>x()</script><b>3</b>"})

    async def run(_arguments, _report):
        return ToolOutput("3", (bundle,))

    tool = displaying_inertly(replace(Spy(skill=skill).tool, run=run))
    scene = Scene([calls(call("look", n=1)), Assistant("Done.")], [tool])
    shown = scene.ask().calls[0].display[0].data
    assert ("<script>" in str(shown[HTML])) is left
    assert "<b>3</b>" in str(shown[HTML])
