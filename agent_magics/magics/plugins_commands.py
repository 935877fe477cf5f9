"""`%agent plugins`: what installed packages bring, and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.views import View, table_view

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls


def plugins(magics: Controls, words: str) -> View:
    """List the plug-ins; `check` imports them all first.

    Raises:
        UsageProblem: Another word than `check`.
    """
    if words not in ("", "check"):
        raise UsageProblem(
            "%agent plugins lists them; %agent plugins check imports them all first."
        )
    known = magics.services.plugins
    if words == "check":
        known.load_all()
    rows = [
        (each.kind, each.name, each.package, ", ".join(each.brings), each.state)
        for each in known.states()
    ]
    notes = [
        "Installed into this environment is enabled; switch off with disabled_plugins: in "
        f"{magics.services.config_file}. A tool of a plug-in asks unless a rule allows it. "
        "A provider's model: %agent model NAME:MODEL. A front end: %config AgentMagics.frontend = "
        "'NAME'."
    ]
    title = "Plug-ins" if rows else "No plug-ins are installed"
    return table_view(title, ("kind", "name", "package", "tools", "state"), rows, notes)
