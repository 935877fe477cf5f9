"""Texts on one line, and what is invisible made visible."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.frontends.summary import (
    code_text,
    count,
    cut,
    duration,
    printed,
    safe_line,
    visible,
)
from tests.hostile import HOSTILE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 漢\n\ttext", "plain ä 漢\n\ttext"),
        ("a\x1b[31mb\x00\x7f", "a\\x1b[31mb\\x00\\x7f"),
        ("a\r\nb\r", "a\\x0d\nb\\x0d"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\u200bb\ufeff\xad", "a\\u200bb\\ufeff\\xad"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("a\ud800", "a\\ud800"),
        ("hi\U000e0041", "hi\\U000e0041"),
        ("a\u200db \u200cx", "a\\u200db \\u200cx"),
        ("\u200d", "\\u200d"),
        ("می\u200cخ", "می\u200cخ"),
        (
            "👩\u200d👧 ❤\ufe0f ❤\ufe0f\u200d🔥 ©\ufe0f",
            "👩\u200d👧 ❤\ufe0f ❤\ufe0f\u200d🔥 ©\ufe0f",
        ),
        ("1\ufe0f\u20e3 1\ufe0fx a\ufe0f", "1\ufe0f\u20e3 1\\ufe0fx a\\ufe0f"),
        ("e" + "\u0301" * 4, "e" + "\u0301" * 4),
        ("e" + "\u0301" * 50 + "x", "e" + "\u0301" * 4 + "…x"),
    ],
)
def test_what_hides_or_steers_is_shown_and_what_scripts_need_stays(text, shown):
    assert visible(text) == shown


@settings(deadline=None)
@given(st.text() | st.sampled_from([text for _, text in HOSTILE]))
def test_a_visible_text_is_printable_and_stays_as_it_is(text):
    once = visible(text)
    assert visible(once) == once
    once.encode()
    assert not any(ord(c) < 32 and c not in "\n\t" for c in once)


@settings(deadline=None)
@given(st.text(), st.integers(1, 50))
def test_a_safe_line_is_one_line_within_its_limit(text, limit):
    line = safe_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert visible(line) == line


def test_a_safe_line_shows_line_breaks_and_where_it_was_cut():
    assert safe_line("a\nb\tc", 20) == "a\\nb\\tc"
    assert safe_line("abcdef", 6) == "abcdef"
    assert safe_line("abcdefg", 6) == "abcde…"
    assert safe_line("abcd efg", 6) == "abcd…"
    assert safe_line("\n\n\n\n", 6) == "\\n\\n\\…"


def test_output_is_shown_as_it_stood_on_the_screen():
    assert printed("\x1b[1;31mred\x1b[0m\r\n 10%\r 99%\r\nend\r") == "red\n 99%\nend"
    assert printed("\r") == ""
    assert printed("\x1b[2Jx") == "\\x1b[2Jx"


def test_a_long_text_is_cut_in_the_middle_and_says_how_much_is_missing():
    text = "\n".join(f"line {number}" for number in range(1000))
    shown = cut(text, 300)
    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("\nline 999")
    assert "characters (9" in shown
    assert len(shown) < 400
    assert cut(text, len(text)) == text


def test_a_long_line_is_cut_anywhere():
    assert cut("x" * 100, 30) == "x" * 20 + "\n[… 70 characters not shown here …]\n" + "x" * 10


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (1_234, "1.2k"),
        (9_950, "10k"),
        (12_345, "12k"),
        (999_499, "999k"),
        (999_999, "1.0M"),
        (45_000_000, "45M"),
        (-5, "-5"),
    ],
)
def test_counts_are_short(number, said):
    assert count(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.01, "0.0 s"),
        (0.34, "0.3 s"),
        (9.94, "9.9 s"),
        (9.99, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (7_380, "2 h 3 min"),
        (-1, ""),
        (math.nan, ""),
        (math.inf, ""),
    ],
)
def test_times_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said


def test_inline_code_cannot_be_closed_by_what_it_holds():
    assert code_text("a b") == "`a b`"
    assert code_text("a `b` ``") == "``` a `b` `` ```"
