"""Asking whether the code of a project's skill may be imported."""

from __future__ import annotations

from collections.abc import Callable

from agent_magics.skill import Skill


def confirmed(skill: Skill, setting: str, someone_answers: Callable[[], bool]) -> bool:
    """Whether the person wants exactly this content imported.

    Args:
        skill: A project's skill with a tools.py.
        setting: `AgentMagics.skill_code`: ask, never, allow.
        someone_answers: Whether a typed answer can come; nobody there is a no.
    """
    if setting != "ask":
        return setting == "allow"
    if not someone_answers():
        return False
    print(f"Skill {skill.name!r} belongs to this project and brings code: {str(skill.root)!r}")
    print(f"Its tools.py defines: {', '.join(skill.bundled)}. Importing it runs it in this kernel.")
    try:
        return input("Trust exactly this content? [y/N] ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
