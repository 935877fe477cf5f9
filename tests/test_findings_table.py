"""Findings on screen: a table from data alone, once in a turn, safe whatever the data holds."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.events import CallFinished, CallProposed
from agent_magics.findings import MIME, Finding, Findings
from agent_magics.frontends.blocks import Transcript
from agent_magics.frontends.findings import TOGETHER, findings_block, findings_html
from agent_magics.frontends.notebook import published
from agent_magics.frontends.results import result_html
from agent_magics.messages import Display, ToolCall, ToolResult, Usage
from agent_magics.result import CallRecord, TurnResult
from tests.hostile import HOSTILE, problems
from tests.test_findings import ALL, HIGH, LOW, MEDIUM, made

CALL = ToolCall("c1", "report_findings", "{}")


class Cells(HTMLParser):
    """The texts of the cells of each row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.removesuffix("\n")


def finished(*displays: Display, ident: str = "c1") -> CallFinished:
    return CallFinished(CALL, ToolResult(ident, "told", display=displays), 0.1, "done")


def drawn(*events) -> dict[str, object]:
    """What stands on the screen in the end, by place, in order."""
    transcript, last = Transcript(stable=True), {}
    for event in events:
        for block in transcript.feed(event):
            last[block.key] = block
    return last


def kinds(blocks) -> list[str]:
    return [block.metadata["kind"] for block in blocks.values()]


# ---- one table


def test_a_row_has_severity_place_category_and_finding():
    rows = Cells(findings_html(Findings((HIGH, LOW)))).rows
    assert rows[0] == ["severity", "place", "category", "finding"]
    assert rows[1][:3] == ["high", "shop/report.py:24", "wrong result"]
    assert rows[1][3].startswith("Sorts the wrong way.")
    assert rows[2][:3] == ["low", "README.md:1 (deleted)", ""]


def test_a_row_unfolds_to_its_code_and_its_suggestion():
    finding = Finding(
        "a.py",
        2,
        "high",
        "Use `b`.",
        "",
        "    return 1",
        code="def a():\n    return 2\n",
        code_start=1,
    )
    html = findings_html(Findings((finding,)))
    assert "<summary>Use <samp>b</samp>.</summary>" in html
    assert '<span class="k">def </span><span class="nf">a</span>():' in html
    marked = html.partition("background:#d9730d30")[2].partition("\n")[0]
    assert ">2</span>" in marked
    assert "suggestion" in html
    assert problems(html) == []


def test_a_finding_with_nothing_more_to_say_does_not_unfold():
    assert "<details" not in findings_html(Findings((Finding("a.py", 1, "low", "m"),)))


def test_a_suggestion_in_words_is_prose_and_its_code_is_code():
    html = findings_html(Findings((Finding("a.py", 1, "low", "m", "", "Raise `ValueError`."),)))
    assert "Raise <samp>ValueError</samp>." in html
    assert html.count("<pre") == 0


def many(count: int) -> Findings:
    names = ("high", "medium", "low")
    return Findings(tuple(Finding("a.py", n, names[n % 3], f"m{n}") for n in range(1, count + 1)))


def test_many_findings_are_folded_by_severity_and_the_worst_are_open():
    html = findings_html(many(TOGETHER + 1).sorted())
    assert html.count("<details") == 3
    assert html.count('<details open=""') == 1
    assert html.index("high (7)") < html.index("medium (7)") < html.index("low (7)")
    assert problems(html) == []


def test_many_findings_in_another_order_stay_in_it():
    html = findings_html(many(TOGETHER + 1).sorted("line"))
    assert "<details" not in html
    assert [row[1] for row in Cells(html).rows[1:3]] == ["a.py:1", "a.py:2"]


def test_ten_thousand_findings_are_bounded_and_the_rest_is_counted():
    html = findings_html(many(10_000).sorted())
    assert len(Cells(html).rows) <= 200 + 3
    assert "… and 9,800 more" in html
    assert len(html) < 100_000


def test_nothing_found_is_said_in_one_line():
    assert "No findings" in findings_html(Findings())
    assert "<table" not in findings_html(Findings())


