"""The words of `%agent mcp prompt`. Pure."""

from __future__ import annotations

import shlex

from agent_magics.errors import UsageProblem

_USAGE = "%agent mcp prompt SERVER PROMPT [NAME=VALUE …]"


def prompt_words(words: str) -> tuple[str, str, dict[str, str]]:
    """The server, the prompt, and its arguments.

    Raises:
        UsageProblem: They are off.
    """
    try:
        parts = shlex.split(words)
    except ValueError as error:
        raise UsageProblem(f"{_USAGE}: a quotation mark is not closed") from error
    if len(parts) < 2:
        raise UsageProblem(f"Usage: {_USAGE}")
    arguments: dict[str, str] = {}
    for part in parts[2:]:
        name, sign, value = part.partition("=")
        if not sign or not name:
            raise UsageProblem(f"{part!r} is not NAME=VALUE. Usage: {_USAGE}")
        arguments[name] = value
    return parts[0], parts[1], arguments
