"""What the programs share: read the job, run it, write the result. Standard library only."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

MARK = "@@RESULT "
SYSTEM = (
    "You are an assistant who works in a folder with files. Use the tools to find out before you "
    "claim something. Paths are relative to the folder. When the work is done, answer shortly in "
    "plain text, the result first."
)
REVIEW = (
    "Review the uncommitted changes of the repository: call git_diff, then say for each problem "
    "the file, the function, and what is wrong."
)
"""What the peers are told where our product has a skill for it."""


def instructions(job: dict[str, Any]) -> str:
    """The system prompt of a peer."""
    return f"{SYSTEM}\n\n{REVIEW}" if job["skill"] else SYSTEM


def main(session: Callable[[dict[str, Any]], tuple[str, list[str]]]) -> None:
    """Run one job with a function that gives the answer and the names of the tools that ran."""
    job = json.load(sys.stdin)
    os.chdir(job["folder"])
    sys.path.insert(0, "")  # as in a notebook's kernel: code imports what lies in the folder
    result: dict[str, Any] = {"answer": "", "calls": [], "error": ""}
    started = time.monotonic()
    try:
        result["answer"], result["calls"] = session(job)
    except Exception as error:  # noqa: BLE001  # whatever a library raises is its result
        result["error"] = f"{type(error).__name__}: {error}"[:500]
        result["calls"] = list(CALLS)
    result["seconds"] = time.monotonic() - started
    print(f"\n{MARK}{json.dumps(result)}", flush=True)
    os._exit(0)


CALLS: list[str] = []
"""Names of the tools that ran; filled by `filetools`."""
