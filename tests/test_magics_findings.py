"""Findings in the hands of a user: bound by a cell, shown and narrowed down by the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import UsageProblem
from agent_magics.findings import Finding, Findings
from agent_magics.result import TurnResult
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

REVIEW = "Review my uncommitted changes.\n"


@pytest.fixture
def reviewed(shell) -> TurnResult:
    magic(shell, "use", "code-review")
    magic(shell, "agent", "allow git_diff")
    magic(shell, "agent", "allow report_findings")
    magic(shell, "agent", "--out r", REVIEW)
    return shell.user_ns["r"]


def mime(shell, value: object) -> dict[str, str]:
    return shell.display_formatter.format(value)[0]


def test_a_review_leaves_its_findings_for_the_next_cell(capsys, reviewed):
    found = reviewed.findings
    assert [f.place for f in found] == [
        "shop/prices.py:16-17",
        "shop/report.py:24",
        "shop/prices.py:14",
        "shop/prices.py:16",
    ]
    assert "return [share] * people" in found[0].code
    assert found.filter(severity="high").sorted("file", reverse=True)[0].file == "shop/report.py"
    assert "4 findings: 2 high, 2 low" in capsys.readouterr().out


def test_findings_show_as_a_table_where_html_is_shown_and_as_markdown_elsewhere(shell, reviewed):
    shown = mime(shell, reviewed.findings)
    assert shown["text/html"].count("<tr>") == 5
    assert shown["text/plain"] == str(reviewed.findings)
    assert "text/markdown" not in shown


def test_agent_last_gives_the_newest_result(shell, reviewed):
    assert magic(shell, "agent", "last") is reviewed
    shown = mime(shell, reviewed)
    assert "I would not commit this yet." in shown["text/html"]
    assert "4 findings: 2 high, 2 low" in shown["text/html"]
    assert shown["text/plain"].startswith("TurnResult(answered")


def test_agent_findings_gives_the_findings_where_there_are_no_controls(shell, reviewed):
    assert magic(shell, "agent", "findings") == reviewed.findings


def test_agent_last_without_a_turn_says_what_to_do(shell):
    with pytest.raises(UsageProblem, match="ask something in a %%agent cell first"):
        magic(shell, "agent", "last")
    with pytest.raises(UsageProblem, match="ask something in a %%agent cell first"):
        magic(shell, "agent", "findings")
    with pytest.raises(UsageProblem, match="takes no words"):
        magic(shell, "agent", "last one")


def test_a_refused_report_leaves_no_findings_and_the_model_writes_them_out(shell, capsys):
    magic(shell, "use", "code-review")
    magic(shell, "agent", "allow git_diff")
    magic(shell, "agent", "--out r", REVIEW)
    assert shell.user_ns["r"].findings == Findings()
    assert "`top_customers` returns the customers who spent *least*" in capsys.readouterr().out


def test_after_unloading_values_show_as_ipython_shows_them(shell):
    findings = Findings((Finding("a.py", 1, "low", "m"),))
    assert "text/html" in mime(shell, findings)
    agent_magics.unload_ipython_extension(shell)
    assert list(mime(shell, findings)) == ["text/plain"]


def test_a_formatter_that_the_person_put_in_place_stays(shell):
    html = shell.display_formatter.formatters["text/html"]
    html.for_type(Findings, lambda _: "mine")
    agent_magics.unload_ipython_extension(shell)
    assert mime(shell, Findings())["text/html"] == "mine"


def test_what_a_skills_tool_shows_is_freed_of_secrets(shell, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "hunter2-hunter2-hunter2")
    Path("shop/report.py").write_text("key = 'hunter2-hunter2-hunter2'\n" * 30, encoding="utf-8")
    magic(shell, "use", "code-review")
    magics = shell.magics_manager.registry["AgentMagics"]
    tool = next(tool for tool in magics.visible() if tool.name == "report_findings")
    row = {"file": "shop/report.py", "line": 3, "severity": "high", "message": "A key."}
    output = asyncio.run(tool.run({"findings": [row]}, lambda _: None))
    assert "hunter2" not in str(output.display)
    assert "key = " in str(output.display)
