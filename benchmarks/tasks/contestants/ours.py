"""The product itself: a `%%agent` cell in IPython, with what a person would set."""

from __future__ import annotations

from typing import Any

import openai  # noqa: F401  # what a peer has imported before its session begins, ours has, too
from child import main
from IPython.core.interactiveshell import InteractiveShell

SHELL = InteractiveShell.instance()
SHELL.run_line_magic("load_ext", "agent_magics")


def work(job: dict[str, Any]) -> tuple[str, list[str]]:
    settings = {
        "base_url": job["base_url"],
        "model": job["model"],
        "mode": "auto",
        "max_turns": job["requests"],
        "save_sessions": False,
        **job["settings"],
    }
    for name, value in settings.items():
        SHELL.run_line_magic("config", f"AgentMagics.{name} = {value!r}")
    options = f"--skill {job['skill']} --out result" if job["skill"] else "--out result"
    SHELL.run_cell_magic("agent", options, job["prompt"])
    result = SHELL.user_ns["result"]
    return result.text, [call.name for call in result.calls if call.ran is not None]


main(work)
