"""The table of a benchmark: finished, calls, tokens, time; as Markdown and as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.tasks.runs import Ran
from benchmarks.tasks.task import Task

COLUMNS = (
    "finished",
    "without review",
    "held out",
    "requests",
    "calls",
    "tokens in",
    "tokens out",
    "seconds",
)


def share(runs: Sequence[Ran]) -> str:
    """`24 of 32 (75%)`; a dash where there are none."""
    if not runs:
        return "–"
    done = sum(not ran.problem for ran in runs)
    return f"{done} of {len(runs)} ({done / len(runs):.0%})"


def markdown(runs: Sequence[Ran], tasks: Mapping[str, Task], title: str) -> str:
    """The whole report.

    Args:
        runs: All of them.
        tasks: By their ids.
        title: Model, server, sampling.
    """
    names = list(dict.fromkeys(ran.planned.contestant for ran in runs))
    lines = [f"# {title}", "", f"| | {' | '.join(COLUMNS)} |", "|---" * 9 + "|"]
    for name in names:
        mine = [ran for ran in runs if ran.planned.contestant == name]
        plain = [ran for ran in mine if tasks[ran.planned.task].kind != "review"]
        held = [ran for ran in mine if ran.planned.held_out]
        medians = [
            f"{statistics.median(values):g}"
            for values in (
                [ran.requests for ran in mine],
                [len(ran.calls) for ran in mine],
                [ran.input for ran in mine],
                [ran.output for ran in mine],
                [round(ran.seconds, 1) for ran in mine],
            )
        ]
        row = [name, share(mine), share(plain), share(held), *medians]
        lines.append(f"| {' | '.join(row)} |")
    lines += ["", "Medians of a run; finished: the automatic check passed.", ""]
    lines += _by_kind(runs, tasks, names)
    return "\n".join(lines) + "\n"


def _by_kind(runs: Sequence[Ran], tasks: Mapping[str, Task], names: Sequence[str]) -> list[str]:
    kinds = list(dict.fromkeys(task.kind for task in tasks.values()))
    lines = [f"| kind | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for kind in kinds:
        cells = [
            share(
                [
                    ran
                    for ran in runs
                    if ran.planned.contestant == name and tasks[ran.planned.task].kind == kind
                ]
            )
            for name in names
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return lines


def write(stem: Path, text: str, about: Mapping[str, Any], runs: Sequence[Ran]) -> None:
    """Write `STEM.md` and `STEM.json`."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    whole = {**about, "runs": [asdict(ran) for ran in runs]}
    stem.with_suffix(".json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
