"""Which servers are declared, and by whom: values, and the contract of whoever knows the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from agent_magics.errors import UsageProblem
from agent_magics.plain import visible
from agent_magics.tools.mcp.specs import ServerSpec

Wanted: TypeAlias = tuple[str, ...] | Literal[True]
"""The servers that a program asks for: names, or True for all that are enabled."""


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


@dataclass(frozen=True, slots=True)
class Fixed:
    """What was declared at one moment, for programs; nothing can be changed.

    Args:
        found: Default: nothing at all.
    """

    found: Declared = Declared()

    def declared(self) -> Declared:
        """The same at each time."""
        return self.found

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


def chosen(sources: Sources, wanted: Wanted) -> Fixed:
    """The servers that a program asks for, as they are declared now.

    Args:
        sources: Where declarations come from; not read where nothing is wanted.
        wanted: See `Wanted`.

    Raises:
        UsageProblem: A name is not declared, switched off, or of a project that is not trusted.
    """
    if not wanted:
        return Fixed()
    declared = sources.declared()
    if wanted is True:
        problems = (*declared.problems, *_untrusted(declared))
        return Fixed(Declared(declared.specs, declared.disabled, None, problems))
    specs = {spec.name: spec for spec in declared.specs}
    for name in wanted:
        if name not in specs:
            raise UsageProblem(_unknown(name, declared))
        if name in declared.disabled:
            raise UsageProblem(
                f"The MCP server {visible(name)} is switched off; %agent mcp enable "
                f"{visible(name)} in a notebook switches it on, unless its declaration says "
                "disabled."
            )
    return Fixed(Declared(tuple(specs[name] for name in wanted)))


def _unknown(name: str, declared: Declared) -> str:
    """Why there is no such server, and which there are."""
    untrusted = _untrusted(declared)
    if declared.untrusted and name in {spec.name for spec in declared.untrusted.specs}:
        return untrusted[0]
    names = ", ".join(sorted(visible(spec.name) for spec in declared.specs))
    there = f"declared: {names}" if names else "none is declared"
    parts = (f"There is no MCP server {visible(name)}; {there}", *declared.problems, *untrusted)
    return ". ".join(parts)


def _untrusted(declared: Declared) -> tuple[str, ...]:
    if declared.untrusted is None:
        return ()
    names = ", ".join(visible(spec.name) for spec in declared.untrusted.specs)
    return (
        f"This project names MCP servers ({names}), which are not started: %agent mcp trust in a "
        "notebook shows them and asks you",
    )
