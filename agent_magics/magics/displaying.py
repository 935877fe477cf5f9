"""Tools whose code is somebody else's, showing only what cannot act."""

from __future__ import annotations

from dataclasses import replace

from agent_magics.frontends.inert import inert
from agent_magics.messages import Display
from agent_magics.skill import SERVERS
from agent_magics.tool import Arguments, Report, Tool, ToolOutput


def displaying_inertly(tool: Tool) -> Tool:
    """A tool that came with a skill, or from elsewhere, showing only what cannot act."""
    if not (tool.skill or tool.name.startswith(SERVERS)):
        return tool
    whose = f"skill {tool.skill}" if tool.skill else tool.name

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        output = await tool.run(arguments, report)
        return replace(output, display=tuple(inert(d, whose) for d in output.display))

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        return tuple(inert(display, whose) for display in tool.preview(arguments))

    return replace(tool, run=run, preview=preview)
