"""Which skills need a person's trust before they are used, and what was trusted.

A value: where it is kept is the extension's business.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from agent_magics.library.folder import TOOLS
from agent_magics.skill import Skill


def needs_trust(skill: Skill) -> bool:
    """Whether the skill came with the project.

    The person's own skills, and those of packages, are trusted by where they lie.
    """
    return skill.origin == "project"


def brings_code(skill: Skill) -> bool:
    """Whether using the skill imports code of its own."""
    return os.path.lexists(skill.root / TOOLS)


@dataclass(frozen=True, slots=True)
class Trust:
    """Contents that a person has trusted.

    Args:
        pairs: Real path of the folder and digest; a change of either asks again.
    """

    pairs: frozenset[tuple[str, str]] = frozenset()

    def trusted(self, skill: Skill) -> bool:
        """Whether exactly this content, at this place, was trusted. Skills without a hash never."""
        return bool(skill.digest) and (str(skill.root), skill.digest) in self.pairs

    def adding(self, skill: Skill) -> Trust:
        """The trust with this content, in place of an older one at the same path."""
        root = str(skill.root)
        kept = {pair for pair in self.pairs if pair[0] != root}
        return Trust(frozenset(kept | {(root, skill.digest)}))
