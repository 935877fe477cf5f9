"""Plug-ins: what installed packages bring by entry points, imported when it is first used.

    [project.entry-points."agent_magics.tools"]
    acme = "acme_agent:tools"              # functions or `Tool`s, or a list of them
    [project.entry-points."agent_magics.providers"]
    acme = "acme_agent:model"              # called with a model's name, gives a `ports.Model`
    [project.entry-points."agent_magics.frontends"]
    acme = "acme_agent:front_end"          # see `frontends.plugged`
    [project.entry-points."agent_magics.skills"]
    acme = "acme_agent.skills"             # see `packages`

A plug-in that is broken is a line in `%agent plugins` and nothing else. What lies in the project is
none, see `entry_points`; nor is a module of a plug-in's name that came from elsewhere.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agent_magics.importing import installed_only
from agent_magics.library.entry_points import (
    EntryPoint,
    EntryPoints,
    SearchPath,
    installed_spec,
)
from agent_magics.library.plugin_tools import tools_of
from agent_magics.plain import visible
from agent_magics.tool import Tool

Kind: TypeAlias = Literal["tools", "providers", "frontends", "skills"]
KINDS: tuple[Kind, ...] = ("tools", "providers", "frontends", "skills")
GROUPS: dict[str, Kind] = {f"agent_magics.{kind}": kind for kind in KINDS}
MAX_PLUGINS = 200
"""Entry points that are followed."""

_VALUE = re.compile(r"(?P<module>\w+(?:\.\w+)*)(?::(?P<name>\w+(?:\.\w+)*))?")


class PluginProblem(Exception):
    """A plug-in cannot be used; the text says why, for the person."""


@dataclass(frozen=True, slots=True)
class State:
    """One plug-in as `%agent plugins` shows it.

    Args:
        kind: What it brings.
        name: Of the entry point.
        package: Who brings it, with the version.
        state: `disabled`, `not loaded yet`, `loaded`, or `broken: ` and why.
        brings: Names of its tools, where they are known.
    """

    kind: Kind
    name: str
    package: str
    state: str
    brings: tuple[str, ...] = ()


@dataclass(slots=True)
class Plugins:
    """The plug-ins of one shell or program.

    Args:
        root: The workspace, whose project brings none.
        disabled: Packages, or names of entry points, that are not used.
        taken: Names of built-in tools.
        points: The entry points of all groups.
    """

    root: Callable[[], Path]
    disabled: Callable[[], Collection[str]]
    taken: Collection[str]
    points: EntryPoints
    _loaded: dict[EntryPoint, object] = field(default_factory=dict)
    _tools: dict[EntryPoint, tuple[Tool, ...]] = field(default_factory=dict)
    _problems: dict[EntryPoint, str] = field(default_factory=dict)
    _unimportable: dict[EntryPoint, str] = field(default_factory=dict)

    def tools(self) -> tuple[Tool, ...]:
        """The tools of all plug-ins; one whose names are taken brings none."""
        found: dict[str, Tool] = {}
        for entry in self._enabled("tools"):
            try:
                mine = self._tools_of(entry)
                for tool in mine:
                    if tool.name in self.taken or tool.name in found:
                        who = found[tool.name].origin if tool.name in found else "a built-in tool"
                        raise PluginProblem(f"the name of its tool {tool.name} is taken by {who}")
            except PluginProblem as problem:
                self._problems[entry] = str(problem)
            else:
                found |= {tool.name: tool for tool in mine}
        return tuple(found.values())

    def names(self, kind: Kind) -> tuple[str, ...]:
        """The names of a kind that can be used; nothing is imported."""
        return tuple(dict.fromkeys(entry.name for entry in self._enabled(kind)))

    def get(self, kind: Kind, name: str) -> tuple[object, str]:
        """What an entry point leads to, and the package that brings it.

        Raises:
            PluginProblem: There is none of this name, or it cannot be imported.
        """
        entry = next((e for e in self._enabled(kind) if e.name == name), None)
        if entry is None:
            there = ", ".join(self.names(kind)) or "none"
            raise PluginProblem(f"no installed package brings {name!r}; there are: {there}")
        return self._value(entry), package_of(entry)

    def broke(self, kind: Kind, name: str, why: str) -> None:
        """Note that a plug-in failed at its work, for the list."""
        for entry in self._enabled(kind):
            if entry.name == name:
                self._problems[entry] = why

    def load_all(self) -> None:
        """Import all of them, also those that failed before, so that the list says which do."""
        self._unimportable.clear()
        self.tools()
        for kind in KINDS[1:3]:
            for entry in self._enabled(kind):
                try:
                    self._value(entry)
                except PluginProblem as problem:
                    self._problems[entry] = str(problem)

    def states(self) -> tuple[State, ...]:
        """All of them, disabled and broken ones too; nothing is imported."""
        disabled = set(self.disabled())
        return tuple(self._state(entry, disabled) for entry in self._entries())

    def _state(self, entry: EntryPoint, disabled: set[str]) -> State:
        brings: tuple[str, ...] = ()
        kind = GROUPS[entry.group]
        if _named(entry) & disabled:
            state = "disabled"
        elif entry in self._problems:
            state = f"broken: {self._problems[entry]}"
        elif kind == "skills":
            state = "see %skills"
        elif entry in self._loaded:
            state = "loaded"
            brings = tuple(tool.name for tool in self._tools.get(entry, ()))
        else:
            state = "not loaded yet"
        return State(kind, visible(entry.name), package_of(entry), state, brings)

    def _entries(self) -> tuple[EntryPoint, ...]:
        return self.points.found(self.root()).entries[:MAX_PLUGINS]

    def _enabled(self, kind: Kind) -> tuple[EntryPoint, ...]:
        disabled = set(self.disabled())
        return tuple(
            entry
            for entry in self._entries()
            if GROUPS[entry.group] == kind and not _named(entry) & disabled
        )

    def _tools_of(self, entry: EntryPoint) -> tuple[Tool, ...]:
        if entry not in self._tools:
            value = self._value(entry)
            try:
                self._tools[entry] = tools_of(value, f"plug-in {package_of(entry)}", self.root)
            except Exception as error:
                raise PluginProblem(_said(error)) from error
        return self._tools[entry]

    def _value(self, entry: EntryPoint) -> object:
        # An import that fails can take long; it is tried again only when the person checks.
        if entry in self._unimportable:
            raise PluginProblem(self._unimportable[entry])
        if entry not in self._loaded:
            try:
                self._loaded[entry] = _imported(entry, self.points.found(self.root()).path)
            except PluginProblem as problem:
                self._unimportable[entry] = str(problem)
                raise
            self._problems.pop(entry, None)
        return self._loaded[entry]


def package_of(entry: EntryPoint) -> str:
    """`name version` of the package that has the entry point."""
    return visible(f"{entry.package} {entry.version}".strip())


def _named(entry: EntryPoint) -> set[str]:
    return {entry.name, entry.package, entry.package.replace("-", "_")}


def _imported(entry: EntryPoint, path: SearchPath) -> object:
    match = _VALUE.fullmatch(entry.value.replace(" ", ""))
    if match is None:
        raise PluginProblem(f"{visible(entry.value)!r} is no MODULE:NAME")
    top = match["module"].partition(".")[0]
    try:
        with installed_only():
            _check_place(top, path)
            value: object = importlib.import_module(match["module"])
        for name in (match["name"] or "").split("."):
            value = getattr(value, name) if name else value
    except PluginProblem:
        raise
    except (Exception, SystemExit) as error:
        # A stranger's module may raise anything at its import.
        raise PluginProblem(_said(error)) from error
    return value


def _check_place(top: str, path: SearchPath) -> None:
    """See that Python would import, or has imported, what is installed."""
    installed = installed_spec(top, path)
    if installed is None:
        raise PluginProblem(f"there is no installed module {top}")
    meant = importlib.util.find_spec(top)
    if meant is None or _place(meant) != _place(installed):
        where = f" from {min(_place(meant), default='?')}" if meant is not None else ""
        raise PluginProblem(f"another module {top} comes before it{where}")


def _place(spec: importlib.machinery.ModuleSpec) -> frozenset[str]:
    folders = spec.submodule_search_locations
    places = [*folders] if folders is not None else [spec.origin or ""]
    return frozenset(os.path.realpath(place) for place in places)


def _said(error: BaseException) -> str:
    text = " ".join(visible(str(error)).split())[:300]
    return f"{type(error).__name__}: {text}".removesuffix(": ")
