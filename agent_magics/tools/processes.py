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
from collections.abc import Iterator, Mapping, Sequence
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
        self.process.poll()
        if not _PROC.is_dir():
            return [self.process.pid] if _group_lives(self.process.pid) else []
        return sorted(_living(self.process.pid, self.mark))

    def end(self) -> None:
        """End every process of the command; returns when they are gone, or cannot be ended."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        if self.alive():
            self._signal(_KILL)
        with suppress(subprocess.TimeoutExpired):
            # Only a process in the midst of a kernel call (a dead network disk) outlives this.
            self.process.wait(timeout=1)

    def _signal(self, number: int) -> None:
        if not hasattr(os, "killpg"):
            self.process.kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
        for pid in _living(self.process.pid, self.mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


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


def _living(group: int, mark: str) -> Iterator[int]:
    """The processes of a group, or with a mark, that are no corpses; none without /proc.

    Corpses have to be told apart: in a container, often nobody buries those of strangers.
    """
    wanted = f"{MARK}={mark}".encode()
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            # "pid (name) state parent group …"; the name may hold blanks and brackets.
            state, _, its_group = (folder / "stat").read_bytes().rsplit(b")", 1)[1].split()[:3]
            if state not in b"ZX" and (
                int(its_group) == group or wanted in (folder / "environ").read_bytes().split(b"\0")
            ):
                yield int(folder.name)


_PROC = Path("/proc")
