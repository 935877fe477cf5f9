"""The sandbox of shell commands: what is decided, and what a real one keeps."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.extension.config import read_configuration
from agent_magics.messages import Display
from agent_magics.tools import landlock_launcher
from agent_magics.tools.bubblewrap import Bubblewrap
from agent_magics.tools.landlock import Landlock
from agent_magics.tools.protection import secret_places
from agent_magics.tools.sandbox import (
    Bounds,
    Confinement,
    Sandbox,
    SandboxMode,
    SandboxSetting,
    strictest,
)
from agent_magics.tools.sandbox_probe import probe
from tests.test_tools_kit import Kit
from tests.test_tools_shell import gone, until

HERE = Path("/work")


@dataclass
class Fake:
    """A way to confine that says what it is told to say."""

    name: str = "fake"
    lacking: str = ""
    misfit: str = ""
    asked: list[Bounds] = field(default_factory=list)

    def missing(self) -> str:
        return self.lacking

    def unfit(self, bounds: Bounds) -> str:
        return self.misfit

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        self.asked.append(bounds)
        return ("confine", *words)

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        return {"TMPDIR": str(bounds.scratch)}

    def network(self, bounds: Bounds) -> str:
        return "with network" if bounds.network else "no network"


@dataclass
class Trials:
    """A probe that counts."""

    fault: str = ""
    seen: list[tuple[str, bool]] = field(default_factory=list)

    def __call__(self, confinement: Confinement, network: bool) -> str:
        self.seen.append((confinement.name, network))
        return self.fault


def sandbox(mode: SandboxMode, *ways: Fake, fault: str = "", network: bool = False) -> Sandbox:
    return Sandbox(lambda: SandboxSetting(mode, network), ways, Trials(fault))


def confined(it: Sandbox):
    return it.confined(("sh", "-c", "x"), HERE, lambda: HERE / "scratch")


# -- what is decided ----------------------------------------------------------------------------


def test_without_a_wish_for_a_sandbox_nothing_is_tried_and_nothing_changes():
    trials = Trials()
    it = Sandbox(lambda: SandboxSetting("off"), (Fake(),), trials)
    done = confined(it)
    assert (done.words, done.state, done.works) == (("sh", "-c", "x"), "", False)
    assert it.state(HERE) == ""
    assert trials.seen == []


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_a_sandbox_that_works_is_used_and_named(mode):
    it = sandbox(mode, Fake())
    assert confined(it).words == ("confine", "sh", "-c", "x")
    assert confined(it).works
    assert it.state(HERE) == confined(it).state == "fake, no network"


def test_the_best_way_that_works_is_taken():
    it = sandbox("auto", Fake("first", lacking="not installed"), Fake("second"))
    assert it.state(HERE) == "second, no network"


def test_with_auto_and_no_sandbox_a_command_runs_as_it_is_and_that_is_said():
    it = sandbox("auto", Fake(lacking="not installed"))
    done = confined(it)
    assert (done.words, done.works) == (("sh", "-c", "x"), False)
    assert done.state == it.state(HERE) == "not sandboxed (fake: not installed)"


def test_where_a_sandbox_is_required_and_none_works_no_command_runs():
    it = sandbox("required", Fake("a", lacking="not installed"), Fake("b"), fault="it leaks")
    with pytest.raises(ToolError, match=r"not run.*a: not installed; b: it leaks"):
        confined(it)
    assert "no command runs" in it.state(HERE)


def test_a_sandbox_that_fails_its_trial_is_never_used():
    way = Fake()
    it = sandbox("auto", way, fault="it let a file outside be written")
    assert not confined(it).works
    assert way.asked == []


def test_a_sandbox_is_tried_once_for_each_kind_of_network():
    trials, network = Trials(), [False]
    it = Sandbox(lambda: SandboxSetting("auto", network[0]), (Fake(),), trials)
    for _ in range(3):
        it.state(HERE)
        confined(it)
    network[0] = True
    it.state(HERE)
    assert trials.seen == [("fake", False), ("fake", True)]


def test_a_sandbox_that_cannot_keep_the_bounds_of_a_workspace_is_not_used_there():
    it = sandbox("required", Fake(misfit="it cannot hide .ssh in the workspace"))
    with pytest.raises(ToolError, match=r"cannot hide \.ssh"):
        confined(it)


@given(st.lists(st.sampled_from(["off", "auto", "required"]), min_size=1))
def test_the_strictest_wish_counts(modes):
    assert strictest(*modes) == next(m for m in ("required", "auto", "off") if m in modes)


# -- the settings -------------------------------------------------------------------------------


def setting(tmp_path, user="", project="", mode="", network=None) -> SandboxSetting:
    (tmp_path / "config.yaml").write_text(user, encoding="utf-8")
    (tmp_path / ".agent_magics").mkdir(exist_ok=True)
    (tmp_path / ".agent_magics" / "config.yaml").write_text(project, encoding="utf-8")
    config = read_configuration(tmp_path / "config.yaml", tmp_path)
    return config.sandbox_setting(mode, network)


@pytest.mark.parametrize(
    ("user", "project", "mode", "expected"),
    [
        ("", "", "", "off"),
        ("sandbox: auto", "", "", "auto"),
        ("sandbox: auto", "", "required", "required"),
        ("sandbox: required", "", "off", "off"),
        ("", "sandbox: required", "", "required"),
        ("sandbox: required", "sandbox: off", "", "required"),
        ("", "sandbox: auto", "off", "auto"),
        ("sandbox: auto", "sandbox: auto\nmodle: x", "", "auto"),
        ("sandbox: auto\nmodle: x", "", "", "auto"),
    ],
)
def test_the_kernels_word_goes_before_the_file_and_a_project_only_tightens(
    tmp_path, user, project, mode, expected
):
    assert setting(tmp_path, user, project, mode).mode == expected


@pytest.mark.parametrize(
    ("user", "project", "network", "expected"),
    [
        ("", "", None, False),
        ("sandbox_network: true", "", None, True),
        ("sandbox_network: true", "", False, False),
        ("", "", True, True),
        ("", "sandbox_network: true", None, False),
        ("sandbox_network: true", "sandbox_network: false", None, False),
        ("", "sandbox_network: false", True, False),
    ],
)
def test_a_project_can_close_the_network_and_not_open_it(
    tmp_path, user, project, network, expected
):
    assert setting(tmp_path, user, project, "auto", network).network is expected


def test_an_unknown_mode_is_reported_and_counts_as_the_strictest(tmp_path):
    assert setting(tmp_path, "sandbox: bwrap").mode == "required"
    problems = read_configuration(tmp_path / "config.yaml", tmp_path).problems
    assert "sandbox must be one of off, auto, required, not 'bwrap'" in problems[0]


# -- the tool -----------------------------------------------------------------------------------


def kit_with(root: Path, it: Sandbox) -> Kit:
    kit = Kit(root)
    kit.workspace.sandbox = it
    return kit


def test_the_card_says_where_a_command_runs(tmp_path):
    def card(it: Sandbox) -> list[str]:
        return [d.text for d in kit_with(tmp_path, it).preview("run_shell", command="ls")]

    assert card(sandbox("auto", Fake())) == ["sandbox: fake, no network", "ls"]
    assert card(sandbox("auto"))[0].startswith("sandbox: not sandboxed (")
    assert card(sandbox("off", Fake())) == ["ls"]


def test_a_required_sandbox_that_is_not_there_fails_the_call(tmp_path):
    kit = kit_with(tmp_path, sandbox("required", Fake(lacking="not installed")))
    assert "a sandbox is required" in kit.refusal("run_shell", command="touch ran")
    assert not (tmp_path / "ran").exists()


pytest_plugins = ["tests.shellkit_fixtures"]


def test_the_panel_says_where_commands_run(shell, home):
    def line() -> str:
        panel = str(shell.run_line_magic("agent", ""))
        return next(row for row in panel.split("\n") if row.startswith("- sandbox"))

    assert "off: shell commands are not sandboxed" in line()
    Path(".agent_magics").mkdir()
    Path(".agent_magics/config.yaml").write_text("sandbox: required\n", encoding="utf-8")
    assert any(way in line() for way in ("bubblewrap", "Landlock", "no command runs"))


# -- real ones ----------------------------------------------------------------------------------


WAYS: tuple[Confinement, ...] = (Bubblewrap(), Landlock())


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def way(request) -> Confinement:
    confinement: Confinement = request.param
    why = confinement.missing() or probe(confinement, False)
    if why:
        pytest.skip(f"no {confinement.name} here: {why}")
    return confinement


@dataclass
class Place:
    """A workspace in a real sandbox, and a home folder with secrets beside it."""

    kit: Kit
    home: Path
    way: Confinement

    def text(self, command: str, **more: object) -> str:
        return self.kit.run("run_shell", command=command, **more).text


@pytest.fixture
def place(way, tmp_path, monkeypatch) -> Iterator[Place]:
    base = tmp_path
    if tmp_path.is_relative_to("/tmp"):
        # A sandbox may have a /tmp of its own; what is to be seen must lie elsewhere.
        base = Path("/var/tmp") / f"agent_magics-test-{os.getpid()}-{tmp_path.name}"
        base.mkdir()
    home, root = base / "home", base / "work"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("private")
    (home / ".netrc").write_text("private")
    (home / "notes.txt").write_text("seen")
    root.mkdir()
    monkeypatch.setenv("HOME", str(home))
    network = [False]
    it = Sandbox(
        lambda: SandboxSetting("required", network[0]),
        (way,),
        lambda _way, _network: "",
        lambda _root: secret_places(home),
    )
    yield Place(kit_with(root, it), home, way)
    if base != tmp_path:
        subprocess.run(["rm", "-rf", str(base)], check=True)


def test_a_confined_command_writes_in_the_workspace_and_nowhere_else(place):
    assert place.text("echo x > here; mkdir -p a/b && mv here a/b/; cat a/b/here") == (
        "x\n[exit status 0]"
    )
    assert (place.kit.root / "a" / "b" / "here").read_text() == "x\n"
    text = place.text(f"echo x > {place.home}/new; echo y >> {place.home}/notes.txt")
    assert "[exit status 1]" in text
    assert "only the working folder" in text
    assert f"in a sandbox ({place.way.name}" in text
    assert not (place.home / "new").exists()
    assert (place.home / "notes.txt").read_text() == "seen"
    place.text(f"rm -rf {place.home}; mv {place.home}/notes.txt {place.home}/x; true")
    assert (place.home / "notes.txt").read_text() == "seen"


def test_a_confined_command_reads_the_disk_but_no_secrets(place):
    assert place.text("cat ~/notes.txt") == "seen\n[exit status 0]"
    for command in ("cat ~/.ssh/id_rsa", "cat ~/.netrc", "cat ~/.ssh/*", "tar cO ~/.ssh 2>&1"):
        assert "private" not in place.text(command)


def test_a_confined_command_reaches_no_port(place):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3); print('in')"
        text = place.text(f'{sys.executable} -c "{program}"')
    assert "in\n" not in text
    assert "[exit status 1]" in text


def test_temporary_files_last_from_one_confined_command_to_the_next_but_are_not_everyones(place):
    assert place.text('echo x > "$TMPDIR/kept"') == "(no output)\n[exit status 0]"
    assert place.text('cat "$TMPDIR/kept"; f=$(mktemp) && echo ok') == "x\nok\n[exit status 0]"
    assert not Path("/tmp/kept").exists()


def test_a_confined_command_sees_neither_the_kernels_environment_nor_its_services(
    place, monkeypatch
):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/somewhere/agent")
    monkeypatch.setenv("MY_SECRET", "a-value-of-the-kernel")
    text = place.text(f"env; cat /proc/{os.getpid()}/environ | tr '\\0' '\\n'")
    assert "/somewhere/agent" not in text
    assert "a-value-of-the-kernel" not in text
    assert "HOME=" in text


def test_a_confined_command_cannot_end_the_kernel(place):
    victim = subprocess.Popen(["sleep", "60"])
    try:
        if place.way.name == "Landlock" and landlock_launcher.abi() < 6:
            pytest.skip("this kernel's Landlock does not keep signals inside")
        place.text(f"kill -9 {victim.pid}")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_a_confined_command_that_takes_too_long_is_ended_with_all_its_processes(place):
    command = "trap '' TERM; (trap '' TERM; setsid sleep 100 & sleep 100) & wait; sleep 100"
    before = {p.name for p in Path("/proc").glob("[0-9]*")}
    text = place.text(f"echo begun; {command}", timeout=1)
    assert "begun\n" in text
    assert "(time-out)" in text

    def left() -> list[str]:
        new = [p for p in Path("/proc").glob("[0-9]*") if p.name not in before]
        return [p.name for p in new if b"sleep\x00100" in _bytes(p / "cmdline")]

    until(lambda: all(gone(int(pid)) for pid in left()))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_confined_commands_background_child_goes_on_and_holds_nothing_up(place):
    started = time.monotonic()
    text = place.text("(sleep 1; echo late > late.txt; echo more; sleep 60) & echo hi", timeout=30)
    assert time.monotonic() - started < 20
    assert text.startswith("hi\n[exit status 0]\n[still running in the background: ")
    pids, _, path = text.split("background: ")[1].partition("; output goes to ")
    until((place.kit.root / "late.txt").exists)
    until(lambda: "more" in Path(path.removesuffix("]")).read_text())
    for pid in pids.split(", "):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            continue


def test_an_interrupt_ends_a_confined_command(place):
    kit = place.kit

    async def interrupted() -> None:
        call = kit.tool("run_shell").run({"command": "touch on; sleep 100"}, kit.live.append)
        task = asyncio.create_task(call)
        await asyncio.to_thread(until, (kit.root / "on").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())


def test_git_works_in_a_sandbox(place):
    git = "git -c user.name=a -c user.email=a@b"
    text = place.text(
        f"git init -q . && {git} commit -q --allow-empty -m one && git log --format=%s"
    )
    assert text == "one\n[exit status 0]"


def test_what_would_run_later_outside_cannot_be_changed_in_bubblewrap(place):
    if place.way.name != "bubblewrap":
        pytest.skip("Landlock's rules only add up; the documentation says so")
    place.kit.file(".git/config", "[core]\n")
    place.kit.file(".git/hooks/x", "")
    place.kit.file(".env", "A=hidden-in-the-workspace")
    text = place.text(
        "echo x >> .git/config; echo x > .git/hooks/pre-commit; cat .env; cat sub/.env"
    )
    assert text.count("Read-only file system") == 2
    assert "hidden-in-the-workspace" not in text


def test_a_workspace_inside_a_hidden_folder_can_be_worked_in(place):
    inside = place.home / ".ssh" / "work"
    inside.mkdir()
    place.kit.root = inside
    assert place.text("echo x > y; cat y") == "x\n[exit status 0]"
    assert "private" not in place.text("cat ../id_rsa")


def test_landlock_is_not_trusted_with_a_home_folder_as_workspace(tmp_path):
    (tmp_path / ".ssh").mkdir()
    bounds = Bounds(tmp_path, tmp_path / "scratch", secret_places(tmp_path))
    assert Landlock().unfit(bounds) == "it cannot hide .ssh in the workspace"
    assert Bubblewrap().unfit(bounds) == ""


def test_a_bwrap_of_the_workspace_is_not_used(tmp_path, monkeypatch):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "workspace" in Bubblewrap().unfit(Bounds(tmp_path, tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    assert Bubblewrap().missing() == "bwrap is not installed"


class Leaky:
    """Runs the trial without any walls."""

    name = "leaky"

    def missing(self) -> str:
        return ""

    def unfit(self, bounds: Bounds) -> str:
        return ""

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        return tuple(words)

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        return {"TMPDIR": str(bounds.scratch)}

    def network(self, bounds: Bounds) -> str:
        return ""


class Broken(Leaky):
    """Ends with an error of its own."""

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        return ("sh", "-c", "echo first >&2; echo No permissions to make a namespace >&2; exit 1")


class Absent(Leaky):
    """Is not there after all."""

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        return ("/nowhere/bwrap",)


def test_the_trial_finds_a_sandbox_without_walls_and_says_why_one_is_broken():
    assert probe(Leaky(), False) == "it let a file outside be written"
    assert probe(Broken(), False) == "No permissions to make a namespace"
    assert "No such file" in probe(Absent(), False)


def test_the_launcher_runs_nothing_when_it_cannot_confine(tmp_path):
    for wanted in ("not json", "{}"):
        run = subprocess.run(
            [sys.executable, "-I", "-S", landlock_launcher.__file__, wanted, "touch", "ran"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 125
        assert "nothing was run" in run.stderr
    assert not (tmp_path / "ran").exists()


def test_what_is_readable_is_everything_but_what_is_hidden(tmp_path):
    for name in ("a/x", "a/hidden/y", "b/z", "hidden2"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a" / "link").symlink_to("hidden")
    hidden = {str(tmp_path / "a" / "hidden"), str(tmp_path / "hidden2")}
    found = sorted(landlock_launcher.readable(str(tmp_path), hidden))
    assert found == [str(tmp_path / "a" / "x"), str(tmp_path / "b")]


def test_the_command_itself_is_what_the_person_sees(place):
    displays = place.kit.preview("run_shell", command="echo 'a b'")
    assert displays == (
        Display("text", f"sandbox: {place.way.name}, no network"),
        Display("code", "echo 'a b'", "bash"),
    )
