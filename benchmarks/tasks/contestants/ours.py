"""The product itself: a `%%agent` cell in IPython, with what a person would set."""

from __future__ import annotations

import os
from typing import Any

from child import main


def work(job: dict[str, Any]) -> tuple[str, list[str]]:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "AGENT_MAGICS_")):
            del os.environ[name]
    os.environ["AGENT_MAGICS_CONFIG"] = f"{job['scratch']}/config.yaml"
    os.environ["AGENT_MAGICS_DATA"] = f"{job['scratch']}/data"
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "agent_magics")
    settings = {
        "base_url": job["base_url"],
        "model": job["model"],
        "mode": "auto",
        "max_turns": job["requests"],
        "save_sessions": False,
        **job["settings"],
    }
    for name, value in settings.items():
        shell.run_line_magic("config", f"AgentMagics.{name} = {value!r}")
    options = f"--skill {job['skill']} --out result" if job["skill"] else "--out result"
    try:
        shell.run_cell_magic("agent", options, job["prompt"])
    finally:
        result = shell.user_ns.get("result")
    return result.text, [call.name for call in result.calls if call.ran is not None]


main(work)
