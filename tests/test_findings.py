"""Findings as a value: choosing, sorting, merging, and what of them leaves as data or as text."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import UsageProblem
from agent_magics.findings import MIME, Finding, Findings, findings_of
from agent_magics.findings.finding import MAX_MESSAGE, finding_of, shortened
from agent_magics.findings.markdown import DETAILED, LISTED, code_of, language_of
from agent_magics.messages import Display
from agent_magics.plain import visible
from tests.hostile import HOSTILE

HIGH = Finding("shop/report.py", 24, "high", "Sorts the wrong way.", "wrong result", "    x = 1")
RANGE = Finding("shop/prices.py", 16, "high", "Loses cents.", "wrong result", end_line=17)
LOW = Finding("README.md", 1, "low", "Out of date.", code="# shop\n\nold", deleted=True)
MEDIUM = Finding("shop/a_b.py", 3, "medium", "Races.", "Security", "Take a lock.")
ALL = Findings((HIGH, RANGE, LOW, MEDIUM))


# ---- choosing and sorting


def test_findings_are_a_sequence():
    assert len(ALL) == 4
    assert list(ALL) == [HIGH, RANGE, LOW, MEDIUM]
    assert ALL[0] is HIGH
    assert ALL[1:3] == Findings((RANGE, LOW))
    assert HIGH in ALL
    assert not Findings()
    assert repr(ALL) == "<4 findings: 2 high, 1 medium, 1 low>"
    assert ALL.counts == {"high": 2, "medium": 1, "low": 1}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [HIGH, RANGE, LOW, MEDIUM]),
        ({"severity": "High"}, [HIGH, RANGE]),
        ({"severity": ("medium", "low")}, [LOW, MEDIUM]),
        ({"file": "shop/report.py"}, [HIGH]),
        ({"file": "*.py"}, [HIGH, RANGE, MEDIUM]),
        ({"file": "shop/*", "severity": "high"}, [HIGH, RANGE]),
        ({"category": "security"}, [MEDIUM]),
        ({"category": "wrong*"}, [HIGH, RANGE]),
        ({"contains": "LOCK"}, [MEDIUM]),
        ({"contains": "wrong way"}, [HIGH]),
        ({"file": "*.js"}, []),
    ],
)
def test_a_filter_keeps_what_fits_all_that_is_given(wanted, found):
    assert list(ALL.filter(**wanted)) == found


def test_sorting_is_by_severity_file_and_line_unless_it_says():
    assert list(ALL.sorted()) == [RANGE, HIGH, MEDIUM, LOW]
    assert list(ALL.sorted("file")) == [LOW, MEDIUM, RANGE, HIGH]
    assert list(ALL.sorted("severity", "line")) == [RANGE, HIGH, MEDIUM, LOW]
    assert list(ALL.sorted("line", reverse=True)) == [HIGH, RANGE, MEDIUM, LOW]


def test_a_severity_or_a_field_that_does_not_exist_is_said_with_those_that_do():
    with pytest.raises(UsageProblem, match="no severity 'urgent'; there are: high, medium, low"):
        ALL.filter(severity="urgent")
    with pytest.raises(UsageProblem, match="no field 'path' to sort by; there are: file, line"):
        ALL.sorted("path")


def test_what_is_reported_twice_stands_once_and_the_newer_one_counts():
    again = Finding("shop/report.py", 24, "low", "Sorts  the\nwrong way.")
    merged = Findings((HIGH,)).merged([again, MEDIUM])
    assert list(merged) == [MEDIUM, again]


# ---- as data


def test_findings_come_back_from_their_own_data():
    data = json.loads(json.dumps(ALL.to_json()))
    assert data["version"] == 1
    assert findings_of([Display("bundle", data={MIME: data})]) == ALL.sorted()


texts = st.text(max_size=20) | st.sampled_from([text for _, text in HOSTILE if len(text) < 9000])
made = st.builds(
    Finding,
    texts.filter(bool),
    st.integers(1, 10**9),
    st.sampled_from(["high", "medium", "low"]),
    texts.filter(bool),
    texts,
    texts,
    st.integers(0, 10**9),
    texts,
    st.integers(1, 10**9),
    st.booleans(),
)


@given(made)
def test_any_finding_can_be_sent_and_read_again(finding):
    text = json.dumps(finding.to_json(), ensure_ascii=False)
    once = finding_of(json.loads(text))
    assert once is not None
    sent = json.dumps(once.to_json(), ensure_ascii=False).encode()
    assert finding_of(json.loads(sent)) == once
    shown = Findings((once,)).to_markdown()
    assert visible(shown) == shown


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Finding.__dataclass_fields__, "findings", "x"]), inner)
    ),
    max_leaves=12,
)


@given(values, values)
def test_whatever_a_tool_sends_as_findings_nothing_is_raised(data, rows):
    for value in (data, {"findings": rows}, {"findings": [rows]}):
        found = findings_of([Display("bundle", data={MIME: value})])
        assert found is not None
        found.to_markdown()


@pytest.mark.parametrize(
    "change",
    [
        {"file": ""},
        {"file": None},
        {"line": 0},
        {"line": -1},
        {"line": True},
        {"line": "1"},
        {"line": 10**10},
        {"severity": "urgent"},
        {"severity": ["high"]},
        {"message": ""},
        {"message": 3},
    ],
)
def test_what_is_no_finding_is_left_out(change):
    row = {"file": "a.py", "line": 1, "severity": "low", "message": "m"}
    assert finding_of(row) == Finding("a.py", 1, "low", "m")
    assert finding_of({**row, **change}) is None


def test_displays_without_findings_have_none_and_an_empty_report_has_zero():
    assert findings_of([Display("text", "x"), Display("bundle", data={"text/html": "x"})]) is None
    assert findings_of([Findings().display()]) == Findings()


def test_a_long_text_is_cut_once_and_says_what_is_missing():
    cut = shortened("x" * 1_000_000, MAX_MESSAGE)
    assert len(cut) <= MAX_MESSAGE
    assert cut.endswith("characters cut]")
    assert shortened(cut, MAX_MESSAGE) == cut
    assert shortened("\ud800", 10) == "\\ud800"


def test_rows_are_plain_dictionaries_with_every_field():
    (row,) = Findings((RANGE,)).to_dicts()
    assert row == {
        "file": "shop/prices.py",
        "line": 16,
        "severity": "high",
        "message": "Loses cents.",
        "category": "wrong result",
        "suggestion": "",
        "end_line": 17,
        "code": "",
        "code_start": 1,
        "deleted": False,
    }


def test_a_data_frame_has_a_row_for_each_and_ordered_severities():
    pytest.importorskip("pandas")
    frame = ALL.to_dataframe()
    assert list(frame["file"]) == [f.file for f in ALL]
    assert list(frame.columns) == list(Finding.__dataclass_fields__)
    assert list(frame[frame.severity >= "medium"]["line"]) == [24, 16, 3]
    assert frame.sort_values("severity")["severity"].iloc[0] == "low"
    assert list(Findings().to_dataframe().columns) == list(frame.columns)


def test_without_pandas_the_error_says_what_to_install_and_what_else_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageProblem) as caught:
        ALL.to_dataframe()
    assert "%pip install pandas" in str(caught.value)
    assert "to_dicts()" in str(caught.value)


# ---- as text


def test_the_text_is_a_table_and_below_it_messages_code_and_suggestions():
    assert Findings((HIGH, LOW)).to_markdown() == (
        "**2 findings: 1 high, 1 low**\n"
        "\n"
        "| severity | place                   | category     | finding |\n"
        "|----------|-------------------------|--------------|---------|\n"
        "| high     | `shop/report.py:24`     | wrong result | Sorts the wrong way. |\n"
        "| low      | `README.md:1` (deleted) |              | Out of date. |\n"
        "\n"
        "**1.** high `shop/report.py:24`: Sorts the wrong way.\n"
        "\n"
        "Suggestion:\n"
        "\n"
        "```python\n"
        "    x = 1\n"
        "```\n"
        "\n"
        "**2.** low `README.md:1` (deleted): Out of date.\n"
        "\n"
        "```markdown\n"
        ">1 # shop\n"
        " 2\n"
        " 3 old\n"
        "```"
    )


def test_no_findings_is_said():
    assert str(Findings()) == "**No findings**"
    assert repr(Findings()) == "<No findings>"


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_hostile_texts_stay_in_their_cell_their_quotation_or_their_fence(text):
    if not text.strip():
        return
    finding = Finding(text, 1, "low", text, text, f"a\n{text}", code=text)
    shown = Findings((Finding("a.py", 1, "high", "m"), finding)).to_markdown()
    assert visible(shown) == shown
    table = shown.split("\n\n")[1].split("\n")
    assert len(table) == 4
    cells = [row.replace("\\|", "").count("|") for row in table]
    assert cells == [5, 5, 5, 5]
    fence = ""
    for row in shown.split("\n"):
        if row.startswith("```") and not fence:
            fence = row[: len(row) - len(row.lstrip("`"))]
        elif row == fence:
            fence = ""
        elif not fence and not row.startswith("|"):
            # Nothing of a finding begins a line but behind a mark of ours.
            assert not row or row.startswith(("**", "> ", ">", "Suggestion:"))
    assert fence == ""


def test_many_findings_are_a_table_of_bounded_length():
    many = Findings(tuple(Finding("a.py", n, "low", f"m{n}") for n in range(1, 10_001)))
    text = many.to_markdown()
    assert text.startswith("**10,000 findings: 10,000 low**")
    assert text.count("\n| low") == LISTED
    assert "… and 9,800 more." in text
    assert text.count("\n**") == DETAILED


@pytest.mark.parametrize(
    ("suggestion", "code"),
    [
        ("Add a test.", None),
        ("    return 1", "    return 1"),
        ("a = 1\nb = 2", "a = 1\nb = 2"),
        ("```python\na = 1\n```", "a = 1"),
        ("```\n```\n```", None),
        ("Do this:\n```\na\n```", None),
    ],
)
def test_a_suggestion_is_code_when_it_has_lines_an_indent_or_a_fence(suggestion, code):
    assert code_of(suggestion) == code


@pytest.mark.parametrize(
    ("file", "language"),
    [("a/b.py", "python"), ("x.TS", "ts"), ("Makefile", ""), ("a.b c", ""), ("n.ipynb", "json")],
)
def test_the_language_comes_from_the_file_name(file, language):
    assert language_of(file) == language
