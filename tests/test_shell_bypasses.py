"""Rules for `run_shell` against ways around them: a table, one test for each section of it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_magics.policy import Decision, Policy, Rule
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.workspace import Workspace

TABLE = Path(__file__).with_name("shell_bypasses.txt")


@dataclass(frozen=True)
class Case:
    verdict: str
    command: str
    number: int


def sections() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    cases: list[Case] = []
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").split("\n"), start=1):
        if line.startswith("["):
            cases = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            verdict, _, command = line.partition(" ")
            if command.startswith("~") and not command.startswith("~/"):
                command = command[1:].encode("ascii").decode("unicode_escape")
            cases.append(Case(verdict, command, number))
    return found


def policy(*rules: str) -> Policy:
    made = []
    for text in rules:
        decision, _, pattern = text.partition(" ")
        word: Decision = "allow" if decision == "allow" else "ask" if decision == "ask" else "deny"
        made.append(Rule("run_shell", word, pattern))
    return Policy(tuple(made))


def repository(folder: Path) -> Workspace:
    """The workspace of the table."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name in ("src/a.py", ".env", "server.pem", "notes", "sub/x", "run.sh"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n", encoding="utf-8")
    (folder / "away").symlink_to("/etc")
    for name in ("objects", "refs"):
        (folder / "odd" / name).mkdir(parents=True)
    (folder / "odd" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (folder / "odd" / "config").write_text("[core]\n\tfsmonitor = evil\n", encoding="utf-8")
    return Workspace(lambda: folder)


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return repository(tmp_path)


def verdict(rules: Policy, command: str, space: Workspace) -> str:
    return rules.judge(run_shell_tool(space).facts({"command": command})).decision


@pytest.mark.parametrize(("rules", "cases"), sections().items(), ids=list(sections()))
def test_no_way_around_a_rule(rules, cases, space):
    made = policy(*rules.split("; "))
    judged = [(case, verdict(made, case.command, space)) for case in cases]
    wrong = [
        f"line {c.number}: {c.command!r} is {v}, not {c.verdict}"
        for c, v in judged
        if v != c.verdict
    ]
    assert not wrong, "\n".join(wrong)


def test_the_table_is_as_large_as_it_says():
    assert sum(len(cases) for cases in sections().values()) > 300
