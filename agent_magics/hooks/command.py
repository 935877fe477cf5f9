"""One command of a hook: a child process that reads JSON, and how it ended.

Owns the child's life: what it reads and writes are files of no name, so that no pipe can block,
and when its time is up it is ended with all that it started in its group. No shell is involved.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agent_magics.hooks.hook import HookCommand
from agent_magics.hooks.said import HookFailure
from agent_magics.messages import JSON

MAX_OUTPUT = 256_000
"""Bytes of output after which a command counts as failed."""
SLICE = 0.02
"""Seconds between two looks at a running command."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended, with what it wrote."""

    status: int
    output: str
    errors: str


async def run_command(
    command: HookCommand,
    told: Mapping[str, JSON],
    environment: Mapping[str, str],
    workspace: str,
    seconds: float,
) -> Ended:
    """Run a command to its end; when the wait is cancelled, it is ended.

    Args:
        command: What runs.
        told: What it reads on standard input.
        environment: All of its variables.
        workspace: Where it runs, unless it says.
        seconds: After which it is ended.

    Raises:
        HookFailure: It cannot be started, took too long, or wrote too much.
    """
    stop = threading.Event()
    folder = str(command.folder or workspace)
    try:
        return await asyncio.to_thread(
            _run, command, told, dict(environment), folder, seconds, stop
        )
    finally:
        stop.set()


def _run(
    command: HookCommand,
    told: Mapping[str, JSON],
    environment: dict[str, str],
    folder: str,
    seconds: float,
    stop: threading.Event,
) -> Ended:
    words = (_program(command.words[0], environment), *command.words[1:])
    made = tempfile.TemporaryFile
    with made() as read, made() as output, made() as errors:
        read.write(json.dumps(told, default=str).encode())
        read.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603  # the person's own configuration names it
                words,
                cwd=folder,
                env=environment,
                stdin=read,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise HookFailure(f"{words[0]} cannot be started: {reason}") from error
        _wait(process, (output, errors), seconds, stop)
        return Ended(process.returncode, _text(output), _text(errors))


def _program(word: str, environment: Mapping[str, str]) -> str:
    """The program's path; what lies in the working folder is never meant by a bare name."""
    if Path(word).is_absolute():
        return word
    entries = environment.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(entry for entry in entries if Path(entry).is_absolute())
    found = shutil.which(word, path=path)
    if found is None:
        raise HookFailure(f"there is no program {word!r} on PATH")
    return found


def _wait(
    process: subprocess.Popen[bytes],
    files: tuple[IO[bytes], ...],
    seconds: float,
    stop: threading.Event,
) -> None:
    end = time.monotonic() + seconds
    why = ""
    while process.poll() is None and not why:
        if stop.wait(SLICE):
            why = "it was stopped"
        elif time.monotonic() > end:
            why = f"it took longer than {seconds:g} s"
        elif any(_size(file) > MAX_OUTPUT for file in files):
            why = f"it wrote more than {MAX_OUTPUT:,} bytes"
    if why:
        _kill(process)
        raise HookFailure(why)


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _kill(process: subprocess.Popen[bytes]) -> None:
    # The leader is not waited for yet, so that its number cannot be another process's by now.
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def _text(file: IO[bytes]) -> str:
    if _size(file) > MAX_OUTPUT:
        raise HookFailure(f"it wrote more than {MAX_OUTPUT:,} bytes")
    file.seek(0)
    return file.read().decode("utf-8", "replace")
