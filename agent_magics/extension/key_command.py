"""Running the command that prints a key: without a shell, bounded, and silent about the key."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agent_magics.errors import UsageProblem
from agent_magics.providers.place import Place

SECONDS = 60.0
"""A password store may ask a person to unlock it meanwhile."""

LARGEST = 64 * 1024
"""Bytes of output that are read."""


def printed_key(words: Sequence[str], seconds: float = SECONDS) -> str:
    """The first line that a command prints.

    It runs in the home folder, so that nothing of a project is found in place of it, and without
    standard input.

    Args:
        words: The command and its arguments, as they are; `~` at the head of the first is expanded.
        seconds: After which it is ended, with all that it started.

    Raises:
        UsageProblem: It cannot be run, fails, or prints no key. What it printed is not repeated.
    """
    shown = Path(words[0]).name
    program = str(Path(words[0]).expanduser()) if words[0].startswith("~") else words[0]
    try:
        process = subprocess.Popen(  # noqa: S603  # the person's own configuration names it
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=Path.home(),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageProblem(
            f"The command {shown!r} that prints the key cannot be run: {why}. See api_key_command "
            "in your config.yaml."
        ) from None
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise UsageProblem(
            f"The command {shown!r} that prints the key did not end within {seconds:g} s. "
            "Run it in a terminal once: it may want to be unlocked."
        ) from None
    except BaseException:  # an interrupt: nothing of it stays behind
        _end(process)
        raise
    return _key_in(out, err, process.returncode, shown)


def _key_in(out: bytes, err: bytes, status: int, shown: str) -> str:
    if status != 0:
        lines = err[:LARGEST].decode("utf-8", "replace").strip().splitlines()
        printed = out[:LARGEST].decode("utf-8", "replace").split()
        said = Place("", "", printed).clean(lines[-1])[:200] if lines else ""
        said = "".join(c if c.isprintable() else " " for c in said)
        detail = f": {said}" if said else ""
        raise UsageProblem(
            f"The command {shown!r} that prints the key failed with status {status}{detail}"
        )
    first = out[:LARGEST].decode("utf-8", "replace").strip().partition("\n")[0].strip()
    if not first:
        raise UsageProblem(f"The command {shown!r} printed no key.")
    if not first.isascii() or not first.isprintable() or " " in first:
        raise UsageProblem(
            f"The first line that the command {shown!r} printed is no key: it holds blanks or "
            "characters that cannot be sent."
        )
    return first


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass  # it has just ended
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
