"""Loading and unloading: the composition root.

The one place that reads the environment and the configuration files and that knows every part.
What is loaded lives on the shell's magics registry, so that two loads cannot stack and nothing is
left behind.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_magics.extension.assembly import make_services
from agent_magics.extension.dotenv import believed
from agent_magics.extension.environment import read_environment
from agent_magics.frontends import results
from agent_magics.importing import installed_only
from agent_magics.magics.activation import current
from agent_magics.magics.agent import AgentMagics
from agent_magics.magics.completion import Words, make_matcher
from agent_magics.magics.quick_actions import action_names, offers
from agent_magics.magics.recording import session_words
from agent_magics.magics.transform import comments_above

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

GREETED = 10
"""Names of skills that the greeting shows; the line stays one line."""
REGISTERED = {"line": ("skills", "use", "unuse", "agent"), "cell": ("agent",)}


def load(shell: InteractiveShell) -> None:
    """Register the magics and say in one line what there is."""
    if loaded(shell) is not None:
        return
    with installed_only():
        _load(shell)


def _load(shell: InteractiveShell) -> None:
    variables, dropped = believed(os.environ, Path.cwd())
    environment = read_environment(variables)
    magics = AgentMagics(shell, lambda owner: make_services(shell, owner, environment, os.environ))
    shell.register_magics(magics)
    matcher = make_matcher(
        Words(
            skills=lambda: _usable(magics),
            active=lambda: [item.skill.name for item in magics.session.active],
            tools=lambda: [tool.name for tool in magics.all_tools()],
            actions=lambda: action_names(offers(magics.services, current(magics.session))),
            sessions=lambda: session_words(magics.services),
            servers=lambda: [spec.name for spec in magics.services.mcp.sources.declared().specs],
            variables=lambda: [name for name in magics.namespace() if name.isidentifier()],
            models=lambda token: magics.services.endpoints.words(token),
        )
    )
    magics.loaded = matcher
    if getattr(shell, "Completer", None) is not None:
        shell.Completer.custom_matchers.append(matcher)
    shell.input_transformers_cleanup.append(comments_above)
    results.install(shell.display_formatter)
    magics.services.stage.install()
    magics.services.notebook.install()
    atexit.register(magics.services.mcp.close)
    print(_greeting(_usable(magics)))  # noqa: T201
    for name in dropped:
        print(f"Configuration: {name} comes from this project's .env, and is not used")  # noqa: T201
    for problem in magics.services.configuration().problems:
        print(f"Configuration: {problem}")  # noqa: T201  # the person must know


def unload(shell: InteractiveShell) -> None:
    """Take everything out that `load` put in."""
    magics = loaded(shell)
    if magics is None:
        return
    magics.services.stage.close()
    magics.services.notebook.remove()
    results.remove(shell.display_formatter)
    magics.services.records.close()
    magics.services.tapes.close()
    atexit.unregister(magics.services.mcp.close)
    magics.services.mcp.close()
    magics.services.requests.stop()
    completer = getattr(shell, "Completer", None)
    if completer is not None and magics.loaded in completer.custom_matchers:
        completer.custom_matchers.remove(magics.loaded)
    if comments_above in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(comments_above)
    for kind, names in REGISTERED.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.magics_manager.registry.pop(AgentMagics.__name__, None)
    configurables: list[Any] = shell.configurables
    if magics in configurables:
        configurables.remove(magics)


def loaded(shell: InteractiveShell) -> AgentMagics | None:
    """The magics that are registered in this shell."""
    magics = shell.magics_manager.registry.get(AgentMagics.__name__)
    return magics if isinstance(magics, AgentMagics) else None


def _usable(magics: AgentMagics) -> list[str]:
    """The names that `%use` takes."""
    disabled = magics.services.configuration().disabled_skills
    entries = magics.services.library.entries()
    names = [entry.skill.name for entry in entries if entry.state == "enabled"]
    return [name for name in names if name not in disabled]


def _greeting(skills: Sequence[str]) -> str:
    shown = list(dict.fromkeys(skills))
    names = ", ".join(shown[:GREETED]) or "none"
    if len(shown) > GREETED:
        names += f" and {len(shown) - GREETED} more"
    return f"agent_magics: skills {names}. Commands: %skills, %use NAME, %%agent (panel: %agent)"
