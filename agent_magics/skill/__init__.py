"""A skill as a value. The text of a SKILL.md becomes one in `agent_magics.skill.reading`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

Origin: TypeAlias = Literal["configured", "project", "user", "package", "bundled"]
"""Where a skill was found; also the order of precedence, first wins."""

SERVERS = "mcp__"
"""How the names of all tools of MCP servers begin: `mcp__SERVER__TOOL`."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is off about a skill.

    Args:
        severity: `error`: it cannot be used. `warning`: it can, but look. `info`: by the way.
        message: What is off.
        fix: What to change.
    """

    severity: Literal["error", "warning", "info"]
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}" if self.fix else self.message


@dataclass(frozen=True, slots=True)
class Action:
    """A quick action: a prompt that a skill offers ready to run.

    Args:
        id: What `%%agent --action` takes; unique in its skill.
        title: One line for people.
        prompt: What is sent, byte for byte.
        hint: What it is good for, in one line; may be empty.
        keywords: Other words that people look for.
    """

    id: str
    title: str
    prompt: str
    hint: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder with instructions, as far as its SKILL.md says.

    Args:
        name: The folder's name: what a person types.
        description: What it does and when to use it; may be empty.
        instructions: The body, whole.
        root: The skill's folder, by its real path.
        tools: The whitelist of built-in tools, and of names and globs of server tools; None: no
            filter, `()`: none of them.
        excluded: Names and globs of server tools that a glob of `tools` does not stand for.
        suggested_tools: A hint in the text, nothing more.
        allowed_tools: The standard's request for pre-approval: shown, never granted.
        metadata: The header's other keys, as text or nested values.
        digest: SHA-256 of everything in the folder that can matter, in hex.
        diagnostics: What is off about it.
        origin: Where it was found.
        bundled: Names of the functions in `tools.py`, read without running it.
        actions: The quick actions of `plugin.json` and of the header.
    """

    name: str
    description: str = ""
    instructions: str = ""
    root: Path = Path()
    tools: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    suggested_tools: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    origin: Origin = "bundled"
    bundled: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()

    @property
    def broken(self) -> str:
        """Why it cannot be used; empty if it can."""
        return next((str(d) for d in self.diagnostics if d.severity == "error"), "")

    def admits(self, name: str) -> bool:
        """Whether a built-in tool, or one of a server, stays visible with this skill.

        Which tools a server has is known only when it runs: globs of their names stay globs.
        """
        if self.tools is None:
            return True
        listed = name in self.tools or _served(name, self.tools)
        return listed and not _served(name, self.excluded)


def _served(name: str, patterns: Iterable[str]) -> bool:
    """Whether it is the name of a server's tool that one of these stands for."""
    return name.startswith(SERVERS) and any(
        pattern.startswith(SERVERS) and fnmatchcase(name, pattern) for pattern in patterns
    )
