"""Tools that are answered from a recording: what they say was said before, and nothing runs.

A stand-in only reads what a file says, so the policy judges it as a tool that looks; rules of the
person about the tool hold all the same. Tools that steer the agent itself stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.providers.replay import ReplayModel
from agent_magics.tool import Arguments, Report, Tool, ToolOutput, never_outside, no_preview

MARK = "From the recording; nothing was run."


def stand_ins(tools: Iterable[Tool], model: ReplayModel) -> tuple[Tool, ...]:
    """The tools of a turn, each answered by the recording where it would look or act outside.

    Args:
        tools: As the turn would have them.
        model: Plays the recording.
    """
    return tuple(tool if tool.effect == "control" else _stand_in(tool, model) for tool in tools)


def _stand_in(tool: Tool, model: ReplayModel) -> Tool:
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        del report  # what was said live then is not in a recording
        result = model.recorded_result(tool.name, json.dumps(dict(arguments)))
        if result is None:
            raise ToolError(f"{MARK} The recording has no result of this call of {tool.name}.")
        shown = Display("text", f"{MARK}\n{result.text}")
        return ToolOutput(result.text, (shown,), ok=result.ok)

    return replace(
        tool, run=run, effect="read", outside=never_outside, preview=no_preview, always=None
    )
