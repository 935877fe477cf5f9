"""The tools of a program's turn: built-in ones by name, and the program's own functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from agent_magics.errors import SkillError, UsageProblem
from agent_magics.library.calling import Call
from agent_magics.library.signatures import signature_of
from agent_magics.library.toolfile import TOOL_NAME
from agent_magics.marking import mark_of
from agent_magics.scripting.options import Given
from agent_magics.tool import Tool


def sorted_out(
    given: Sequence[Given] | None,
    builtins: Sequence[Tool],
    taken: Collection[str],
    workspace: Callable[[], Path],
) -> tuple[frozenset[str], tuple[Tool, ...]]:
    """The names of the built-in tools to offer, and the program's own tools.

    Args:
        given: As the program gave them; None: all built-in ones and no others.
        builtins: Those that there are.
        taken: Names of the tools that skills bring.
        workspace: The folder that a parameter `workspace: Path` gets.

    Raises:
        UsageProblem: One is unknown, no tool, or has a name that is taken.
    """
    known = frozenset(tool.name for tool in builtins)
    if given is None:
        return known, ()
    names = frozenset(item for item in given if isinstance(item, str))
    if unknown := sorted(names - known):
        raise UsageProblem(
            f"There is no tool {', '.join(unknown)} for programs; there are: "
            f"{', '.join(sorted(known))}."
        )
    own: dict[str, Tool] = {}
    for item in given:
        if isinstance(item, str):
            continue
        tool = item if isinstance(item, Tool) else _tool(item, workspace)
        if tool.name in known or tool.name in taken or tool.name in own:
            raise UsageProblem(f"Two tools would be named {tool.name}; give yours another name.")
        own[tool.name] = tool
    return names, tuple(own.values())


def _tool(function: object, workspace: Callable[[], Path]) -> Tool:
    if not callable(function) or isinstance(function, type):
        raise UsageProblem(f"tools takes names, functions and Tools, not {function!r:.80}.")
    mark = mark_of(function)
    name = (mark and mark.name) or str(getattr(function, "__name__", ""))
    if not TOOL_NAME.fullmatch(name):
        raise UsageProblem(
            f"{name!r} cannot be a tool's name (letters, digits and underscores, at most 64); put "
            "@tool(name=…) above the function."
        )
    try:
        signature = signature_of(function, mark.description if mark else "")
    except SkillError as error:
        raise UsageProblem(f"{name} cannot be a tool: {error}.") from error
    # What asks by default asks here, too: a program says with a rule what may run.
    call = Call(function, signature, workspace, _folder(function))
    return Tool(name, signature.description, signature.parameters, "bundled", call.run)


def _folder(function: Callable[..., Any]) -> Path:
    """Where the function is written, for the places in its errors."""
    code = getattr(function, "__code__", None)
    return Path(getattr(code, "co_filename", "")).parent
