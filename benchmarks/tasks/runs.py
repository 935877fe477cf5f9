"""One run: a fresh folder, a process of its own, the check. And the file that keeps all of them.

The file grows by one line a run, so a benchmark that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.tasks.contestants.child import MARK
from benchmarks.tasks.environments import CONTESTANTS, HERE
from benchmarks.tasks.proxy import Proxy
from benchmarks.tasks.task import Outcome, Task

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Planned:
    """A run that is to be made; its fields name it in the file."""

    contestant: str
    task: str
    wording: int
    repeat: int
    held_out: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that was made.

    Args:
        planned: Which one.
        problem: Why the task is not finished; empty: it is.
        calls: Tools that ran.
        requests: To the model.
        input: Tokens of the prompts.
        output: Tokens of the answers.
        seconds: Of the session, without the start of the process.
        error: What the contestant raised.
        answer: Its last words.
    """

    planned: Planned
    problem: str
    calls: tuple[str, ...] = ()
    requests: int = 0
    input: int = 0
    output: int = 0
    seconds: float = 0.0
    error: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What each run of each contestant may use.

    Args:
        requests: To the model.
        seconds: After which its processes are ended.
    """

    requests: int = 8
    seconds: float = 300.0


def plan(
    tasks: Sequence[Task], contestants: Sequence[str], repeats: int, part: str
) -> Iterator[Planned]:
    """The runs in their order: contestant by contestant, which keeps a server's prompt cache.

    Args:
        tasks: All of them.
        contestants: Their names.
        repeats: How many wordings of a task are tried, and then again from the first.
        part: `tune`: what may be looked at; `held-out`: held-out tasks, and held-out wordings of
            the others; `all`: both.
    """
    for contestant in contestants:
        for repeat in range(repeats):
            for task in tasks:
                shown, held = (0, 1), (2,)
                pairs = [(shown[repeat % 2], False), (held[0], True)]
                if task.held_out:
                    pairs = [(repeat % 3, True)]
                for wording, held_out in pairs:
                    if part == "all" or held_out == (part == "held-out"):
                        yield Planned(contestant, task.id, wording, repeat, held_out)


def run(
    planned: Planned,
    task: Task,
    python: Path,
    proxy: Proxy,
    model: str,
    bounds: Bounds,
    settings: Mapping[str, Any],
) -> Ran:
    """Make one run; whatever goes wrong in it is its result."""
    with tempfile.TemporaryDirectory(prefix="task-") as scratch:
        folder = Path(scratch) / "work"
        folder.mkdir()
        task.world(folder)
        name = f"{planned.contestant}-{task.id}-{planned.wording}-{planned.repeat}"
        job = {
            "base_url": proxy.url(name),
            "model": model,
            "prompt": task.wordings[planned.wording],
            "folder": str(folder),
            "scratch": scratch,
            "requests": bounds.requests,
            "skill": "code-review" if task.kind == "review" else "",
            "settings": dict(settings),
        }
        result = _in_child(planned.contestant, python, job, bounds.seconds)
        outcome = Outcome(result["answer"], folder, tuple(result["calls"]))
        # What was done counts, also of a session that then ended with an error, at its limit say.
        problem = task.check(outcome) if result.get("ended", True) else result["error"]
        problem = problem and (result["error"] or problem)
        count = proxy.count(name)
        return Ran(
            planned,
            problem[:300],
            outcome.calls,
            count.requests,
            count.input,
            count.output,
            round(result["seconds"], 2),
            result["error"],
            outcome.answer[-1500:],
        )


def _in_child(contestant: str, python: Path, job: dict[str, Any], seconds: float) -> dict[str, Any]:
    program = HERE / CONTESTANTS[contestant].program
    # The programs import their neighbours, and ours imports the product of this checkout.
    path = f"{HERE}{os.pathsep}{ROOT}" if contestant == "agent_magics" else str(HERE)
    with subprocess.Popen(
        [python, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(path, job["scratch"]),
        start_new_session=True,
    ) as process:
        try:
            out, errors = process.communicate(json.dumps(job), timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return _failed(f"no end within {seconds:g} s", seconds)
    lines = [line for line in out.splitlines() if line.startswith(MARK)]
    if not lines:
        said = errors.strip().splitlines()
        return _failed(f"no result: {said[-1] if said else 'nothing was said'}", 0.0)
    result: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return result


def _environment(path: str, home: str) -> dict[str, str]:
    """Nothing of the person who runs the benchmark gets in."""
    gone = ("OPENAI_", "AGENT_MAGICS_", "XDG_", "JPY_")
    mine = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
    return {**mine, "PYTHONPATH": path, "HOME": home, "IPYTHONDIR": f"{home}/ipython"}


def _failed(why: str, seconds: float) -> dict[str, Any]:
    return {"answer": "", "calls": [], "error": why, "seconds": seconds, "ended": False}


# --- the file of runs -------------------------------------------------------------------------


def kept(path: Path) -> list[Ran]:
    """The runs of a file; a last line that was cut is none."""
    if not path.is_file():
        return []
    runs: list[Ran] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        ran = Ran(**{**value, "calls": tuple(value["calls"])})
        runs.append(replace(ran, planned=Planned(**value["planned"])))
    return runs


def keep(path: Path, ran: Ran) -> None:
    """Add a run to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(ran)) + "\n")
