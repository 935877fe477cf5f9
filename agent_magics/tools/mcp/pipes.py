"""A local server's process: its messages line by line, whatever else it writes.

Owns the environment it gets, the bounds on what is read of it, and its end, with all its children.
Knows lines, not what they say. Not the SDK's own transport: that one holds a line of any length,
and passes on each line that is no message as an error in the notebook.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ConfigError
from agent_magics.plain import visible
from agent_magics.tools.mcp.logfile import LogFile
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.plain import size

LONGEST = 20_000_000
"""Bytes of one message; pictures come in one line. A longer one is passed over."""
NOISE = 5_000_000
"""Bytes that are no messages, after which a server is ended."""
PIECE = 65_536
PER_PAUSE = 1_000_000
"""Bytes of log after which the reader rests, so that a flood waits instead of the kernel."""
PAUSE = 0.2
"""Seconds."""
GRACE = 2.0
"""Seconds that a server may take to end when its input ends, and then again when it is told to."""
LAST_BREATH = 0.5
"""Seconds in which a process whose output ended is expected to end, so that its status is known."""
_INHERITED = (
    # As the SDK has it; nothing with a key in it.
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"),
)


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a message that was longer than `LONGEST`."""

    length: int


class ServerProcess:
    """A running local server; made by `started`."""

    def __init__(self, process: asyncio.subprocess.Process, lifeline: int, log: LogFile) -> None:
        self._process = process
        self._lifeline = lifeline
        self.log = log
        self._logging = asyncio.create_task(self._keep_log())
        self.quiet = asyncio.Event()
        """Set when its output has ended."""
        self.ended_for = ""
        """Why it was ended by us, if it was."""

    @property
    def status(self) -> int | None:
        """How it ended; None: it runs."""
        return self._process.returncode

    def told_end(self) -> str:
        """How it ended, in words."""
        if self.ended_for:
            return self.ended_for
        if self.status is None:
            return "it closed its output"
        name = f"exit status {self.status}"
        if self.status < 0 or self.status > 128:
            with suppress(ValueError):
                number = -self.status if self.status < 0 else self.status - 128
                name = f"signal {signal.Signals(number).name}"
        return f"its process ended ({name})"

    async def messages(self) -> AsyncIterator[bytes | TooLong]:
        """Its lines that can be messages; ends when its output does."""
        async for line in self._messages():
            yield line
        await self.last_breath()
        self.quiet.set()

    async def last_breath(self) -> None:
        """Wait for the moment in which a process that breaks off ends."""
        await self._gone(LAST_BREATH)

    async def _messages(self) -> AsyncIterator[bytes | TooLong]:
        assert self._process.stdout is not None
        noise = 0
        async for line in _lines(self._process.stdout):
            if isinstance(line, TooLong) or line.startswith(b"{"):
                yield line
            elif line:
                noise += len(line)
                self.log.write(b"[stdout] " + line[:PIECE] + b"\n")
                if noise > NOISE:
                    self.ended_for = f"it wrote {size(noise)} of text where only messages may stand"
                    return
                if noise % PER_PAUSE < len(line):
                    await asyncio.sleep(PAUSE)

    async def send(self, message: bytes) -> None:
        """Give it a message.

        Raises:
            OSError: It does not listen any more.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(message + b"\n")
        await self._process.stdin.drain()

    async def close(self) -> None:
        """End it, politely first. Returns when it is gone, or cannot be ended."""
        try:
            await self._wound_down()
        finally:
            self.kill()
            self._logging.cancel()
            # Pipes that a child keeps open would else be closed when the loop is gone; nothing
            # public closes them.
            transport = getattr(self._process, "_transport", None)
            if transport is not None:
                transport.close()

    async def _wound_down(self) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(OSError, RuntimeError):
                stdin.close()
        if not await self._gone(GRACE):
            self._signal(signal.SIGTERM)
            await self._gone(GRACE)

    def kill(self) -> None:
        """End it and its children at once; for any thread, and when there is no loop any more."""
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        if self._lifeline >= 0:
            lifeline, self._lifeline = self._lifeline, -1
            with suppress(OSError):
                os.close(lifeline)

    async def _gone(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._exited()), seconds)
        return self.status is not None

    async def _exited(self) -> None:
        # Not `wait()`: that waits for the pipes as well, which a child can keep open.
        while self.status is None:  # noqa: ASYNC110  # asyncio sets no event without the pipes
            await asyncio.sleep(0.01)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            elif self.status is None:
                self._process.send_signal(number)

    async def _keep_log(self) -> None:
        assert self._process.stderr is not None
        waiting = 0
        while piece := await self._process.stderr.read(PIECE):
            self.log.write(piece)
            waiting += len(piece)
            if waiting > PER_PAUSE:
                waiting = 0
                await asyncio.sleep(PAUSE)


async def started(
    spec: ServerSpec, folder: Path, variables: Mapping[str, str], log: LogFile
) -> ServerProcess:
    """Start a server in a session of its own.

    Args:
        spec: With its variables filled in.
        folder: Where it runs, unless it says.
        variables: The environment, of which it gets little.
        log: Takes what it writes beside its messages.

    Raises:
        ConfigError: It cannot be started; the message says why.
    """
    place = _place(spec, folder)
    env = {name: variables[name] for name in _INHERITED if name in variables} | dict(spec.env)
    words = (_program(spec.command, place, env), *spec.args)
    lifeline = held = -1
    if os.name == "posix" and sys.executable:
        lifeline, held = os.pipe()
        guard = str(Path(__file__).with_name("guard.py"))
        words = (sys.executable, "-I", "-S", guard, str(lifeline), *words)
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=place,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=(lifeline,) if lifeline >= 0 else (),
        )
    except (OSError, ValueError) as error:
        if held >= 0:
            os.close(held)
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"it cannot be started: {reason}") from error
    finally:
        if lifeline >= 0:
            os.close(lifeline)
    return ServerProcess(process, held, log)


def _place(spec: ServerSpec, folder: Path) -> Path:
    place = (folder / Path(spec.cwd).expanduser()) if spec.cwd else folder
    if not place.is_dir():
        raise ConfigError(f"its folder {visible(str(place))} does not exist")
    return place


def _program(command: str, place: Path, env: Mapping[str, str]) -> str:
    """The program's path, so that a missing one is known before anything is waited for."""
    given = str(Path(command).expanduser()) if command.startswith("~") else command
    if os.sep in given or (os.altsep and os.altsep in given):
        found = shutil.which(str(place / given))
    else:
        found = shutil.which(given, path=env.get("PATH"))
    if found is None:
        raise ConfigError(
            f"there is no program {command!r} on the PATH of this kernel; "
            "install it, or give its whole path"
        )
    return found


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes | TooLong]:
    """Lines of bounded length; a longer one comes as its length, and costs no memory."""
    pieces: list[bytes] = []
    length = 0
    while chunk := await stream.read(PIECE):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            length += len(part)
            yield TooLong(length) if length > LONGEST else b"".join((*pieces, part)).strip()
            pieces, length = [], 0
        length += len(rest)
        if length > LONGEST:
            pieces = []
        elif rest:
            pieces.append(rest)
    if pieces:
        yield b"".join(pieces).strip()