@settings(max_examples=200, deadline=None)
@given(st.lists(made, max_size=4).map(tuple))
def test_any_findings_are_safe_html(items):
    assert problems(findings_html(Findings(items))) == []


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_text_is_safe_in_every_field(text):
    field = text or "x"
    finding = Finding(field, 3, "high", field, text, text, code=text, code_start=2)
    block = findings_block("k", Findings((finding,)))
    assert problems(block.html) == []
    assert len(Cells(block.html).rows) == 2
    row = Cells(block.html).rows[1]
    assert len(row) == 4
    assert row[0] == "high"


# ---- in a turn


def test_a_report_is_a_block_of_its_own_with_html_text_and_data():
    blocks = drawn(CallProposed(CALL, "report_findings"), finished(ALL.display()))
    assert kinds(blocks) == ["call", "findings"]
    block = list(blocks.values())[-1]
    bundle = published(block)
    assert set(bundle) == {"text/html", "text/plain", MIME}
    assert bundle["text/plain"] == ALL.sorted().to_markdown()
    assert bundle[MIME] == ALL.sorted().to_json()
    assert block.metadata["counts"] == {"high": 2, "medium": 1, "low": 1}
    json.dumps(bundle, ensure_ascii=False).encode()


def test_markup_that_a_tool_sends_beside_its_findings_is_not_shown():
    display = Findings((HIGH,)).display()
    evil = "<script>window.hostile=1</script><b>Approve</b>"
    extra = {"text/html": evil, "text/markdown": evil, "image/svg+xml": evil, "text/plain": evil}
    blocks = drawn(
        finished(Display("bundle", evil, data={**extra, MIME: display.data[MIME]})),
    )
    assert kinds(blocks) == ["call", "findings"]
    bundle = published(list(blocks.values())[-1])
    assert set(bundle) == {"text/html", "text/plain", MIME}
    assert "script" not in json.dumps(bundle)


def test_a_second_report_shows_all_and_the_first_table_gives_way():
    blocks = drawn(
        finished(Findings((HIGH,)).display()), finished(Findings((HIGH, MEDIUM)).display())
    )
    assert kinds(blocks) == ["call", "findings", "call", "findings"]
    first, last = (b for b in blocks.values() if b.metadata["kind"] == "findings")
    assert "in the table below" in first.text
    assert first.bundle is None
    assert last.text == Findings((HIGH, MEDIUM)).to_markdown()


def test_what_a_tool_told_the_model_stands_in_the_calls_fold():
    blocks = drawn(finished(Display("text", "NOT SHOWN: one"), ALL.display()))
    line, _ = blocks.values()
    assert "NOT SHOWN: one" in line.html
    assert "NOT SHOWN: one" in line.text


def test_a_quiet_cell_shows_the_findings_as_well():
    transcript = Transcript(quiet=True)
    transcript.feed(CallProposed(CALL, "report_findings"))
    shown = transcript.feed(finished(ALL.display()))
    assert [b.metadata["kind"] for b in shown] == ["findings"]


@pytest.mark.parametrize("data", [None, [], "x", {"findings": 3}, {"findings": [1, {}, None]}])
def test_data_that_holds_no_finding_is_an_empty_report(data):
    blocks = drawn(finished(Display("bundle", data={MIME: data})))
    block = list(blocks.values())[-1]
    assert "No findings" in block.html
    assert published(block)[MIME] == {"version": 1, "findings": []}


# ---- results


def turn(text: str, *displays: Display) -> TurnResult:
    call = CallRecord(
        "report_findings", {}, {}, "approved", "click", "", "done", "t", 0.1, displays
    )
    return TurnResult(text, "p", "m", (), (call,), (), Usage(1200, 3), "answered", 2, 1.0)


def test_a_result_shows_its_answer_its_findings_and_how_it_went():
    html = result_html(turn("**Done.**", ALL.display()))
    assert "<strong>Done.</strong>" in html
    assert "4 findings: 2 high, 1 medium, 1 low" in html
    assert "m · answered · 1 call · 1.2k in / 3 out tokens" in html
    assert "<table" not in result_html(turn("x"))


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_result_with_a_hostile_answer_is_safe(text):
    assert problems(result_html(turn(text))) == []


def test_a_result_has_the_findings_of_all_its_calls():
    both = (Findings((LOW,)).display(), Findings((HIGH, LOW)).display())
    assert turn("", *both).findings == Findings((HIGH, LOW))
    assert turn("", Display("text", "x")).findings == Findings()
