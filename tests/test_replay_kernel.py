"""Recordings in real kernels: strict replays that nobody watches, and a kernel killed meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from agent_magics.providers.recording_lines import load_recording
from tests.environments import SOURCES, own_variables

pytestmark = pytest.mark.kernel

CELLS = (
    "%load_ext agent_magics",
    "%agent model replay:look.jsonl",
    "%%agent\nWhat is here?",
)
LOOK = (
    {"agent_magics_recording": 1, "title": "t"},
    {
        "prompt": "What is here?",
        "step": 0,
        "turn": 1,
        "reply": {"calls": [{"name": "ls", "arguments": {"path": "shop"}}]},
    },
    {
        "prompt": "What is here?",
        "step": 1,
        "turn": 1,
        "results": [{"name": "ls", "text": "RESULT", "decided": "allow", "by": "policy"}],
        "reply": {"text": "One program."},
    },
)


def written(folder: Path, text: str) -> None:
    lines = (json.dumps(line).replace('"RESULT"', json.dumps(text)) for line in LOOK)
    (folder / "look.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def work(tmp_path):
    """A folder with a notebook that replays, and one file to look at."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "app.py").write_text("x = 1\n", encoding="utf-8")
    cells = [new_code_cell(text) for text in CELLS]
    nbformat.write(new_notebook(cells=cells), tmp_path / "check.ipynb")
    return tmp_path


def execute(work: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """`jupyter execute` as CI would run it."""
    return subprocess.run(
        [sys.executable, "-m", "jupyter", "execute", "--inplace", "check.ipynb"],
        cwd=work,
        env=own_variables(work / "home") | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_strict_replay_passes_and_fails_with_the_exit_status_of_the_run(work):
    written(work, "app.py")
    strict = {"AGENT_MAGICS_REPLAY_STRICT": "1"}
    assert "no differences" in told(work, strict, 0)
    (work / "shop" / "new.py").touch()
    out = told(work, strict, 1)
    assert "1 difference" in out
    assert "+new.py" in out
    assert "1 difference" in told(work, {}, 0)


def told(work: Path, variables: dict[str, str], status: int) -> str:
    done = execute(work, **variables)
    assert done.returncode == status, done.stderr
    notebook = nbformat.read(work / "check.ipynb", as_version=4)
    return json.dumps(notebook.cells[-1].outputs) if status == 0 else done.stderr + done.stdout


WRITES = """
import itertools, os, sys
from agent_magics.session import Session
from agent_magics.magics.taping import Tapes
from agent_magics.tools.workspace import Workspace
from agent_magics.messages import Assistant, User
from agent_magics.ports import Request
from agent_magics.providers.scripted import ScriptedModel
import asyncio
from pathlib import Path

async def main():
    tapes, session = Tapes(Workspace(Path.cwd)), Session()
    tapes.start(session, "new.jsonl")
    for n in itertools.count():
        taped = tapes.turn(session, ScriptedModel([Assistant(f"{n} " + "x" * 5_000)]), f"Say {n}.")
        async for _ in taped.model.stream(Request("", (User(f"Say {n}."),))):
            pass
        print(n, flush=True)

asyncio.run(main())
"""


def test_a_process_killed_while_it_records_leaves_every_answer_that_was_said(tmp_path):
    """Killed at random points; what had been passed on before is in the file, and it goes on."""
    numbers = random.Random(7)
    said = 0
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITES],
            cwd=tmp_path,
            env=own_variables(tmp_path / "home") | {"PYTHONPATH": str(SOURCES)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(numbers.randrange(1, 60)):
            process.stdout.readline()
            said += 1
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
        recording = load_recording(tmp_path / "new.jsonl")
        assert len(recording.replies) >= said
        said = len(recording.replies)
    turns = [reply.turn for reply in recording.replies]
    assert turns == list(range(1, len(turns) + 1))
