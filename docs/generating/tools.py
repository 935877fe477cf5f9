"""`reference/tools.md`: every tool that comes with the package, as a model is told of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from agent_magics.magics.selection import skill_tool
from agent_magics.policy import DEFAULTS
from agent_magics.skill import Skill
from agent_magics.tool import Tool
from agent_magics.tools import builtin_tools
from agent_magics.tools.finding import NAME, offer
from agent_magics.tools.memory import Memory
from agent_magics.tools.workspace import Workspace
from docs.generating.markdown import code, page, prose, table

INTRODUCTION = """\
What a model is told of each tool, word for word, and what happens to a call that no rule speaks
about. *allow* holds inside the workspace; what reaches outside of it, and [protected
files](../security.md#protected-paths), always ask. `%agent` shows the tools of your kernel with
the rules in force. A skill may hide built-in tools and bring its own, which ask ([Writing
skills](../skills.md))."""
EFFECTS = {
    "read": "looks",
    "write": "changes files",
    "delete": "takes files away",
    "run": "runs code",
    "fetch": "asks the web",
    "bundled": "runs a skill's code",
    "control": "steers the agent",
}
WHEN = {
    "memory_read": "with `%config AgentMagics.memory = True`",
    "memory_write": "with `%config AgentMagics.memory = True`; asks in every mode",
    "memory_delete": "with `%config AgentMagics.memory = True`; asks in every mode",
    "find_tools": "where there are more tools than `tool_threshold`",
    "skill": 'with `%config AgentMagics.skill_selection = "model"` or `"both"`',
}


class _NoKernel:
    """In place of a kernel: the tools are described, and none is called."""

    async def run_code(self, code: str, seconds: float = 0) -> NoReturn:
        raise NotImplementedError

    def names(self) -> Mapping[str, object]:
        raise NotImplementedError

    async def on_main(self, job: Callable[[], Any]) -> NoReturn:
        raise NotImplementedError


def described() -> tuple[Tool, ...]:
    """Every tool of the package, sorted by name."""
    workspace = Workspace(Path.cwd)
    built_in = builtin_tools(workspace, _NoKernel(), memory=Memory(Path.cwd, workspace))
    finder = [t for t in offer(built_in, (), set(), 1).tools if t.name == NAME]
    chooser = skill_tool([Skill("NAME", description="…")], lambda: ())
    more = [chooser] if chooser is not None else []
    return tuple(sorted((*built_in, *finder, *more), key=lambda tool: tool.name))


def tools() -> str:
    """The page."""
    every = described()
    rows = [
        (
            f"[{code(tool.name)}](#{tool.name})",
            EFFECTS.get(tool.effect, tool.effect),
            DEFAULTS.get(tool.effect, "deny"),
            WHEN.get(tool.name, ""),
        )
        for tool in every
    ]
    head = ("tool", "what a call can do", "by default", "when it is there")
    return page("Tools", INTRODUCTION, table(head, rows), *(_one(tool) for tool in every))


def _one(tool: Tool) -> str:
    rows = list(_parameters(tool.parameters))
    described = prose(tool.description)
    takes = table(("parameter", "value", "meaning"), rows) if rows else "It takes nothing."
    return f"## {tool.name}\n\n{described}\n\n{takes}"


def _parameters(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        needed = "" if name in required else _default(part)
        yield code(prefix + name), _kind(part) + needed, prose(str(part.get("description", "")))
        items = part.get("items", {})
        if items.get("properties"):
            yield from _parameters(items, f"{prefix}{name}[].")


def _kind(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(code(value) for value in part["enum"])
    kind = str(part.get("type", "any"))
    if kind == "array":
        return f"array of {part.get('items', {}).get('type', 'any')}"
    bounds = [f"{word} {part[key]}" for key, word in _BOUNDS if key in part]
    return " ".join([kind, *bounds])


_BOUNDS = (("minimum", "from"), ("maximum", "to"))


def _default(part: Mapping[str, Any]) -> str:
    return f"; default {code(json.dumps(part['default']))}" if "default" in part else "; optional"
