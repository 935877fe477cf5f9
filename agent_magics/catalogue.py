"""Skills that a model may choose, and skills that stand in the conversation. Pure texts.

A model's choice can only add text: what a skill says about tools takes effect when a person runs
`%use`, and the text that the model gets says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magics.context import ActiveSkill, skill_text
from agent_magics.messages import Assistant, Conversation, Message, User
from agent_magics.skill import Skill

BUDGET = 8_000
"""Characters of all lines together: about 2,000 tokens, some 25 skills of common length."""
SHORTEST = 60
"""Characters to which a description is shortened at the most."""

HEAD = (
    "Skills: instructions for certain kinds of work. When one fits what the person asks, call the "
    "skill tool with its name first, and follow what it says. Prefer a matching skill."
)


def catalogue(skills: Sequence[Skill], budget: int = BUDGET) -> tuple[str, str]:
    """One line for each skill within a budget, and what had to be shortened.

    Args:
        skills: Those that may be offered, sorted.
        budget: Characters of all lines.

    Returns:
        The block for the system prompt, empty without skills; and a sentence for the person when
        descriptions were cut or skills left out, else empty.
    """
    if not skills:
        return "", ""
    texts = {skill.name: _line_of(skill) for skill in skills}
    longest = max(len(text) for text in texts.values())
    while _size(texts, longest) > budget and longest > SHORTEST:
        longest -= 10
    shortened = sum(len(text) > longest for text in texts.values())
    lines: list[str] = []
    used = 0
    for name, text in texts.items():
        line = f"- {name}: {text if len(text) <= longest else text[: longest - 1] + '…'}"
        if used + len(line) + 1 > budget:
            break
        lines.append(line)
        used += len(line) + 1
    left_out = len(texts) - len(lines)
    notes = []
    if shortened:
        notes.append(f"{shortened} descriptions are cut to {longest} characters")
    if left_out:
        notes.append(f"{left_out} skills are left out")
    report = f"For the model's catalogue, {' and '.join(notes)}." if notes else ""
    return "\n".join([HEAD, *lines]), report


def loaded_by_model(active: ActiveSkill) -> str:
    """The text of a skill that a model asked for."""
    skill = active.skill
    wants = []
    if skill.bundled:
        wants.append(f"brings tools of its own ({', '.join(skill.bundled)})")
    if skill.tools is not None:
        wants.append(f"limits the tools to {', '.join(skill.tools) or 'none'}")
    note = ""
    if wants:
        note = (
            f"\nThis skill {' and '.join(wants)}. That takes effect only when the person runs "
            f"%use {skill.name}; if you need it, ask them to."
        )
    return skill_text(active, by_model=True) + note


def with_skill_messages(conversation: Conversation, active: Sequence[ActiveSkill]) -> Conversation:
    """The conversation in which exactly these skills stand, each once, as a pair of messages.

    A pair that is there stays where it is; pairs of skills that are no longer active, or whose text
    has changed, go; missing ones come at the end.
    """
    wanted = [_pair(item) for item in active]
    kept: list[Message] = []
    present: list[tuple[User, Assistant]] = []
    messages = list(conversation)
    while messages:
        message = messages.pop(0)
        following = messages[0] if messages else None
        if isinstance(message, User) and isinstance(following, Assistant):
            pair = (message, following)
            if message.text.startswith(_MARK) and following.text.startswith(_ANSWER):
                messages.pop(0)
                if pair in wanted and pair not in present:
                    present.append(pair)
                    kept.extend(pair)
                continue
        kept.append(message)
    for pair in wanted:
        if pair not in present:
            kept.extend(pair)
    return tuple(kept)


_MARK = '<skill name="'
_ANSWER = "The skill "


def _pair(active: ActiveSkill) -> tuple[User, Assistant]:
    return User(skill_text(active)), Assistant(f"{_ANSWER}{active.skill.name} is loaded.")


def _line_of(skill: Skill) -> str:
    """A description on one line, in which no tag can end the block."""
    text = " ".join(skill.description.split())
    return text.replace("<", "‹").replace(">", "›")


def _size(texts: dict[str, str], longest: int) -> int:
    return sum(len(name) + min(len(text), longest) + 5 for name, text in texts.items())
