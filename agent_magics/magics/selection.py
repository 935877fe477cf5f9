"""Letting the model choose a skill: what it is offered, and the tool that gives the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_magics.catalogue import loaded_by_model
from agent_magics.context import ActiveSkill
from agent_magics.library.resources import resource_files
from agent_magics.library.trust import needs_trust
from agent_magics.magics.activation import Active
from agent_magics.magics.services import Services
from agent_magics.messages import Assistant, Conversation, ToolResult
from agent_magics.skill import Skill
from agent_magics.skill.reading import flag
from agent_magics.tool import Arguments, Report, Tool, ToolOutput

TOOL = "skill"


def selectable(services: Services, active: Active) -> tuple[Skill, ...]:
    """The skills that a model may choose: usable, described, trusted, and not active already."""
    disabled = services.configuration().disabled_skills
    taken = {item.skill.name for item in active.skills}
    return tuple(
        entry.skill
        for entry in services.library.entries()
        if entry.state == "enabled"
        and entry.skill.description
        and entry.skill.name not in disabled
        and entry.skill.name not in taken
        and not flag(entry.skill, "disable-model-invocation", default=False)
        and (not needs_trust(entry.skill) or services.trust.trusted(entry.skill))
    )


def skill_tool(skills: Sequence[Skill], conversation: Callable[[], Conversation]) -> Tool | None:
    """The tool that gives a skill's text; None without skills, so that nothing is offered.

    Args:
        skills: What may be chosen.
        conversation: As it is when the tool runs, to see what was loaded already.
    """
    if not skills:
        return None
    known = {skill.name: skill for skill in skills}

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        skill = known[arguments["name"]]
        files, more = resource_files(skill.root)
        text = loaded_by_model(ActiveSkill(skill, files=files, more_files=more))
        if already_loaded(conversation(), text):
            return ToolOutput(f"The skill {skill.name} is loaded already; its text stands above.")
        return ToolOutput(text)

    return Tool(
        TOOL,
        "Load a skill's instructions.\nCall it before the work that the skill is about.",
        {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": sorted(known)}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "control",
        run,
        operand=lambda arguments: str(arguments.get("name", "")),
    )


def already_loaded(conversation: Conversation, text: str) -> bool:
    """Whether a skill's text stands in the conversation, unpruned."""
    calls = {
        c.id for m in conversation if isinstance(m, Assistant) for c in m.calls if c.name == TOOL
    }
    return any(
        isinstance(m, ToolResult) and m.call_id in calls and m.text == text for m in conversation
    )
