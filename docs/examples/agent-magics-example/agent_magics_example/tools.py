"""Tools: functions under `@tool`, with a type for each parameter and a docstring."""

from __future__ import annotations

from pathlib import Path

from agent_magics import tool
from agent_magics.errors import ToolError


@tool
def count_words(workspace: Path, file: str) -> str:
    """Count the words of a text file.

    Args:
        file: A path in the workspace.
    """
    path = (workspace / file).resolve()
    if not path.is_relative_to(workspace.resolve()):
        raise ToolError(f"{file} is outside the workspace.")
    if not path.is_file():
        raise ToolError(f"There is no file {file}.")
    words = path.read_text(encoding="utf-8", errors="replace").split()
    return f"{file} has {len(words)} words."
