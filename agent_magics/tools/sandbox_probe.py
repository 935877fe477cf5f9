"""Trying a sandbox with a real run: what it says is believed only after that.

Owns the run: a small program in the sandbox writes inside and outside, reads what is hidden, and
calls a port of ours; what it could do is then looked at from outside.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent_magics.tools.sandbox import Bounds, Confinement

SECONDS = 20
"""After which a sandbox that does not answer counts as broken."""
PROGRAM = """
import json, os, socket, sys
inside, scratch, outside, seen, hidden, kept, port = sys.argv[1:]
def tried(work):
    try:
        return work()
    except OSError as error:
        return None
def wrote(path):
    with open(path, "w") as file:
        return file.write("x") == 1
def read(path):
    with open(path) as file:
        return file.read()
def called():
    with socket.create_connection(("127.0.0.1", int(port)), 5):
        return True
print(json.dumps({
    "inside": tried(lambda: wrote(inside)), "scratch": tried(lambda: wrote(scratch)),
    "outside": tried(lambda: wrote(outside)), "seen": tried(lambda: read(seen)),
    "hidden": tried(lambda: read(hidden)), "kept": tried(lambda: read(kept)),
    "cut": tried(lambda: os.truncate(seen, 0) is None), "called": tried(called),
}))
"""
_PLACES = ("/var/tmp", "")  # noqa: S108  # a folder of a random name is made in it
"""Where the trial's files lie: not in /tmp, which a sandbox may replace; else the usual place."""


def probe(confinement: Confinement, network: bool) -> str:
    """What is wrong with a sandbox, found by a real run; empty: it does what it should.

    Args:
        confinement: What is tried.
        network: Whether the network is to be open.
    """
    try:
        with _folder() as folder, _port() as port:
            return _tried(confinement, network, folder, port)
    except OSError as error:
        return f"it cannot be tried: {error.strerror or error}"


def _tried(confinement: Confinement, network: bool, folder: Path, port: int) -> str:
    work, scratch, other = (folder / name for name in ("work", "scratch", "other"))
    secret = other / "secret"
    for place in (work, scratch, other, secret):
        place.mkdir()
    seen, hidden, kept = other / "seen", secret / "key", other / "key"
    for file in (seen, hidden, kept):
        file.write_text("content", encoding="utf-8")
    bounds = Bounds(work, scratch, (secret, kept), (), network)
    places = (work / "x", Path("SCRATCH"), other / "x", seen, hidden, kept)
    temporary = Path(confinement.variables(bounds)["TMPDIR"]) / "x"
    names = [str(temporary) if p == Path("SCRATCH") else str(p) for p in places]
    words = (sys.executable, "-I", "-S", "-c", PROGRAM, *names, str(port))
    try:
        run = subprocess.run(  # noqa: S603  # our own program
            confinement.words(words, bounds),
            cwd=work,
            env={**_variables(), **confinement.variables(bounds)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return f"a trial did not end in {SECONDS} s"
    try:
        could = json.loads(run.stdout)
    except ValueError:
        return _last_line(run.stderr) or f"a trial ended with status {run.returncode}"
    return _judged(could, (work / "x").exists(), (other / "x").exists(), seen, network)


def _judged(
    could: dict[str, object], inside: bool, outside: bool, seen: Path, network: bool
) -> str:
    """What a trial shows: first what would be dangerous, then what would be of no use."""
    faults: Sequence[tuple[bool, str]] = (
        (bool(could["outside"]) or outside, "it let a file outside be written"),
        (bool(could["cut"]) or not seen.stat().st_size, "it let a file outside be cut"),
        (bool(could["hidden"]) or bool(could["kept"]), "it let a hidden file be read"),
        (bool(could["called"]) and not network, "it let the network be used"),
        (not could["inside"] or not inside, "nothing can be written in the workspace"),
        (not could["scratch"], "no temporary file can be written"),
        (could["seen"] != "content", "files outside cannot be read"),
        (network and not could["called"], "the network cannot be used"),
    )
    return next((fault for is_so, fault in faults if is_so), "")


def _variables() -> dict[str, str]:
    """The trial needs no variable of the user's but the path."""
    return {"PATH": os.defpath}


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


@contextmanager
def _folder() -> Iterator[Path]:
    where = next(p for p in _PLACES if not p or os.access(p, os.W_OK | os.X_OK))
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="agent_magics-", dir=where or None)))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])
