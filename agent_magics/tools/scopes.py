"""What an "always" button of a file tool offers.

Owns the rule that a path outside the workspace, or a protected one, is only ever allowed by
itself and never by a button that names the whole tool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from agent_magics.policy import Rule, Scope
from agent_magics.tool import Arguments
from agent_magics.tools.workspace import Workspace

Scopes: TypeAlias = Callable[[Arguments], tuple[Scope, ...]]


def lasting(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """The choices with one more: the widest of them, for every session to come.

    Only for what means the same in every folder: a command or an address, never a file.
    """
    if not scopes:
        return ()
    widest = scopes[-1]
    label = f"{widest.label.removesuffix(', this session')}, in every session"
    return (*scopes, Scope(label, replace(widest.rule, source="user")))


def this_path(tool: str, workspace: Workspace) -> Scopes:
    """Only the very path of the call, for tools that need no asking inside the workspace."""

    def scopes(arguments: Arguments) -> tuple[Scope, ...]:
        return exactly(tool, workspace.shown(arguments.get("path") or "."))

    return scopes


def exactly(tool: str, operand: str) -> tuple[Scope, ...]:
    """Only calls with this very operand; nothing if a rule could not say so."""
    # `*` is the one wildcard of rules: a file of that name would allow others too.
    if "*" in operand:
        return ()
    return (Scope(f"{tool} {operand}, this session", Rule(tool, "allow", operand)),)


def changed_path(tool: str, label: str, workspace: Workspace) -> Scopes:
    """The file of the call; and all files of the workspace, if the file is an ordinary one.

    Args:
        tool: `edit` or `write`.
        label: What the wider button says.
        workspace: Says what is inside.
    """
    return changed_operand(
        tool,
        label,
        lambda arguments: workspace.shown(arguments["path"]),
        lambda arguments: workspace.outside(arguments["path"], write=True),
    )


def changed_operand(
    tool: str,
    label: str,
    operand: Callable[[Arguments], str],
    outside: Callable[[Arguments], bool],
) -> Scopes:
    """The very operand of the call; and the whole tool, if the call is an ordinary one.

    Args:
        tool: A tool that changes files.
        label: What the wider button says.
        operand: What rules are matched on.
        outside: Whether the call touches anything outside the workspace, or protected.
    """

    def scopes(arguments: Arguments) -> tuple[Scope, ...]:
        narrow = exactly(tool, operand(arguments))
        if outside(arguments):
            return narrow
        return (*narrow, Scope(label, Rule(tool, "allow")))

    return scopes
