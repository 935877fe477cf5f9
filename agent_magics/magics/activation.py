"""Taking a skill into a session and out of it: all or nothing.

The new state is made whole before anything is swapped, so a skill that fails to load leaves the
one before it in force, with its tools.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_magics.context import ActiveSkill
from agent_magics.errors import SkillError, UsageProblem
from agent_magics.library.discovery import Entry, Library
from agent_magics.library.resources import resource_files
from agent_magics.library.trust import needs_trust
from agent_magics.magics.displaying import displaying_inertly
from agent_magics.magics.services import Configured, Services
from agent_magics.magics.trusting import Gatekeeper
from agent_magics.policy import Policy
from agent_magics.session import Session
from agent_magics.skill import SERVERS, Skill
from agent_magics.skill.reading import flag
from agent_magics.tool import Tool, effective_tools
from agent_magics.tools.discretion import Redact, discreet


@dataclass(frozen=True, slots=True)
class Active:
    """Skills in force and the tools they brought; what a session holds, as one value."""

    skills: tuple[ActiveSkill, ...] = ()
    bundled: tuple[Tool, ...] = ()


def activated(
    name: str,
    *,
    services: Services,
    before: Active,
    gate: Gatekeeper,
    arguments: str = "",
    add: bool = False,
) -> Active:
    """What would be in force with this skill; changes nothing.

    Args:
        name: The skill, in any form that `Library.find` takes.
        services: For the disk, trust and configuration.
        before: What is in force now.
        gate: Lets a project's skill in, or does not.
        arguments: Text for the model.
        add: Keep the skills in force and stack this one.

    Raises:
        SkillError: It cannot be loaded; the message says what to change.
    """
    skill = services.library.find(name, hidden=services.configuration().disabled_skills)
    mine, tools = _taken(skill, arguments, services, gate)
    return _stacked(mine, tools, before) if add else Active((mine,), tools)


def refreshed(
    before: Active, services: Services, gate: Gatekeeper
) -> tuple[Active, tuple[str, ...]]:
    """The active skills as they are on the disk now, and what the person should know of it.

    A skill that cannot be taken as it is now stays in force as it was.
    """
    if not before.skills:
        return before, ()
    fresh = {entry.skill.root: entry.skill for entry in services.library.entries()}
    skills: list[ActiveSkill] = []
    bundled: list[Tool] = []
    news: list[str] = []
    for item in before.skills:
        name = item.skill.name
        kept, tools = item, tuple(tool for tool in before.bundled if tool.skill == name)
        skill = fresh.get(item.skill.root)
        if skill is None:
            news.append(f"Skill {name} is gone from the disk; it stays active as it was.")
        elif skill.digest != item.skill.digest:
            try:
                if skill.broken:
                    raise SkillError(skill.broken)
                kept, tools = _taken(skill, item.arguments, services, gate)
                news.append(f"Skill {name} changed on disk; the change is in force.")
            except SkillError as error:
                news.append(f"Skill {name} changed on disk, and stays as it was: {error}")
        skills.append(kept)
        bundled.extend(tools)
    return Active(tuple(skills), tuple(bundled)), tuple(news)


def _taken(
    skill: Skill, arguments: str, services: Services, gate: Gatekeeper
) -> tuple[ActiveSkill, tuple[Tool, ...]]:
    """One skill with its tools, if it may be used now."""
    if skill.name in services.configuration().disabled_skills:
        raise SkillError(f"The skill {skill.name!r} is disabled in {services.config_file.name}.")
    if not flag(skill, "user-invocable", default=True):
        raise SkillError(
            f"The skill {skill.name!r} is for the model to choose (user-invocable: false); see "
            "%config AgentMagics.skill_selection"
        )
    gate.admit(skill)
    tools = services.bundled(skill)
    files, more = resource_files(skill.root)
    return ActiveSkill(skill, arguments, files, more), tools


def _stacked(mine: ActiveSkill, tools: tuple[Tool, ...], before: Active) -> Active:
    """The skills before with this one behind them; two tools of one name are refused."""
    skill = mine.skill
    others = tuple(a for a in before.skills if a.skill.name != skill.name)
    kept = tuple(tool for tool in before.bundled if tool.skill != skill.name)
    taken = {tool.name: tool.skill for tool in kept}
    for tool in tools:
        if tool.name in taken:
            raise SkillError(
                f"Both {taken[tool.name]} and {skill.name} bring a tool named {tool.name}; "
                f"use one of them: %unuse {taken[tool.name]}"
            )
    return Active((*others, mine), (*kept, *tools))


def without(name: str, before: Active) -> Active:
    """What stays in force without one skill.

    Raises:
        SkillError: It is not active.
    """
    names = [active.skill.name for active in before.skills]
    if name not in names:
        raise SkillError(f"The skill {name!r} is not active; active: {', '.join(names) or 'none'}.")
    return Active(
        tuple(a for a in before.skills if a.skill.name != name),
        tuple(tool for tool in before.bundled if tool.skill != name),
    )


def visible_tools(
    builtins: Sequence[Tool],
    active: Active,
    config: Configured,
    policy: Policy,
    redactor: Callable[[], Redact],
    control: Sequence[Tool] = (),
    *,
    active_displays: bool = False,
) -> tuple[Tool, ...]:
    """The tools of a turn; the one place where a session's state meets `effective_tools`.

    None of them, whoever brought it, lets a secret out; and what a stranger's tool shows cannot
    act, unless the person wants it so (`active_displays`).
    """
    # What a person chose goes before what is installed.
    chosen = {tool.name for tool in active.bundled}
    tools = effective_tools(
        [tool for tool in builtins if not (tool.origin and tool.name in chosen)],
        tuple(item.skill for item in active.skills),
        active.bundled,
        control,
        disabled=config.disabled_tools,
        policy=policy,
    )
    shown = tools if active_displays else map(displaying_inertly, tools)
    return tuple(discreet(tool, redactor) for tool in shown)


def loaded_line(skill: Skill, visible: Sequence[Tool]) -> str:
    """What `%use` says: the skill and the tools that are visible through it."""
    here = {tool.name for tool in visible}
    bundled = [t.name for t in visible if t.skill == skill.name]
    parts = [f"bundled: {', '.join(bundled)}"] if bundled else []
    if skill.tools is None:
        parts.append("built-in: all")
    else:
        listed = [name for name in skill.tools if name in here]
        listed += sorted(name for name in here if skill.admits(name) and name not in listed)
        later = [
            name
            for name in skill.tools
            if name.startswith(SERVERS) and not fnmatch.filter(here, name)
        ]
        parts.append(f"built-in: {', '.join(listed) or 'none'}")
        parts += [f"when their MCP servers run: {', '.join(later)}"] if later else []
    return f"Loaded skill {skill.name} ({'; '.join(parts)})"


def skill_state(entry: Entry, session: Session, services: Services) -> str:
    """What `%skills` says: active, enabled, disabled, untrusted, shadowed or broken."""
    skill = entry.skill
    if entry.shadowed_by is not None:
        return f"shadowed by {entry.shadowed_by}"
    if skill.broken:
        return f"broken: {skill.broken}"
    if any(item.skill.root == skill.root for item in session.active):
        return "active"
    if skill.name in services.configuration().disabled_skills:
        return "disabled"
    if needs_trust(skill) and not services.trust.trusted(skill):
        return "untrusted"
    if not flag(skill, "user-invocable", default=True):
        return "enabled, for the model only"
    return "enabled"


def no_second_skill(name: str, arguments: str, library: Library) -> None:
    """`%use a b` with two skills is a slip, not an argument.

    Raises:
        UsageProblem: The one word behind the name is a skill as well.
    """
    names = {entry.skill.name for entry in library.entries()}
    if arguments in names:
        raise UsageProblem(
            f"%use takes one skill: %use {name}, then %use --add {arguments} for the second."
        )


def current(session: Session) -> Active:
    """What is in force in a session."""
    return Active(session.active, session.bundled)


def swap(session: Session, active: Active) -> None:
    """Put a new state in force."""
    session.active, session.bundled = active.skills, active.bundled
