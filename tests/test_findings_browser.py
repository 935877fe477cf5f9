"""Findings with controls: what they leave on screen, and what they leave in the notebook."""

from __future__ import annotations

import re

import pytest

from agent_magics.findings import MIME, Finding, Findings
from agent_magics.frontends.card import WIDGET_VIEW
from agent_magics.frontends.findings_browser import FindingsBrowser
from tests.hostile import HOSTILE, problems
from tests.test_findings import ALL, HIGH, LOW, MEDIUM, RANGE


class Cell:
    """Outputs of a cell, by slot."""

    def __init__(self) -> None:
        self.shown: list[dict] = []

    def show(self, bundle, metadata=None, *, slot=""):
        self.shown.append(dict(bundle))
        return "s1"

    def replace(self, slot, bundle, metadata=None):
        assert slot == "s1"
        self.shown[-1] = dict(bundle)


@pytest.fixture
def cell() -> Cell:
    return Cell()


@pytest.fixture
def browser(cell):
    made = FindingsBrowser(ALL, cell)
    made.show()
    return made


def places(html: str) -> list[str]:
    return re.findall(r">([\w/.]+:[\d-]+)</samp>", html)


def test_the_controls_come_with_the_table_for_those_who_have_none(browser, cell):
    (bundle,) = cell.shown
    assert bundle[WIDGET_VIEW]["model_id"]
    assert bundle["text/plain"] == str(ALL.sorted())
    assert places(bundle["text/html"]) == [f.place for f in ALL.sorted()]
    assert places(browser.table.value) == [f.place for f in ALL.sorted()]


def test_each_control_narrows_or_orders_what_is_left(browser):
    browser.severity.value = ("high",)
    assert list(browser.chosen()) == [RANGE, HIGH]
    browser.file.value = "report"
    assert list(browser.chosen()) == [HIGH]
    assert places(browser.table.value) == ["shop/report.py:24"]
    browser.file.value = "*.md"
    assert "None of the findings fits" in browser.table.value
    browser.file.value = ""
    browser.severity.index = 0
    browser.contains.value = "lock"
    assert list(browser.chosen()) == [MEDIUM]
    browser.contains.value = ""
    browser.order.index = 1
    assert list(browser.chosen()) == [LOW, MEDIUM, RANGE, HIGH]


def test_a_kept_view_is_static_and_holds_what_was_chosen(browser, cell):
    browser.severity.value = ("medium",)
    browser.keep.click()
    (bundle,) = cell.shown
    assert set(bundle) == {"text/html", "text/plain", MIME}
    assert places(bundle["text/html"]) == ["shop/a_b.py:3"]
    assert browser.table.comm is None


def test_an_empty_report_is_no_miss(cell):
    assert "No findings" in FindingsBrowser(Findings(), cell).table.value


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_text_is_safe_in_the_table_too(cell, text):
    made = FindingsBrowser(Findings((Finding(text or "x", 1, "low", text or "x"),)), cell)
    made.show()
    made.contains.value = text
    assert problems(made.table.value) == []
    made.close()
