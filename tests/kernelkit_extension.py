"""A test's own extension: `%%stage` runs the cell's body as the agent.

The body is the inside of `async def main(p)`, with `p` a Performance. The line holds keyword
arguments of `StageSettings`; `quiet=True` goes to the run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from IPython.core.magic import no_var_expand

from agent_magics import events
from agent_magics.events import Question
from agent_magics.frontends.stage import Stage, StageSettings
from agent_magics.messages import Display, ToolCall
from agent_magics.policy import Answer, Rule, Scope


def question(
    title: str = "write a.txt",
    arguments: dict[str, Any] | None = None,
    scopes: Sequence[str] = (),
    following: int = 0,
) -> Question:
    call = ToolCall("call-1", title.split()[0], json.dumps(arguments or {"path": "a.txt"}))
    choices = tuple(Scope(label, Rule(call.name, "allow", label)) for label in scopes)
    preview = (Display("diff", "-old\n+new\n"),)
    return Question(call, title, preview, choices, "it writes", following=following)


def told(answer: Answer) -> str:
    scope = answer.scope.label if answer.scope else ""
    facts = [answer.allowed, answer.by, answer.reason, answer.arguments, scope]
    return json.dumps([*facts, "rest"] if answer.rest else facts)


def load_ipython_extension(shell: Any) -> None:
    stage = Stage(shell)
    stage.install()
    names = {
        "asyncio": asyncio,
        "events": events,
        "json": json,
        "question": question,
        "shell": shell,
        "stage": stage,
        "time": time,
        "told": told,
        **vars(events),
    }

    @no_var_expand
    def run(line: str, cell: str) -> Any:
        options = eval(f"dict({line})", {})
        quiet = options.pop("quiet", False)
        body = "async def main(p):\n" + "\n".join("    " + row for row in cell.splitlines())
        space = dict(names)
        exec(compile(body, "<stage>", "exec"), space)
        return stage.run(space["main"], quiet=quiet, settings=StageSettings(**options))

    def state(_line: str) -> Any:
        route = stage.route()
        return {"tap": stage.tap_state, "route": route.kind, "detail": route.detail}

    shell.register_magic_function(run, "cell", "stage")
    shell.register_magic_function(state, "line", "stage_state")
    shell.register_magic_function(lambda _line: stage.install(), "line", "stage_install")
    shell.register_magic_function(lambda _line: stage.close(), "line", "stage_close")
