"""Messages of servers that break the protocol in ways which cost nothing to forgive. Pure.

The SDK refuses a whole list for one bad entry, and a result that does not fit the server's own
output schema although its text does. Owns what is forgiven; the SDK checks the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_magics.messages import JSON

MOST_TOOLS = 1_000
"""Tools of one page that are read at all."""


def mended(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a request, with its list of tools in order.

    Args:
        result: Of any request; only lists of tools are touched.
    """
    tools = result.get("tools")
    if not isinstance(tools, list):
        return dict(result)
    sound = [_tool(tool) for tool in tools[:MOST_TOOLS] if _named(tool)]
    return {**result, "tools": sound}


def _named(tool: JSON) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("name"), str) and bool(tool["name"])


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema = tool.get("inputSchema")
    # Whoever leaves the type out, or writes null, means an object: arguments are nothing else.
    sound = dict(schema) if isinstance(schema, Mapping) else {}
    sound["type"] = "object"
    for key, kind in (("properties", Mapping), ("required", list)):
        if key in sound and not isinstance(sound[key], kind):
            del sound[key]
    made: dict[str, Any] = {"name": tool["name"], "inputSchema": sound}
    for key in ("title", "description"):
        if isinstance(tool.get(key), str):
            made[key] = tool[key]
    hints = tool.get("annotations")
    if isinstance(hints, Mapping):
        made["annotations"] = {
            key: value
            for key, value in hints.items()
            if isinstance(value, bool) or (key == "title" and isinstance(value, str))
        }
    return made
