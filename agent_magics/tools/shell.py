"""The tool `run_shell`: one command in a shell of its own.

Owns the child's environment, the waiting (for the command's own end, never for a child that it
left behind), the live output, and what of the output the model reads. The command runs with the
user's rights; whether it may is not decided here.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from agent_magics.commandline import CommandLine
from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.blocking import in_thread
from agent_magics.tools.commands import read_command
from agent_magics.tools.commands.offers import offered_scopes
from agent_magics.tools.plain import cut, size, terminal_text
from agent_magics.tools.processes import Command, started
from agent_magics.tools.redaction import says_secret
from agent_magics.tools.sandbox import Confined
from agent_magics.tools.schemas import integer, record, string
from agent_magics.tools.scopes import lasting
from agent_magics.tools.workspace import Workspace

DEFAULT_SECONDS = 120
MAX_SECONDS = 600
"""Both as in the agents that people know (Claude Code, opencode)."""
BUDGET = 30_000
"""Characters of the output that the model reads (Claude Code, OpenHands)."""
MAX_OUTPUT = 100_000_000
"""Bytes of output after which the command is ended: no disk should fill up by mistake."""
LOADED = 2_000_000
"""Bytes of output that are cleaned whole; of a longer one, only this much at either end."""
LIVE_EVERY = 0.2
"""Seconds between two pieces of live output."""
LIVE_PIECE = 4000
"""Characters in one piece of live output; a flood shows its newest part."""

_QUIET = {
    # No pager, no editor, no question: nobody sits at the command's terminal.
    **dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER"), "cat"),
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"), "true"),
    **dict.fromkeys(("GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS"), "false"),
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PYTHONUNBUFFERED": "1",  # otherwise errors come before the lines printed earlier
    "TERM": "dumb",
    "NO_COLOR": "1",
    "LESS": "-FRX",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
}
_WAYS_OUT = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR")
"""Variables that lead to services of the user; a confined command is told of none."""
_LIMITS = "only the working folder and the folder for temporary files can be written"
_KERNELS_OWN = ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "MPLBACKEND")
"""Variables that a kernel sets for its own output and that spoil a program's."""


def run_shell_tool(workspace: Workspace) -> Tool:
    """`run_shell`: one command."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        command = _checked(arguments["command"], workspace)
        seconds = int(arguments.get("timeout", DEFAULT_SECONDS))
        return await _run(command, seconds, workspace, report)

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        code = Display("code", _checked(arguments["command"], workspace), "bash")
        state = workspace.sandbox.state(workspace.root())
        # Before the command: what stands after it could be a part of it.
        return (Display("text", f"sandbox: {state}"), code) if state else (code,)

    def commands(arguments: Arguments) -> CommandLine:
        return read_command(str(arguments["command"]), workspace)

    return Tool(
        "run_shell",
        "Run a shell command in the working folder.\n"
        "Each call is a new shell: cd and variables do not last. There is no input and no "
        "terminal. Start servers in the background with & and send their output to a file.",
        record(
            ("command",),
            command=string("The command, for bash."),
            timeout=integer("Seconds until it is ended.", 1, MAX_SECONDS, DEFAULT_SECONDS),
        ),
        "run",
        run,
        operand=lambda arguments: str(arguments["command"]),
        preview=preview,
        always=lambda arguments: lasting(
            offered_scopes(str(arguments["command"]), commands(arguments))
        ),
        commands=commands,
    )


def _checked(command: str, workspace: Workspace) -> str:
    """Refuse what no shell can be given, and what stands for a secret."""
    if not command.strip():
        raise ToolError("The command is empty.")
    try:
        encoded = command.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolError("The command holds half of a surrogate pair.") from error
    if b"\0" in encoded:
        raise ToolError("The command holds a NUL character, which no command can.")
    for mark in workspace.marks() if "[redacted" in command else ():
        if mark in command:
            raise ToolError(
                f"The command holds {mark}, which stands for a secret that you were not shown. "
                "Let the command take it from where it is."
            )
    return command


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its status, or why it was ended; empty `why` if by itself."""

    status: int | None
    why: str = ""


async def _run(command: str, seconds: int, workspace: Workspace, report: Report) -> ToolOutput:
    root = workspace.root()
    confined = workspace.sandbox.confined((_shell(), "-c", command), root, workspace.scratch)
    variables = _environment(workspace.redactor(), confined)
    path = workspace.new_output("shell")
    with path.open("xb") as output:
        running = _begun(confined.words, root, variables, output)
    ended: Ended | None = None
    try:
        with path.open("rb") as written:
            ended = await _waited(running, seconds, Live(written, report, workspace.redact))
    finally:
        if ended is None or ended.why:
            running.end()
    background = running.alive()
    text, whole = await in_thread(lambda _stop: _told(path, workspace.redact))
    if whole and not background:
        path.unlink(missing_ok=True)
    lines = [text, _status(ended)]
    if confined.works and ended.status != 0:
        lines.append(f"[in a sandbox ({confined.state}): {_LIMITS}]")
    if background:
        numbers = ", ".join(map(str, background))
        lines.append(f"[still running in the background: {numbers}; output goes to {path}]")
    return ToolOutput("\n".join(lines), ok=ended.status == 0)


