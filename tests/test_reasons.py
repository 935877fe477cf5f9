"""The one line that says why something failed."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.plain import reason_of


def raised(code: str) -> str:
    try:
        exec(code, {})
    except BaseException:  # noqa: BLE001  # the text of any of them is what is tested
        return traceback.format_exc()
    raise AssertionError


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('first line\\nsecond line')", "ValueError: first line"),
        ("import json\njson.loads('x')", "json.decoder.JSONDecodeError: Expecting value"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("try:\n    1 / 0\nexcept Exception:\n    {}['a']", "KeyError: 'a'"),
        ("class Odd(Exception): pass\nraise Odd('so')", "Odd: so"),
    ],
)
def test_a_traceback_is_told_by_its_exception(code: str, reason: str) -> None:
    assert reason_of(raised(code) + "[names new: x (int)]").startswith(reason)


def test_everything_else_is_told_by_its_first_line() -> None:
    assert reason_of("\n  no such file: a\nmore\n") == "no such file: a"
    assert reason_of("Traceback (most recent call last):") == "Traceback (most recent call last):"
    assert reason_of(" \n") == ""


@given(st.text(max_size=200))
def test_a_reason_is_one_line_of_the_text(text: str) -> None:
    reason = reason_of(text)
    assert reason in text
    assert len(reason.splitlines()) <= 1
