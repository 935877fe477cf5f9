"""IPython in a terminal: typed approvals, Ctrl-C, completion, under a real pseudo-terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from agent_magics.quickstart import sample_repository
from tests.conftest import loading
from tests.environments import own_variables
from tests.lab_endpoint import Says

pytestmark = pytest.mark.terminal

PLAIN = ("--simple-prompt", "--no-banner", "--colors=NoColor", "--no-confirm-exit")
PROMPT = r"In \[\d+\]:"
QUESTION = r"approve\? .*\[n\]o \[reason\]: "
SETS = Says("I compute it.", (("python", {"code": "answer = 6 * 7"}),))
DONE = Says("The turn is over.")


class Terminal:
    """IPython under a pseudo-terminal."""

    def __init__(self, folder: Path, home: Path, options: tuple[str, ...]) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", *options],
            cwd=str(folder),
            env=own_variables(home) | {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            encoding="utf-8",
            timeout=20,
            dimensions=(50, 200),
            echo=False,
        )
        self.child.expect(PROMPT)

    def says(self, *lines: str) -> str:
        """Type one cell; what it prints until the next prompt."""
        self.type(*lines)
        return self.until(PROMPT)

    def type(self, *lines: str) -> None:
        """Type one cell, with the two empty lines that end a cell magic."""
        for line in (*lines, *(["", ""] if lines[0].startswith("%%") else [])):
            self.child.sendline(line)

    def until(self, pattern: str) -> str:
        """What is printed before a pattern."""
        self.child.expect(pattern)
        return str(self.child.before).replace("\r\n", "\n")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    open_ones: list[Any] = []

    def start(folder: Path = tmp_path, options: tuple[str, ...] = PLAIN) -> Terminal:
        made = Terminal(folder, tmp_path / "home", options)
        open_ones.append(made.child)
        return made

    yield start
    for child in open_ones:
        child.close(force=True)


@pytest.fixture
def ready(terminal, endpoint, model, tmp_path) -> Terminal:
    """A terminal that has loaded the extension and asks this test's model."""
    started = terminal()
    for line in loading(endpoint.url, model).splitlines():
        started.says(line)
    return started


def test_the_main_job_works_in_a_terminal(terminal, tmp_path):
    shell = terminal(sample_repository(tmp_path))
    assert "%skills, %use NAME, %%agent" in shell.says("%load_ext agent_magics")
    listed = shell.says("%skills")
    assert "explore" in listed
    assert "code-review" in listed
    assert "Loaded skill explore (built-in: ls, glob, read)" in shell.says("%use explore")
    answer = shell.says("%%agent", "What is this project, and how do its parts fit together?")
    assert "corner-shop is a small" in answer.replace("**", "")
    assert "Scripted demonstration" in answer
    loaded = shell.says("%use code-review")
    assert "code-review (bundled: git_diff, report_findings; built-in: read, glob)" in loaded
    shell.type("%%agent", "Review my uncommitted changes.")
    shell.until(QUESTION)
    shell.type("y")
    shell.until(QUESTION)
    told = shell.says("y")
    assert "4 findings: 2 high, 2 low" in told
    assert "loses cents" in told
    assert "default tools are restored" in shell.says("%unuse")
    assert re.search(r"skill +none", shell.says("%agent"))


def test_yes_runs_the_call(ready, endpoint, model):
    endpoint.script(model, SETS, DONE)
    ready.type("%%agent", "Compute the answer.")
    assert "answer = 6 * 7" in ready.until(QUESTION)
    assert "The turn is over." in ready.says("y")
    assert "42" in ready.says("answer")


def test_no_does_not_run_it_and_the_model_reads_the_reason(ready, endpoint, model):
    endpoint.script(model, SETS, DONE)
    ready.type("%%agent", "Compute the answer.")
    ready.until(QUESTION)
    assert "The turn is over." in ready.says("n use another name")
    assert "use another name" in endpoint.told(model)[0]
    assert "NameError" in ready.says("answer")


def test_edited_arguments_are_what_runs(ready, endpoint, model):
    endpoint.script(model, SETS, DONE)
    ready.type("%%agent", "Compute the answer.")
    ready.until(QUESTION)
    ready.child.sendline("e")
    ready.until("new arguments.*: ")
    assert "The turn is over." in ready.says('{"code": "answer = 7 * 7"}')
    assert "49" in ready.says("answer")


def test_always_is_not_asked_again(ready, endpoint, model):
    again = Says(calls=(("python", {"code": "answer += 1"}),))
    endpoint.script(model, SETS, again, DONE)
    ready.type("%%agent", "Compute the answer.")
    assert "python, this session" in ready.until(QUESTION) + str(ready.child.after)
    assert "The turn is over." in ready.says("a2")
    assert "43" in ready.says("answer")


