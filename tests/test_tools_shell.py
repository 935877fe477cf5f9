"""`run_shell`: what the child gets, how it ends, what the model reads."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tools.workspace import Workspace
from tests.test_tools_kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return status in "ZX"


def test_the_output_and_the_status_are_told(kit):
    assert kit.text("run_shell", command="echo out") == "out\n[exit status 0]"
    assert kit.text("run_shell", command="true") == "(no output)\n[exit status 0]"
    failed = kit.run("run_shell", command="echo no >&2; exit 3")
    assert (failed.text, failed.ok) == ("no\n[exit status 3]", False)
    assert kit.run("run_shell", command="kill -9 $$").text.endswith("[ended by signal SIGKILL]")


def test_both_outputs_come_in_the_order_in_which_they_were_written(kit):
    command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    lines = [f"{name} {n}" for n in (1, 2, 3) for name in ("out", "err")]
    assert kit.text("run_shell", command=command).split("\n")[:-1] == lines


def test_it_runs_in_the_workspace_as_it_is_now_and_in_bash(kit, tmp_path):
    kit.root = tmp_path / "sub"
    kit.root.mkdir()
    assert kit.text("run_shell", command='pwd; [[ 1 < 2 ]] && echo "$0"').split("\n")[0] == str(
        kit.root
    )
    kit.root = tmp_path / "gone"
    assert "does not exist any more" in kit.refusal("run_shell", command="pwd")


def test_nothing_is_asked_and_no_pager_or_editor_is_opened(kit):
    assert kit.text("run_shell", command="cat; read x || echo end").startswith("end\n")
    command = "echo $PAGER $GIT_PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM; tty || true"
    assert kit.text("run_shell", command=command).split("\n")[:2] == [
        *("cat cat true 0 dumb", "not a tty"),
    ]


def test_git_opens_no_editor_and_no_pager(kit):
    git = "git -c user.name=a -c user.email=a@b commit --allow-empty"
    command = f"git init -q . && {git} -q -m one && {git} -q --amend && git log --format=%s"
    assert kit.text("run_shell", command=command, timeout=60) == "one\n[exit status 0]"


def test_secrets_are_not_in_the_childs_environment_but_the_rest_is(kit, monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "GH_PAT"):
        monkeypatch.setenv(name, "hidden-value")
    monkeypatch.setenv("MONKEYPATCHED", "kept")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "kept")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = kit.text("run_shell", command="env")
    assert "hidden-value" not in text
    assert "MONKEYPATCHED=kept" in text
    assert "TOKENIZERS_PARALLELISM=kept" in text
    assert "FORCE_COLOR" not in text
    assert f"PATH={os.environ['PATH']}" in text


def test_a_variable_is_not_passed_on_when_its_value_is_or_holds_a_secret(kit, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://bob:hunter2-is-long@db/x")
    monkeypatch.setenv("HARMLESS", "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5")
    monkeypatch.setenv("COPY_OF_IT", "sk-verysecretvalue123")
    monkeypatch.setenv("LOCAL_URL", "postgres://postgres:postgres@localhost/x")
    text = kit.text("run_shell", command="env")
    for name in ("DATABASE_URL", "HARMLESS", "COPY_OF_IT"):
        assert name not in text
    assert "LOCAL_URL=postgres://postgres:postgres@localhost/x" in text


# -- ending -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        *("sleep 60 & echo hi", "setsid sleep 60 & echo hi", "nohup sleep 60 & echo hi"),
        "(setsid sleep 60 &) ; echo hi",
    ],
)
def test_a_command_ends_with_its_own_end_and_says_what_it_left_behind(kit, command):
    """A reader that waited for the pipe's last writer would wait a minute here."""
    text = kit.text("run_shell", command=command, timeout=30)
    hi, status, left = text.split("\n")
    assert (hi, status) == ("hi", "[exit status 0]")
    assert "still running in the background" in left
    for pid in left.split(": ")[1].split(";")[0].split(", "):
        os.kill(int(pid), signal.SIGKILL)


def test_a_command_that_takes_too_long_is_ended_and_its_output_is_kept(kit):
    output = kit.run("run_shell", command="echo begun; sleep 100 & echo $!; sleep 100", timeout=1)
    begun, pid, *_, why = output.text.split("\n")
    assert not output.ok
    assert begun == "begun"
    assert why.startswith("[ended after 1 s (time-out), with all its processes.")
    until(lambda: gone(int(pid)))


def test_a_command_that_will_not_end_is_killed_with_all_it_started(kit):
    command = (
        "trap '' TERM; (trap '' TERM; setsid sleep 100 & echo $!; sleep 100) & wait; sleep 100"
    )
    output = kit.run("run_shell", command=command, timeout=1)
    until(lambda: gone(int(output.text.split("\n")[0])))


