"""Where trust in project skills is kept: the user's configuration folder, never the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from agent_magics.extension.switches import write_private
from agent_magics.library.trust import Trust
from agent_magics.skill import Skill


@dataclass(frozen=True, slots=True)
class TrustFile:
    """A JSON list of (folder, digest) pairs, readable and removable by hand.

    Args:
        path: The file; made at the first trust, with mode 0600.
        known: Digests of the skills that come with the package, trusted wherever they lie; asked
            only when a project brings code.
    """

    path: Path
    known: Callable[[], Collection[str]] = tuple

    def trusted(self, skill: Skill) -> bool:
        """Whether exactly this content was trusted. A file that is off trusts nothing."""
        return self._read().trusted(skill) or skill.digest in self.known()

    def remember(self, skill: Skill) -> None:
        """Add this content.

        Raises:
            ConfigError: The file cannot be written.
        """
        pairs = self._read().adding(skill).pairs
        text = json.dumps([{"folder": f, "digest": d} for f, d in sorted(pairs)], indent=1)
        write_private(self.path, text + "\n")

    def _read(self) -> Trust:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
            return Trust(frozenset((str(e["folder"]), str(e["digest"])) for e in entries))
        except (OSError, ValueError, TypeError, KeyError):
            return Trust(frozenset())
