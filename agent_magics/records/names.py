"""Which variables a saved conversation takes to exist: made by its calls, or shown to it. Pure.

Knows no kernel; who resumes compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_magics.messages import JSON, ToolResult, User
from agent_magics.records.stored import StoredTurn

MOST = 1_000
"""Variables of a session; a loop may have made more, and the newest count."""


def believed(turns: Iterable[StoredTurn]) -> dict[str, str]:
    """Names to the types they had, empty where that is not known; oldest first.

    Args:
        turns: The story of a session, which holds also what was left out of its conversation.
    """
    names: dict[str, str] = {}
    for turn in turns:
        for message in turn.messages:
            if isinstance(message, User):
                for part in message.attachments:
                    if part.title.startswith("@"):
                        names.setdefault(part.title[1:], "")
            elif isinstance(message, ToolResult):
                for display in message.display:
                    if display.kind == "names":
                        _take(names, display.data)
    return dict(list(names.items())[-MOST:])


def _take(names: dict[str, str], data: dict[str, JSON] | JSON) -> None:
    for word in ("new", "changed"):
        for name, kind in _pairs(data.get(word)):
            names.pop(name, None)
            names[name] = kind
    for name, _ in _pairs(data.get("deleted")):
        names.pop(name, None)


def _pairs(rows: JSON) -> Iterator[tuple[str, str]]:
    """Names and types of a list that came from a file, as far as it is one."""
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and len(row) >= 2 and all(isinstance(x, str) for x in row[:2]):
            yield row[0], row[1]
