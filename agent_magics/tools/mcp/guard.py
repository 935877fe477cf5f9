"""A program that runs another one and ends it, with all its children, when its own parent dies.

    python -I -S guard.py DESCRIPTOR PROGRAM ARGUMENT…

DESCRIPTOR is the reading end of a pipe whose writing end the parent alone holds: it ends when the
parent does, in whatever way, `kill -9` included. Leads a session and group of its own, which it
takes along. Imports nothing of this package. For POSIX.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

GRACE = 2.0
"""Seconds between asking the group to end and ending it, as the protocol's SDK has it."""
NOT_FOUND = 127
"""The exit status when the program cannot be started, as of shells."""


def main(arguments: list[str]) -> None:
    """Run the program; ends with its status."""
    lifeline = int(arguments[0])
    child = os.fork()
    if child == 0:
        os.close(lifeline)
        _become(arguments[1:])
    # What the program reads and writes is its own: its end must be seen by who reads it.
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bell, rung = os.pipe()
    os.set_blocking(rung, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(rung, warn_on_full_buffer=False)
    while (status := _ended(child)) is None:
        ready, _, _ = select.select([lifeline, bell], [], [], 1.0)
        if bell in ready:
            os.read(bell, 64)
        if lifeline in ready and not os.read(lifeline, 64):
            _end_group(child)
    # Children that it left behind end with it.
    os.killpg(0, signal.SIGTERM)
    os._exit(status)


def _become(words: list[str]) -> None:
    try:
        os.execvp(words[0], words)  # noqa: S606  # that is what it is for
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode("utf-8", "replace"))
    os._exit(NOT_FOUND)


def _ended(child: int) -> int | None:
    found, status = os.waitpid(child, os.WNOHANG)
    if not found:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end_group(child: int) -> None:
    os.killpg(0, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    while _ended(child) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
