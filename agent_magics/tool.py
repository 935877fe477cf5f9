"""What a tool is: a function with a schema, and the one function that says which exist.

A tool's `run` gets arguments that were already checked against its schema and judged by the
policy; it never asks anyone itself. Knows nothing of who calls it.
"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from agent_magics.commandline import CommandLine
from agent_magics.messages import JSON, Display, Image, Usage
from agent_magics.policy import CallFacts, Effect, Policy, Rule, Scope
from agent_magics.skill import Skill

Arguments: TypeAlias = Mapping[str, JSON]
Report: TypeAlias = Callable[[str], None]
"""Takes a piece of live output (progress); may be called from any thread, never raises."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back.

    Args:
        text: For the model. The loop cuts it at the session's budget.
        display: For the person, in place of the text.
        images: For models that take them.
        ok: False when the tool ran and failed; the model reads `text` either way.
        usage: Tokens that the work itself used; they count as the turn's.
    """

    text: str
    display: tuple[Display, ...] = ()
    images: tuple[Image, ...] = ()
    ok: bool = True
    usage: Usage = Usage()


class Runs(Protocol):
    """The work of a tool; raises `ToolError` for what the model should read and mend."""

    def __call__(self, arguments: Arguments, report: Report) -> Awaitable[ToolOutput]:
        """Do it; `arguments` were checked against the schema, `report` takes live output."""


def no_preview(_arguments: Arguments) -> tuple[Display, ...]:
    """For tools whose arguments already say everything."""
    return ()


def no_operand(_arguments: Arguments) -> str:
    """For tools that have no one text which a rule could be about."""
    return ""


def never_outside(_arguments: Arguments) -> bool:
    """For tools that touch no file."""
    return False


def no_commands(_arguments: Arguments) -> CommandLine | None:
    """For tools that run no shell command."""
    return None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    Args:
        name: Letters, digits, `_` and `-`, at most 64 characters (the providers' limit).
        description: For the model; the first line must stand alone.
        parameters: JSON Schema of an object.
        effect: What a call can do; decides the default policy.
        run: The work.
        skill: The skill that brought it; empty for built-in tools.
        operand: The text that policy patterns are matched on, and that the one-line summary
            shows: a path, a command.
        preview: What a person must see before they approve (a diff, the code), whole. Runs
            before the question and raises `ToolError` when the call cannot work at all, so that
            nobody is asked in vain.
        outside: Whether a call reaches outside the workspace.
        always: What an "always" button of a call would allow; empty: the button is not offered.
        commands: What the operand consists of, if it is a shell command; never raises.
        origin: Who brought it, for the person; empty for built-in tools and those of skills.
    """

    name: str
    description: str
    parameters: Mapping[str, JSON]
    effect: Effect
    run: Runs
    skill: str = ""
    operand: Callable[[Arguments], str] = no_operand
    preview: Callable[[Arguments], tuple[Display, ...]] = no_preview
    outside: Callable[[Arguments], bool] = never_outside
    always: Callable[[Arguments], tuple[Scope, ...]] | None = None
    commands: Callable[[Arguments], CommandLine | None] = no_commands
    origin: str = ""

    def facts(self, arguments: Arguments) -> CallFacts:
        """What the policy may know of a call with these arguments."""
        return CallFacts(
            self.name,
            self.effect,
            self.operand(arguments),
            self.skill,
            self.outside(arguments),
            self.commands(arguments),
        )

    def scopes(self, arguments: Arguments) -> tuple[Scope, ...]:
        """The "always" choices for a call; the whole tool for this session unless it says."""
        if self.always is not None:
            return self.always(arguments)
        rule = Rule(self.name, "allow", skill=self.skill)
        return (Scope(f"{self.name}, this session", rule),)


def effective_tools(
    builtins: Iterable[Tool],
    active_skills: Sequence[Skill],
    bundled: Iterable[Tool] = (),
    control: Iterable[Tool] = (),
    disabled: Iterable[str] = (),
    policy: Policy | None = None,
) -> tuple[Tool, ...]:
    """The tools of a turn: what the request offers, and all that the dispatcher will run.

    Whitelists of several skills intersect, so that a second skill can never reopen what a
    read-only one closed; bundled and control tools are not subject to them.

    Args:
        builtins: Every built-in tool.
        active_skills: The skills a person chose, in order.
        bundled: Tools those skills brought.
        control: Tools that steer the agent itself.
        disabled: Names that the user's configuration takes away.
        policy: Tools it denies outright are left out.

    Returns:
        Sorted by name, so that a request's prefix stays the same from turn to turn.
    """
    visible = [t for t in builtins if all(skill.admits(t.name) for skill in active_skills)]
    names: dict[str, Tool] = {}
    for tool in (*visible, *bundled, *control):
        names.setdefault(tool.name, tool)
    gone = set(disabled)
    return tuple(
        tool
        for name, tool in sorted(names.items())
        if name not in gone and not (policy and policy.denies_tool(name, tool.skill, tool.effect))
    )


def unavailable(name: str, tools: Sequence[Tool], active_skills: Sequence[Skill]) -> str:
    """The answer to a call of a tool that this turn does not have."""
    have = [tool.name for tool in tools]
    near = difflib.get_close_matches(name, have, n=3, cutoff=0.6)
    skills = " and ".join(skill.name for skill in active_skills)
    where = f" with skill {skills}" if skills else ""
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    listed = ", ".join(have) if have else "none"
    return f"Tool {name!r} is not available{where}.{hint} Available tools: {listed}."
