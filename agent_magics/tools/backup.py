"""The seam between tools that change files and whoever keeps what was there before.

Owns the protocol and nothing else: tools say what they are about to do, before they do it. Knows
no store and no undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_magics.tools.states import State


@dataclass(frozen=True, slots=True)
class Coming:
    """What a tool is about to make of one path.

    Args:
        path: A real folder's path and one name in it; a link there is itself what changes.
        will: What will stand there.
    """

    path: Path
    will: State


class Backup(Protocol):
    """Keeps what stands at paths before tools change it."""

    def obstacle(self, paths: Sequence[Path]) -> str:
        """Why what stands at these paths could not be kept; empty: it can. Keeps nothing."""

    def keep(self, coming: Sequence[Coming]) -> str:
        """Keep what stands at these paths; on the disk when it returns.

        Returns:
            Why it was not kept; empty: it was. Never raises.
        """

    def missed(self, path: Path, reason: str) -> None:
        """Take note of a change that happens without a copy. Never raises."""


class NoBackup:
    """Keeps nothing, and says nothing about it: for a workspace without undo."""

    def obstacle(self, paths: Sequence[Path]) -> str:
        """Nothing is promised, so nothing stands in the way."""
        return ""

    def keep(self, coming: Sequence[Coming]) -> str:
        """Nothing is kept."""
        return ""

    def missed(self, path: Path, reason: str) -> None:
        """Nothing is noted."""
