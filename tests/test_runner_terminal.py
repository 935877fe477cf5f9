"""IPython in a terminal, under pexpect: text as it comes, typed answers, Ctrl-C."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

import agent_magics
from agent_magics.events import (
    AnswerRestarted,
    CallFinished,
    CallProposed,
    CallStarted,
    MessageAdded,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.frontends.terminal import TerminalRenderer
from agent_magics.messages import Assistant, ToolCall, ToolResult, Usage

HERE = Path(__file__).resolve().parent
SOURCES = Path(agent_magics.__file__).resolve().parents[1]


def shown(*events, **options) -> str:
    stream = io.StringIO()
    renderer = TerminalRenderer(stream, **options)
    for event in events:
        renderer.show(event)
    renderer.close()
    return stream.getvalue()


def test_a_streamed_answer_is_printed_as_it_comes_and_once():
    stream = io.StringIO()
    renderer = TerminalRenderer(stream)
    renderer.show(TextDelta("Hel"))
    assert stream.getvalue() == "Hel"
    renderer.show(TextDelta("lo"))
    assert stream.getvalue() == "Hello"
    renderer.show(MessageAdded(Assistant("Hello")))
    renderer.close()
    assert stream.getvalue() == "Hello\n"


def test_an_answer_that_was_not_streamed_is_printed_whole():
    assert "Hello." in shown(MessageAdded(Assistant("Hello.")))


def test_what_a_model_says_cannot_steer_the_terminal_nor_pass_for_our_lines():
    text = shown(TextDelta("a\x1b[2Jb\rc\x07"), TextDelta("\u202e"), TextDelta("\n┃ Run this?"))
    assert not set("\x1b\r\x07\u202e") & set(text)
    assert "┃ Run this?" not in text


def test_parts_of_one_emoji_may_come_in_two_pieces():
    family = "👩\u200d👧"
    assert family in shown(TextDelta(family[:1]), TextDelta(family[1:]))


def test_a_call_is_a_line_when_it_starts_and_a_block_when_it_is_done():
    call = ToolCall("1", "grep", '{"pattern": "x"}')
    before = [TextDelta("Looking."), CallProposed(call, "grep x"), CallStarted(call)]
    assert shown(*before).splitlines()[0] == "Looking."
    assert "grep x" in shown(*before)
    result = ToolResult("1", "a.py:1: x")
    text = shown(*before, CallFinished(call, result, 0.2, "done"), MessageAdded(result))
    assert "a.py:1: x" in text
    assert "\x1b" not in text


def test_a_turn_ends_with_its_facts_on_a_line_of_their_own():
    text = shown(
        TurnStarted("hi", "some-model"),
        TextDelta("Hello"),
        MessageAdded(Assistant("Hello")),
        TurnEnded("answered", Usage(10, 2), 1.0, 1),
    )
    assert text.splitlines()[0] == "Hello"
    assert "some-model" in text.splitlines()[-1]
    assert text.endswith("\n")


def test_an_answer_that_is_asked_again_is_told_apart_from_the_first():
    text = shown(
        TextDelta("half"),
        AnswerRestarted("the connection broke"),
        TextDelta("whole"),
        MessageAdded(Assistant("whole")),
    )
    assert text.count("whole") == 1
    assert "the connection broke" in text


def test_a_broken_terminal_breaks_no_turn():
    class Broken(io.StringIO):
        def write(self, _text):
            raise OSError("gone")

    renderer = TerminalRenderer(Broken())
    renderer.show(TextDelta("x"))
    renderer.show(TurnEnded("answered", Usage(), 1.0, 1))


# A real terminal --------------------------------------------------------------------------------


@pytest.fixture
def terminal(tmp_path):
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SOURCES), str(HERE)]),
        "IPYTHONDIR": str(tmp_path),
        "TERM": "xterm",
    }
    command = ["-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"]
    child = pexpect.spawn(
        sys.executable, command, env=env, encoding="utf-8", timeout=30, dimensions=(50, 200)
    )
    child.expect(r"In \[1\]: ")
    child.sendline("%load_ext kernelkit_extension")
    child.expect(r"In \[2\]: ")
    child.number = 2
    yield child
    child.close(force=True)


def start(terminal, body: str) -> None:
    """Run a body as an agent cell; what is expected next must not stand in it."""
    terminal.sendline(f"get_ipython().run_cell_magic('stage', '', {body!r})")


def prompt(terminal) -> str:
    """Wait for IPython's next prompt; gives what came before it."""
    terminal.number += 1
    terminal.expect(rf"In \[{terminal.number}\]: ")
    return terminal.before.replace("\r", "")


