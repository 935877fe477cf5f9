"""Asking whether a project's skill may be used: shown whole, and trusted as exactly this content.

A repository that was cloned is a stranger's. Its skills neither enter a prompt nor run code
before the person has seen them and said yes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.errors import SkillError
from agent_magics.events import Question
from agent_magics.library.exhibits import exhibits, file_tree
from agent_magics.library.folder import unchanged
from agent_magics.library.trust import brings_code, needs_trust
from agent_magics.magics.services import TrustStore
from agent_magics.messages import Display, ToolCall
from agent_magics.policy import Answer
from agent_magics.skill import Skill

CALL = "trust_skill"
"""The name under which the question stands in records."""


@dataclass(frozen=True, slots=True)
class Gatekeeper:
    """Decides whether a skill may be used now.

    Args:
        store: What was trusted before; a yes is remembered there.
        setting: `AgentMagics.skill_code`: ask, never, allow.
        ask: Puts a question to the person; nobody there is a no.
    """

    store: TrustStore
    setting: str
    ask: Callable[[Question], Answer]

    def admit(self, skill: Skill) -> None:
        """Return if the skill may be used.

        Raises:
            SkillError: It may not; the message says how it could.
        """
        if not needs_trust(skill):
            return
        code = brings_code(skill)
        if code and self.setting == "never":
            raise SkillError(
                f"The skill {skill.name!r} belongs to this project and brings code (tools.py), "
                "which %config AgentMagics.skill_code = 'never' forbids."
            )
        if self.store.trusted(skill) or self.setting == "allow":
            return
        answer = self.ask(trust_question(skill))
        if not answer.allowed:
            brings = " and brings code (tools.py)" if code else ""
            why = f" ({answer.reason})" if answer.reason else ""
            raise SkillError(
                f"The skill {skill.name!r} belongs to this project{brings} and is not trusted"
                f"{why}. Read {skill.root}, then run %skills --trust {skill.name}"
            )
        # What is remembered is what was shown.
        if not unchanged(skill):
            raise SkillError(
                f"The skill {skill.name} changed on disk while you were asked; nothing is trusted. "
                "Run the command again."
            )
        self.store.remember(skill)


def trust_question(skill: Skill) -> Question:
    """The question, with everything in the folder that steers the agent or runs."""
    call = ToolCall("trust", CALL, json.dumps({"skill": skill.name, "content": skill.digest[:12]}))
    reason = "it comes with this project; its text would steer the agent"
    if brings_code(skill):
        reason += ", and importing its code runs it in this kernel"
    return Question(
        call,
        f"skill {skill.name}, exactly as it is now",
        preview=shown(skill),
        reason=reason,
        origin="this project",
        heading="Trust this?",
        editable=False,
    )


def shown(skill: Skill) -> tuple[Display, ...]:
    """The folder in front of a person: tools and tree, then each file that matters."""
    try:
        tree = file_tree(skill.root)
        files, left_out = exhibits(skill.root)
    except OSError as error:
        raise SkillError(f"{skill.root} cannot be read: {error.strerror}.") from error
    builtin = "all" if skill.tools is None else ", ".join(skill.tools) or "none"
    facts = [
        f"bundled tools: {', '.join(skill.bundled) or 'none'}",
        f"built-in tools that stay visible: {builtin}",
        f"content hash: {skill.digest[:12]}",
        "",
        tree,
    ]
    if left_out:
        facts.append(f"\nNot shown here, look at them yourself: {', '.join(left_out)}")
    parts = [Display("text", "\n".join(facts))]
    for file in files:
        parts.append(Display("text", file.name))
        parts.append(Display("code", file.text, file.language))
    return tuple(parts)
