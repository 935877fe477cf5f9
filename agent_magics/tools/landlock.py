"""Confining a command with Landlock, Linux's own sandbox for programs without rights.

Owns what is asked of the launcher (`landlock_launcher`), a small program that confines itself and
then becomes the command. Whether the kernel can do it is found out by a real run elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.tools import landlock_launcher
from agent_magics.tools.sandbox import Bounds

LAUNCHER = Path(landlock_launcher.__file__).resolve()


@dataclass(frozen=True, slots=True)
class Landlock:
    """See the module's text."""

    @property
    def name(self) -> str:
        """For people."""
        return "Landlock"

    def missing(self) -> str:
        """Why it cannot be here."""
        if not sys.platform.startswith("linux"):
            return "only Linux has it"
        if not sys.executable:
            return "there is no Python interpreter to start it with"
        version = landlock_launcher.abi()
        if version < landlock_launcher.OLDEST:
            return (
                "the kernel does not have it"
                if version < 1
                else "the kernel's is too old (Linux 6.2 or newer is needed)"
            )
        return ""

    def unfit(self, bounds: Bounds) -> str:
        """Its rules only add up: what lies in the workspace cannot be taken out of it again."""
        inside = [p for p in bounds.hidden if p.is_relative_to(bounds.root) and p.exists()]
        return f"it cannot hide {inside[0].name} in the workspace" if inside else ""

    def network(self, bounds: Bounds) -> str:
        """What is open of the network."""
        if bounds.network:
            return "with network"
        return "no network" if landlock_launcher.filters_sockets() else "no TCP network"

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        """The private folder for temporary files."""
        return {"TMPDIR": str(bounds.scratch)}

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        """The program and arguments that run the words in these bounds."""
        wanted = json.dumps(
            {
                "write": [str(bounds.root), str(bounds.scratch)],
                "hidden": [str(place) for place in bounds.hidden],
                "network": bounds.network,
            }
        )
        return (sys.executable, "-I", "-S", str(LAUNCHER), wanted, *words)
