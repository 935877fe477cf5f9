"""What `%skills` does beside listing: check, make, copy, switch, trust."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from agent_magics.library.authoring import checked, copied, created, with_standard
from agent_magics.library.discovery import Entry
from agent_magics.library.trust import needs_trust
from agent_magics.magics.services import Services
from agent_magics.magics.trusting import shown
from agent_magics.magics.views import View, table_view
from agent_magics.tools.plain import counted


def run_skills_command(words: argparse.Namespace, services: Services) -> View | str | None:
    """Do what the options of a `%skills` line ask for; None when they ask for nothing of it.

    Raises:
        SkillError: The skill or folder is not there, or the work cannot be done.
        ConfigError: A file of the configuration cannot be written.
    """
    root = services.workspace.root()
    tools = [tool.name for tool in services.builtins()]
    commands: dict[str, Callable[[str], View | str]] = {
        "trust": lambda name: _trust(name, services),
        "enable": lambda name: _switch(name, services, on=True),
        "disable": lambda name: _switch(name, services, on=False),
        "new": lambda name: _new(root / "skills", name, tools=words.tools),
        "add": lambda path: _add(_below(root, path), services, tools),
        "check": lambda path: check_view(_entries(path, root, services, tools)),
    }
    for name, command in commands.items():
        value = getattr(words, name)
        if value is not None:
            return command(value)
    return None


def check_view(entries: tuple[Entry, ...]) -> View:
    """Every diagnostic of some skills, and a line that counts them."""
    rows = [
        (entry.skill.name, problem.severity, problem.message, problem.fix)
        for entry in entries
        for problem in entry.skill.diagnostics
    ]
    errors = sum(severity == "error" for _, severity, _, _ in rows)
    warnings = sum(severity == "warning" for _, severity, _, _ in rows)
    title = (
        f"{counted(len(entries), 'skill')} checked: {counted(errors, 'error')}, "
        f"{counted(warnings, 'warning')}"
    )
    return table_view(title, ("skill", "severity", "what", "what to change"), rows)


def _entries(path: str, root: Path, services: Services, tools: list[str]) -> tuple[Entry, ...]:
    if path:
        return checked(_below(root, path), tools)
    return tuple(with_standard(entry) for entry in services.library.entries())


def _trust(name: str, services: Services) -> str:
    skill = services.library.find(name)
    if not needs_trust(skill):
        return f"The skill {skill.name} is not this project's ({skill.origin}); it needs no trust."
    facts = shown(skill)[0].text
    services.trust.remember(skill)
    return f"Trusted: {skill.name} as it is now; a change asks again.\n{facts}"


def _switch(name: str, services: Services, *, on: bool) -> str:
    skill = services.library.find(name)
    services.switch(skill.name, on)
    return f"Skill {skill.name} is {'enabled' if on else 'disabled'}."


def _new(folder: Path, name: str, *, tools: bool) -> str:
    root = created(folder, name, tools=tools)
    files = "SKILL.md and tools.py" if tools else "SKILL.md"
    return f"Made skills/{root.name} with {files}: edit, then %skills --check skills/{root.name}"


def _add(source: Path, services: Services, tools: list[str]) -> str:
    target = copied(source, services.own_skills, tools)
    return f"Copied to {target}: it is yours now, and trusted as such. Read it before you use it."


def _below(root: Path, path: str) -> Path:
    return root / Path(path).expanduser()