@pytest.mark.parametrize(
    "command", ["sleep 100", "setsid sleep 100 & sleep 100", "trap '' INT TERM; sleep 100"]
)
def test_an_interrupt_ends_the_command_and_all_its_processes(kit, command):
    pids = kit.root / "pids"

    full = f"echo $$ > pids; {command.replace('&', '& echo $! >> pids;')}"
    count = full.count(" pids;")

    def begun() -> bool:
        return pids.exists() and len(pids.read_text().split()) == count

    async def interrupted() -> None:
        task = asyncio.create_task(kit.tool("run_shell").run({"command": full}, kit.live.append))
        await asyncio.to_thread(until, begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    for pid in pids.read_text().split():
        until(lambda pid=pid: gone(int(pid)))


def test_an_endless_output_is_ended_before_it_fills_the_disk(kit):
    output = kit.run("run_shell", command="yes", timeout=60)
    assert "ended after 100.0 MB of output" in output.text
    assert "left out" in output.text


# -- what the model reads -----------------------------------------------------------------------


def test_a_long_output_keeps_its_head_and_tail_and_the_whole_can_be_read(kit):
    text = kit.text("run_shell", command="seq 1 20000")
    lines = text.split("\n")
    assert lines[0] == "1"
    assert lines[-3] == "20000"
    head, tail = text.split("[… ")
    assert len(text) < 31_000
    assert 3 < len(tail) / len(head) < 5
    path = lines[-2].removeprefix("[the whole output: read ").removesuffix("]")
    assert not kit.outside("read", path=path)
    assert kit.text("read", path=path, offset=10_000, limit=1).startswith("10000|10000\n")


def test_a_short_output_leaves_no_file(kit):
    kit.text("run_shell", command="echo hi")
    assert list(kit.workspace.new_output("x").parent.iterdir()) == []


def test_colours_and_overwritten_lines_are_taken_away(kit):
    command = r"printf '\033[31mred\033[0m\n 10%%\r 99%%\rdone\n\033]0;title\007x\bab\ncaf\351'"
    assert kit.text("run_shell", command=command).split("\n") == [
        *("red", "done", "ab", "caf\ufffd", "[exit status 0]"),
    ]


def test_output_is_shown_while_the_command_runs_in_whole_lines_without_secrets(kit):
    command = (
        "for i in 1 2 3; do echo line $i; printf 'sk-very'; sleep 0.3; echo secretvalue123; done"
    )
    text = kit.text("run_shell", command=command)
    assert "".join(kit.live).startswith("line 1\n")
    assert "secretvalue" not in "".join(kit.live)
    assert "[redacted MY_API_KEY]" in "".join(kit.live)
    assert text.count("[redacted MY_API_KEY]") == 3


def test_a_flood_of_output_is_shown_in_small_pieces(kit):
    kit.text("run_shell", command="for i in 1 2 3 4; do seq 1 100000; sleep 0.25; done")
    assert kit.live
    assert all(len(piece) <= 4001 for piece in kit.live)


# -- asking -------------------------------------------------------------------------------------


def test_the_person_sees_the_whole_command(kit):
    command = "echo 1\n" + "# " + "x" * 5000
    assert kit.preview("run_shell", command=command) == (Display("code", command, "bash"),)


@pytest.mark.parametrize("command", ["", "  \n ", "echo \0", "echo \ud800"])
def test_nobody_is_asked_about_a_command_that_cannot_be_given_to_a_shell(kit, command):
    with pytest.raises(ToolError, match="command"):
        kit.tool("run_shell").preview({"command": command})
    kit.refusal("run_shell", command=command)


def test_a_command_that_is_too_long_for_the_system_is_explained(kit):
    assert "belongs into a file" in kit.refusal("run_shell", command="echo " + "x" * 3_000_000)


def test_always_means_exactly_this_command_or_a_beginning_of_it(kit):
    exact, prefix, _lasting = kit.tool("run_shell").scopes({"command": "git status"})
    facts = {
        command: kit.tool("run_shell").facts({"command": command})
        for command in ("git  'status'", "git status; rm x", "git", "git status --short")
    }
    assert [c for c, f in facts.items() if exact.rule.matches(f)] == ["git  'status'"]
    wide = ["git  'status'", "git status --short"]
    assert [c for c, f in facts.items() if prefix.rule.matches(f)] == wide


@pytest.mark.parametrize("character", list("$`*?[&<>\n\r"))
def test_always_is_not_offered_for_a_command_that_can_change_its_meaning(kit, character):
    assert kit.tool("run_shell").scopes({"command": f"ls a{character}b"}) == ()


def test_a_machine_without_a_shell_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    kit = Kit(tmp_path)
    assert "no bash and no sh" in kit.refusal("run_shell", command="true")


def test_long_outputs_go_away_with_the_workspace(tmp_path):
    space = Workspace(lambda: tmp_path)
    path = space.new_output("shell")
    path.write_text("x")
    del space
    assert not path.exists()
