"""The hooks of a turn for tests: functions run at once, commands get a plain environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent_magics.hooks.hook import Hook, HookCommand, checked_hook
from agent_magics.hooks.running import TurnHooks
from agent_magics.hooks.told import Around


async def at_once(job):
    return job()


def hooks(*each: Hook, redact=str, on_thread=at_once, folder: str = "/") -> TurnHooks:
    def environment(_named):
        return {"PATH": os.environ["PATH"]}

    return TurnHooks(each, Around("default", folder, "m"), on_thread, environment, redact)


def function(point, action, tools="", timeout=10.0, name="mine") -> Hook:
    return checked_hook(point, name, action, tools, timeout)


def program(point, folder: Path, code: str, tools="", timeout=10.0, name="mine") -> Hook:
    """A hook that runs this Python."""
    file = folder / f"{name}.py"
    file.write_text(code, encoding="utf-8")
    words = (sys.executable, str(file))
    return checked_hook(point, name, HookCommand(words, folder), tools, timeout)
