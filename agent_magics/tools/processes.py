"""A command's processes: start in a session of their own, look, end all of them.

Owns groups and signals. A background child can leave its group (`setsid`), so each command also
carries a mark in its environment by which its processes are found again where /proc exists.
Knows nothing of outputs and models.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

GRACE = 0.2
"""Seconds between asking processes to end (TERM) and ending them (KILL), as opencode has it."""
MARK = "AGENT_MAGICS_COMMAND"
"""The variable by which a command's processes know each other."""


@dataclass(frozen=True, slots=True)
class Command:
    """A started command.

    Args:
        process: Its first process, the leader of its session and group.
        mark: What all its processes carry in their environment.
    """

    process: subprocess.Popen[bytes]
    mark: str

    def alive(self) -> list[int]:
        """The numbers of its processes that still live, the first one included."""
        found = set(_marked(self.mark))
        if self.process.poll() is None:
            found.add(self.process.pid)
        return sorted(found)

    def background(self) -> bool:
        """Whether something goes on after the first process ended."""
        return _group_lives(self.process.pid) or bool(_marked(self.mark))

    def end(self) -> None:
        """End every process of the command; returns when they are gone, or cannot be ended."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self.background() and time.monotonic() < deadline:
            self.process.poll()
            time.sleep(0.01)
        self._signal(_KILL)
        with suppress(subprocess.TimeoutExpired):
            # Only a process in the midst of a kernel call (a dead network disk) outlives this.
            self.process.wait(timeout=1)

    def _signal(self, number: int) -> None:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)
            for pid in _marked(self.mark):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        elif self.process.poll() is None:
            self.process.kill()


_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


def started(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], output: BinaryIO
) -> Command:
    """Start a program that reads nothing and writes both its outputs, in order, to one file.

    Args:
        words: The program and its arguments.
        folder: Where it runs.
        environment: All of its variables.
        output: A file rather than a pipe: nobody has to wait for a pipe's last writer.

    Raises:
        OSError: It cannot be started.
    """
    mark = secrets.token_hex(8)
    process = subprocess.Popen(  # noqa: S603 -- running a command is what it is for; a person said yes
        words,
        cwd=folder,
        env={**environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    return Command(process, mark)


def _group_lives(group: int) -> bool:
    if not hasattr(os, "killpg"):
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _marked(mark: str) -> list[int]:
    """The processes that carry a mark; none where there is no /proc."""
    wanted = f"{MARK}={mark}".encode()
    found: list[int] = []
    try:
        names = [entry.name for entry in os.scandir("/proc") if entry.name.isdecimal()]
    except OSError:
        return found
    for name in names:
        with suppress(OSError):
            variables = Path("/proc", name, "environ").read_bytes()
            if wanted in variables.split(b"\0"):
                found.append(int(name))
    return found
