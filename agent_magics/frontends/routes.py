"""Who can answer a question in the cell that runs now, and what that front end can show.

Reads it off the kernel's parent message and the settings; pure but for one look at the terminal.
The facts behind each sign were measured with real front ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Approvals: TypeAlias = Literal["auto", "widgets", "prompt", "deny"]
RouteKind: TypeAlias = Literal["widgets", "prompt", "nobody"]
WORKING = "working"
"""What a tap's state reads when clicks can arrive."""

VSCODE_PATIENCE = 4
"""How many times longer than a notebook in a browser VS Code gets: it loads the code that shows
widgets when the first one comes."""

UNKNOWN_PATIENCE = 0.5
"""As above, for clients that name no cell, such as the console, which never show widgets."""


@dataclass(frozen=True, slots=True)
class StageSettings:
    """How questions are put.

    Args:
        approvals: `auto`: buttons where they work, else typed, else nobody. `widgets`: buttons,
            also where the front end takes no typed input. `prompt`: typed. `deny`: nobody is
            asked.
        approval_timeout: Seconds until an unanswered question counts as refused; None: never.
        hello_timeout: Seconds that a notebook gets to show its first buttons, before the
            question is typed instead. JupyterLab takes 0.1.
        times: Whether a notebook's outputs say how long things took; without, they are the same
            from run to run.
        frontend: The name of a plug-in's front end; empty: the package's own.
    """

    approvals: Approvals = "auto"
    approval_timeout: float | None = None
    hello_timeout: float = 4.0
    times: bool = True
    frontend: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """Who can answer.

    Args:
        kind: `widgets`: buttons in the cell, `prompt`: typed, `nobody`.
        detail: The same in words, for the panel and for refusals.
        patience: Seconds to wait for the buttons to show.
        updates: Whether the front end can change an output that it has shown.
    """

    kind: RouteKind
    detail: str
    patience: float = 0.0
    updates: bool = True


def terminal_route(settings: StageSettings, *, tty: bool) -> Route:
    """The route of IPython in a terminal.

    Args:
        settings: Of this run.
        tty: Whether standard input is a terminal.
    """
    if settings.approvals == "deny":
        return _told_to_deny(updates=False)
    if not tty:
        return Route("nobody", "standard input is not a terminal", updates=False)
    words = "typed answers in the terminal"
    if settings.approvals == "widgets":
        words += " (it has no buttons)"
    return Route("prompt", words, updates=False)


def kernel_route(
    settings: StageSettings,
    parent: Mapping[str, Any],
    *,
    tap_state: str,
    silent_clients: Collection[str] = (),
    updates_anyway: bool = False,
) -> Route:
    """The route of a cell in a kernel.

    Args:
        settings: Of this run.
        parent: The message that runs the cell.
        tap_state: `WORKING`, or why clicks cannot arrive.
        silent_clients: Front ends that did not show buttons before.
        updates_anyway: For front ends that name no cell and yet can update outputs.
    """
    can_type = bool((parent.get("content") or {}).get("allow_stdin"))
    cell = str((parent.get("metadata") or {}).get("cellId") or "")
    client = str((parent.get("header") or {}).get("session") or "")
    # The console, qtconsole and the like name no cell, and show each output once.
    updates = bool(cell) or updates_anyway
    if settings.approvals == "deny":
        return _told_to_deny(updates=updates)
    if not can_type and settings.approvals != "widgets":
        words = "the front end takes no input (a notebook run by nbclient, nbconvert, papermill …)"
        return Route("nobody", words, updates=updates)
    if settings.approvals == "prompt":
        return Route("prompt", "typed answers (approvals = prompt)", updates=updates)
    why_not = ""
    if tap_state != WORKING:
        why_not = f"buttons cannot be heard while a cell runs: {tap_state}"
    elif client in silent_clients:
        why_not = "this front end did not show buttons"
    if why_not:
        if can_type:
            return Route("prompt", f"typed answers ({why_not})", updates=updates)
        return Route("nobody", why_not, updates=updates)
    patience = settings.hello_timeout * _patience(cell)
    words = f"buttons in the cell (typed answers if none show within {patience:g} s)"
    return Route("widgets", words, patience, updates)


def _patience(cell: str) -> float:
    if cell.startswith("vscode-"):
        return VSCODE_PATIENCE
    return 1.0 if cell else UNKNOWN_PATIENCE


def _told_to_deny(*, updates: bool) -> Route:
    return Route("nobody", "approvals are set to deny", updates=updates)
