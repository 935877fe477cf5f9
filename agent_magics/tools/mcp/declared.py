"""Which servers are declared, and by whom: values, and the contract of whoever knows the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_magics.errors import UsageProblem
from agent_magics.tools.mcp.specs import ServerSpec


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The servers that the project's own file names, and that nobody has trusted yet.

    Args:
        path: The file.
        digest: Of its content.
        specs: What it names.
    """

    path: Path
    digest: str
    specs: tuple[ServerSpec, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """What the configuration says now.

    Args:
        specs: All servers that may be started, each name once.
        disabled: Names of those that are switched off.
        untrusted: The project's file, while it is not trusted.
        problems: What is off, for the person.
    """

    specs: tuple[ServerSpec, ...] = ()
    disabled: frozenset[str] = frozenset()
    untrusted: ProjectFile | None = None
    problems: tuple[str, ...] = ()

    @property
    def enabled(self) -> tuple[ServerSpec, ...]:
        """Those that are started when they are needed."""
        return tuple(spec for spec in self.specs if spec.name not in self.disabled)


class Sources(Protocol):
    """Where declarations come from."""

    def declared(self) -> Declared:
        """What the files say now."""

    def trust(self, file: ProjectFile) -> None:
        """Trust exactly this content of a project's file."""

    def switch(self, name: str, *, on: bool) -> None:
        """Enable or disable a server, for later kernels as well."""

    def take(self, path: Path) -> tuple[ServerSpec, ...]:
        """Add the servers of a JSON file to the person's own."""

    def drop(self, name: str) -> bool:
        """Take one of these back; whether there was one."""


class NoSources:
    """Nothing is declared; for programs, and where MCP is not wanted."""

    def declared(self) -> Declared:
        """Nothing."""
        return Declared()

    def trust(self, file: ProjectFile) -> None:
        """Nothing is kept."""

    def switch(self, name: str, *, on: bool) -> None:
        """Nothing is kept."""

    def take(self, path: Path) -> tuple[ServerSpec, ...]:
        """Nothing is taken."""
        raise UsageProblem("MCP servers cannot be added here.")

    def drop(self, name: str) -> bool:
        """There is none."""
        return False
