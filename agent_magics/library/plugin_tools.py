"""The tools of a plug-in: `Tool` values and functions, as they are offered to a model.

Whatever a plug-in says of itself, its tools ask by default: only the person's rules allow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from agent_magics.errors import SkillError
from agent_magics.library.calling import Call
from agent_magics.library.signatures import signature_of
from agent_magics.library.toolfile import TOOL_NAME
from agent_magics.marking import mark_of
from agent_magics.plain import visible
from agent_magics.tool import Tool


def tools_of(value: object, origin: str, workspace: Callable[[], Path]) -> tuple[Tool, ...]:
    """The tools that an entry point leads to.

    Args:
        value: A `Tool`, a function, a list of both, or a module with functions under `@tool`.
        origin: Who brings them, for the person.
        workspace: The folder that a parameter `workspace: Path` gets.

    Raises:
        SkillError: One of them cannot be a tool; the message says why.
    """
    match value:
        case ModuleType():
            items = [each for each in vars(value).values() if mark_of(each) is not None]
        case list() | tuple():
            items = list(value)
        case _:
            items = [value]
    if not items:
        raise SkillError("it leads to no tool: name a function, a list of them, or put @tool above")
    found: dict[str, Tool] = {}
    for item in items:
        tool = _tool(item, workspace)
        if tool.name in found:
            raise SkillError(f"it has two tools named {tool.name}")
        found[tool.name] = replace(tool, effect="bundled", skill="", origin=origin)
    return tuple(found.values())


def _tool(item: object, workspace: Callable[[], Path]) -> Tool:
    if isinstance(item, Tool):
        if not TOOL_NAME.fullmatch(str(item.name)) or not isinstance(item.parameters, Mapping):
            raise SkillError(f"{visible(str(item.name))!r} is no tool's name, or has no schema")
        return item
    if not callable(item) or isinstance(item, type):
        raise SkillError(f"{visible(repr(item))[:80]} is neither a function nor a Tool")
    mark = mark_of(item)
    name = (mark and mark.name) or str(getattr(item, "__name__", ""))
    if not TOOL_NAME.fullmatch(name):
        raise SkillError(f"{visible(name)!r} cannot be a tool's name")
    signature = signature_of(item, mark.description if mark else "")
    file = getattr(getattr(item, "__code__", None), "co_filename", "")
    call = Call(item, signature, workspace, Path(file).parent)
    return Tool(name, signature.description, signature.parameters, "bundled", call.run)
