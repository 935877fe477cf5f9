"""`%agent hooks`: which checks of the person's are in force, and taking one out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.hooks.hook import Hook, HookCommand
from agent_magics.magics.views import View, table_view
from agent_magics.policy import CallFacts
from agent_magics.tool import Tool

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls


def hooks(magics: Controls, words: str) -> View | str:
    """List the hooks, or remove those of a name.

    Raises:
        UsageProblem: There is none of that name, or it stands in the configuration.
    """
    verb, _, name = words.partition(" ")
    if not verb:
        return _table(magics)
    if verb != "remove" or not name.strip():
        raise UsageProblem("%agent hooks lists the hooks; %agent hooks remove NAME takes one out.")
    return _removed(magics, name.strip())


def _removed(magics: Controls, name: str) -> str:
    gone = magics.hooks.remove(name)
    if gone:
        return f"Removed: {', '.join(f'{hook.name} ({hook.point})' for hook in gone)}"
    if any(hook.name == name for hook in magics.services.configuration().hooks):
        raise UsageProblem(
            f"The hook {name!r} stands in {magics.services.config_file}; take it out there."
        )
    there = ", ".join(hook.name for hook in magics.hooks.all()) or "none in this kernel"
    raise UsageProblem(f"There is no hook {name!r}; there are: {there}.")


def _table(magics: Controls) -> View:
    mine, configured = magics.hooks.all(), magics.services.configuration().hooks
    tools = magics.all_tools()
    rows = [
        (hook.point, hook.name, _about(hook, tools), f"{hook.timeout:g} s", _from(hook))
        for hook in (*mine, *configured)
    ]
    notes = [
        "In this order; a hook can only tighten. Add: @agent_magics.hook(POINT) above a function, "
        f"or hooks: in {magics.services.config_file}. Take out: %agent hooks remove NAME"
    ]
    title = "Hooks" if rows else "No hooks"
    return table_view(title, ("point", "hook", "tools", "time", "from"), rows, notes)


def _about(hook: Hook, tools: tuple[Tool, ...]) -> str:
    if not hook.tools:
        return "all" if hook.point in ("before_call", "after_call") else ""
    words = " ".join(hook.tools)
    facts = [CallFacts(tool.name, tool.effect, skill=tool.skill) for tool in tools]
    return words if any(hook.about(each) for each in facts) else f"{words} (no such tool now)"


def _from(hook: Hook) -> str:
    return "your configuration" if isinstance(hook.action, HookCommand) else "this kernel"