def interrupted(terminal) -> str:
    """Press Ctrl-C until the cell has ended; gives what came before the next prompt.

    `input()` overlooks a signal that comes after it has written its prompt and before it waits; a
    person is never that fast, and a person presses again.
    """
    terminal.number += 1
    for _ in range(6):
        terminal.sendintr()
        if terminal.expect([rf"In \[{terminal.number}\]: ", pexpect.TIMEOUT], timeout=5) == 0:
            return terminal.before.replace("\r", "")
    raise AssertionError(f"the cell does not end: {terminal.before}")


@pytest.mark.terminal
def test_a_typed_yes_lets_it_run(terminal):
    start(terminal, "return told(await p.approver.ask(question(scopes=['this file'])))")
    terminal.expect(r"\+new")
    terminal.expect(r"approve\?.*\[n\]o \[reason\]: ")
    terminal.sendline("a")
    assert '[true, "typed", "", null, "this file"]' in prompt(terminal)


@pytest.mark.terminal
def test_the_end_of_input_is_a_no(terminal):
    start(terminal, "return told(await p.approver.ask(question()))")
    terminal.expect(r"approve\?.*\[n\]o \[reason\]: ")
    terminal.sendeof()
    assert '[false, "nobody"' in prompt(terminal)


@pytest.mark.terminal
@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("await p.approver.ask(question())", r"\[n\]o \[reason\]: "),
        ("p.renderer.show(TextDelta('go' + 'es'))\nawait asyncio.Event().wait()", "goes"),
        (
            'code = \'import sys; print("go" + "es", file=sys.__stdout__, flush=True)\\n'
            "while True: pass'\nawait p.kernel.run_code(code)",
            "goes",
        ),
    ],
    ids=["in a question", "while waiting", "in user code"],
)
def test_ctrl_c_ends_the_cell_and_the_next_one_works(terminal, body, sign):
    start(terminal, body)
    terminal.expect(sign)
    text = interrupted(terminal)
    assert "AgentInterrupted: stopped, the next cell can go on from here" in text
    assert "Traceback" not in text
    start(terminal, "return (await p.kernel.run_code('6 * 7')).value")
    assert "'42'" in prompt(terminal)


@pytest.mark.terminal
def test_awaited_code_uses_the_users_own_loop(terminal):
    terminal.sendline("import asyncio; queue = asyncio.Queue(); await queue.put(5)")
    prompt(terminal)
    terminal.sendline("waiting = asyncio.ensure_future(queue.get()); await asyncio.sleep(0)")
    prompt(terminal)
    start(terminal, "return (await p.kernel.run_code('await waiting')).value")
    assert "'5'" in prompt(terminal)


@pytest.mark.terminal
def test_what_is_typed_while_code_runs_is_not_its_input(terminal):
    start(terminal, "return (await p.kernel.run_code('input()')).error")
    assert "Put the value into the code" in prompt(terminal)


@pytest.mark.terminal
def test_a_script_without_a_terminal_is_refused_at_once(tmp_path):
    script = tmp_path / "run.ipy"
    script.write_text(
        "%load_ext kernelkit_extension\n"
        "get_ipython().run_cell_magic('stage', '', "
        "'print(told(await p.approver.ask(question())))')\n",
        encoding="utf-8",
    )
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SOURCES), str(HERE)]),
        "IPYTHONDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "IPython", str(script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env=env,
        check=True,
    )
    assert '[false, "nobody", "nobody can answer here: standard input is not a terminal' in (
        done.stdout
    )