def test_ctrl_c_at_the_question_ends_the_cell_and_the_next_one_works(ready, endpoint, model):
    endpoint.script(model, SETS, DONE)
    ready.type("%%agent", "Compute the answer.")
    ready.until(QUESTION)
    # `input()` overlooks a signal between its prompt and its wait; a person presses again.
    presses = 0
    while presses == 0 or ready.child.expect([PROMPT, pexpect.TIMEOUT], timeout=5) == 1:
        presses += 1
        assert presses < 7
        ready.child.sendintr()
    assert "AgentInterrupted" in ready.child.before
    assert "NameError" in ready.says("answer")
    assert "The turn is over." in ready.says("%%agent", "Go on.")


def test_ctrl_c_while_the_answer_streams_hangs_up_and_the_next_cell_works(ready, endpoint, model):
    endpoint.script(model, Says("First words. Words that never come.", hold=True), DONE)
    ready.type("%%agent", "Speak.")
    ready.until("First words")
    ready.child.sendintr()
    assert "AgentInterrupted" in ready.until(PROMPT)
    assert endpoint.hung_up(model)
    assert "2" in ready.says("1 + 1")
    assert "The turn is over." in ready.says("%%agent", "Go on.")


def test_ctrl_c_stops_code_that_the_agent_runs(ready, endpoint, model):
    endpoint.script(model, Says(calls=(("python", {"code": "while True: pass"}),)), DONE)
    ready.says("%agent allow python")
    ready.type("%%agent", "Compute for ever.")
    ready.until("while True")
    ready.child.sendintr()
    assert "AgentInterrupted" in ready.until(PROMPT)
    assert "The turn is over." in ready.says("%%agent", "Go on.")


def test_the_end_of_input_at_the_question_is_a_no(ready, endpoint, model):
    endpoint.script(model, SETS, DONE)
    ready.type("%%agent", "Compute the answer.")
    ready.until(QUESTION)
    ready.child.sendeof()
    assert "The turn is over." in ready.until(PROMPT)
    assert "not run" in endpoint.told(model)[0]


def test_a_tab_completes_the_name_of_a_skill(terminal):
    shell = terminal(options=("--no-banner", "--colors=NoColor", "--no-confirm-exit"))
    shell.type("%load_ext agent_magics")
    shell.until("%%agent")
    shell.until(PROMPT)
    shell.child.send("%use explo\t")
    shell.until("explore")
    shell.child.send("\r")
    shell.until(r"Loaded skill explore \(built-in: ls, glob, read\)")


def test_loading_and_unloading_leave_the_namespace_and_ipython_as_they_were(terminal):
    shell = terminal()
    names = "sorted(n for n in globals() if not n.startswith('_'))"
    state = (
        "(len(get_ipython().input_transformers_cleanup),"
        " len(get_ipython().Completer.custom_matchers),"
        " [c for c in get_ipython().configurables if 'agent_magics' in type(c).__module__])"
    )
    before = shell.says(f"print({names}, {state})")
    for _ in range(2):
        assert "agent_magics: skills" in shell.says("%load_ext agent_magics")
        assert "agent_magics: skills" in shell.says("%reload_ext agent_magics")
        shell.says("%unload_ext agent_magics")
        assert "not found" in shell.says("%skills")
    assert shell.says(f"print({names}, {state})") == before


def test_what_a_model_says_does_not_steer_the_terminal(ready, endpoint, model):
    endpoint.script(model, Says("A \x1b]0;title\x07 B \x1b[2J C \x9b31m D \x08\x08 E"))
    said = ready.says("%%agent", "Speak.")
    assert re.search("A .*B .*C .*D .*E", said, re.DOTALL)
    assert not re.search("\x1b|\x9b|\x07|\x08", said)


def test_nobody_is_asked_when_standard_input_is_no_terminal(endpoint, model, tmp_path):
    import subprocess

    endpoint.script(model, SETS, DONE)
    cells = [loading(endpoint.url, model), "%%agent --out result\nCompute.", "result.calls[0].by"]
    script = tmp_path / "script.ipy"
    calls = [f"get_ipython().run_cell({cell!r})" for cell in cells]
    script.write_text("\n".join(calls), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", *PLAIN, str(script)],
        cwd=tmp_path,
        env=own_variables(tmp_path / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "The turn is over." in done.stdout, done.stdout + done.stderr
    assert "'nobody'" in done.stdout
