"""Names of MCP tools: `mcp__SERVER__TOOL`, as every provider takes them. Pure.

A server's part never holds `__` nor ends with `_`, so that a rule for `mcp__git__*` means the tools
of that one server, whatever another server calls its own.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from agent_magics.skill import SERVERS

LONGEST = 64
"""Characters of a tool's name that providers take."""
SERVER = 24
"""Characters of the server's part, so that there is room for the tool's."""


def server_parts(names: Iterable[str]) -> Mapping[str, str]:
    """What stands for each server in the names of its tools; no two are equal."""
    plain = {name: _server_part(name) for name in names}
    often = Counter(plain.values())
    return {
        name: part if often[part] == 1 else f"{part[: SERVER - 7]}_{_mark(name)}"
        for name, part in plain.items()
    }


def tool_names(part: str, names: Iterable[str]) -> Mapping[str, str]:
    """The name under which each tool of a server is offered; no two are equal.

    Tools whose names would fall together all get a mark: a rule for the plain name means none.

    Args:
        part: What stands for the server.
        names: As the server calls its tools.
    """
    wanted = {name: f"{SERVERS}{part}__{_sound(name)}" for name in names}
    often = Counter(name[:LONGEST] for name in wanted.values())
    return {
        name: full
        if often[full[:LONGEST]] == 1 and len(full) <= LONGEST
        else f"{full[: LONGEST - 7]}_{_mark(name)}"
        for name, full in wanted.items()
    }


def _server_part(name: str) -> str:
    part = re.sub(r"_{2,}", "_", _sound(name))[:SERVER].strip("_")
    return part or "server"


def _sound(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "tool"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
