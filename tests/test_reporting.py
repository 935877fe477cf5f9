"""What was refused, told at the end: as a table, or as an error that fails the run."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest

from agent_magics.errors import UsageProblem
from agent_magics.messages import Usage
from agent_magics.result import TurnResult
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

REVIEW = "Review my uncommitted changes.\n"


def test_a_run_without_a_refusal_says_so(shell):
    assert "No call was refused" in magic(shell, "agent", "report").text
    magic(shell, "agent", "report --strict")


def test_refused_calls_of_every_session_are_listed_with_their_reason(shell):
    magic(shell, "use", "code-review")
    magic(shell, "agent", "", REVIEW)
    magic(shell, "agent", "--session other --skill code-review", REVIEW)
    text = magic(shell, "agent", "report").text
    assert "2 calls were refused" in text
    assert "git_diff" in text
    assert "other" in text
    assert "nobody could answer" in text


def test_strict_is_an_error_in_one_piece(shell):
    magic(shell, "use", "code-review")
    magic(shell, "agent", "", REVIEW)
    with pytest.raises(UsageProblem, match=r"git_diff: nobody could answer"):
        magic(shell, "agent", "report --strict")


def result(reason, **more):
    return TurnResult("", "Do it.\nNow.", "m", (), (), (), Usage(1200, 30), reason, 2, 1.0, **more)


def test_turns_without_an_answer_are_listed_and_fail_a_strict_run(shell):
    session = shell.magics_manager.registry["AgentMagics"].session
    session.ended += [result("answered"), result("limit")]
    view = magic(shell, "agent", "report")
    assert view.text.startswith("No call was refused; 1 turn ended without an answer")
    assert "turn: Do it. Now." in view.text
    assert "it came to a limit" in view.text
    with pytest.raises(UsageProblem, match="it came to a limit"):
        magic(shell, "agent", "report --strict")


def test_a_report_says_what_all_turns_used_and_what_is_known_of_the_cost(shell):
    assert "No turn has run." in magic(shell, "agent", "report").text
    session = shell.magics_manager.registry["AgentMagics"].session
    session.ended += [result("answered", cost=0.25), result("answered", cost=0.5)]
    used = "2 turns · 4 requests to m · 2.4k in / 60 out tokens · cost 0.75"
    assert magic(shell, "agent", "report").text.endswith(used)
    session.ended.append(result("answered"))
    text = magic(shell, "agent", "report").text
    assert text.endswith("cost 0.75, without 1 whose prices are not known")


def test_a_turn_is_a_line_of_the_report_until_the_kernel_ends(shell):
    magic(shell, "agent", "", "Hello.\n")
    magic(shell, "agent", "reset")
    assert "1 turn · 1 request to" in magic(shell, "agent", "report").text


def test_other_words_are_refused(shell):
    with pytest.raises(UsageProblem, match="--strict"):
        magic(shell, "agent", "report now")


@pytest.mark.kernel
@pytest.mark.parametrize(("strict", "status"), [("", 0), (" --strict", 1)])
def test_a_headless_run_fails_where_it_asks_for_it(home, tmp_path, strict, status):
    cells = ["%load_ext agent_magics", "%use code-review", f"%%agent\n{REVIEW}"]
    cells.append(f"%agent report{strict}")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, "run.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "run.ipynb"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode != 0) == bool(status), done.stderr[-2000:]
    if status:
        assert "git_diff" in done.stderr