def _shell() -> str:
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        raise ToolError("There is no bash and no sh on this machine; use python instead.")
    return shell


def _begun(
    words: Sequence[str], folder: Path, variables: Mapping[str, str], output: BinaryIO
) -> Command:
    try:
        return started(words, folder, variables, output)
    except OSError as error:
        raise ToolError(
            f"The command cannot be started: {error.strerror}. "
            "A long text belongs into a file (write), not into the command."
        ) from error


def _environment(redact: Callable[[str], str], confined: Confined) -> dict[str, str]:
    """The child's variables: the user's own without secrets, and quiet.

    Secrets are variables whose name says so, and those in whose value one is found.

    The one place outside `extension` that reads the environment: a child needs PATH, HOME,
    proxies and virtual environments as the user has them at that moment (`%env` changes them),
    and nothing of it decides about this package's behaviour.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _KERNELS_OWN
        and not (confined.works and name in _WAYS_OUT)
        and not says_secret(name)
        and redact(value) == value
    }
    return {**kept, **_QUIET, **confined.variables}


async def _waited(running: Command, seconds: float, live: Live) -> Ended:
    """Wait for the command's own end, with an eye on time and size."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while (status := running.process.poll()) is None:
        if time.monotonic() >= deadline:
            return Ended(None, f"ended after {seconds:g} s (time-out)")
        if live.size() > MAX_OUTPUT:
            return Ended(None, f"ended after {size(MAX_OUTPUT)} of output")
        live.send()
        await asyncio.sleep(pause)
        # Quick commands are answered at once, slow ones cost nothing.
        pause = min(pause * 1.5, 0.05)
    return Ended(status)


class Live:
    """The new part of an output file, sent on in pieces of whole lines.

    Args:
        source: The file, open for reading.
        report: Takes the pieces.
        redact: Takes secrets away; that is why only whole lines are sent.
    """

    def __init__(self, source: BinaryIO, report: Report, redact: Callable[[str], str]) -> None:
        self._source = source
        self._report = report
        self._redact = redact
        self._next = time.monotonic() + LIVE_EVERY

    def size(self) -> int:
        """Bytes of output so far."""
        return os.fstat(self._source.fileno()).st_size

    def send(self) -> None:
        """Send what is new, unless the last piece was sent a moment ago."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + LIVE_EVERY
        done = self._source.tell()
        start = max(done, self.size() - 4 * LIVE_PIECE)
        self._source.seek(start)
        new = self._source.read(4 * LIVE_PIECE)
        end = max(new.rfind(b"\n"), new.rfind(b"\r")) + 1
        self._source.seek(start + end)
        first = new.find(b"\n") + 1 if start > done else 0
        text = self._redact(terminal_text(new[first:end].decode("utf-8", "replace")))
        if text.strip():
            self._report(text[-LIVE_PIECE:].rstrip("\n") + "\n")


def _status(ended: Ended) -> str:
    if ended.status is None:
        hint = (
            " Give a longer timeout, or run it in the background."
            if "time-out" in ended.why
            else ""
        )
        return f"[{ended.why}, with all its processes.{hint}]"
    if ended.status < 0:
        with suppress(ValueError):
            return f"[ended by signal {signal.Signals(-ended.status).name}]"
        return f"[ended by signal {-ended.status}]"
    return f"[exit status {ended.status}]"


def _told(path: Path, redact: Callable[[str], str]) -> tuple[str, bool]:
    """What the model reads of an output, and whether that is all of it."""
    pieces, between = _ends(path)
    text = "".join(redact(terminal_text(piece)) for piece in pieces).strip("\n")
    if not text.strip():
        return "(no output)", True
    parts = cut(text, BUDGET)
    if parts is None:
        return text, True
    shown = replace(parts, left_out=parts.left_out + between)
    return f"{shown}\n[the whole output: read {path}]", False


def _ends(path: Path) -> tuple[list[str], int]:
    """An output's text, or both its ends if it is very long, and the bytes between them."""
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        pieces = [file.read(2 * LOADED if total <= 2 * LOADED else LOADED)]
        if total > 2 * LOADED:
            file.seek(total - LOADED)
            pieces.append(file.read(LOADED))
    return [piece.decode("utf-8", "replace") for piece in pieces], max(0, total - 2 * LOADED)
