"""Where a cell is and what ran before it, as values, and the seam to whoever knows it.

Pure. Knows no front end and no file: the live side fills these in, tools and prompts read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_OWN = re.compile(
    r"\s*%(agent|use|unuse|skills|load_ext +agent_magics|reload_ext +agent_magics"
    r"|config +AgentMagics\b.*)(\s.*)?"
)
_PROMPT = re.compile(r"\s*%%agent(\s|$)")
_PREVIEW = re.compile(r"\s--preview(\s|$)")


@dataclass(frozen=True, slots=True)
class Ran:
    """One cell that ran in this kernel.

    Args:
        number: Its execution count, `n` of `In[n]`; 0 where none was given.
        source: What was run, as the person wrote it.
        value: The text of its last value, empty if it had none.
        error: A short traceback, empty if it did not fail.
        cell_id: The id that the front end gave for the cell; empty: it gave none.
    """

    number: int
    source: str
    value: str = ""
    error: str = ""
    cell_id: str = ""

    @property
    def asks_agent(self) -> bool:
        """Whether it is a cell that asks the agent; a preview of a question asks nothing."""
        first = next(self._code(), "")
        return bool(_PROMPT.match(first)) and not _PREVIEW.search(first)

    @property
    def only_steers(self) -> bool:
        """Whether all it does is to set up the agent: no work of the person's own."""
        lines = list(self._code())
        if not lines or _PROMPT.match(lines[0]):
            return bool(lines) and not self.asks_agent
        return all(_OWN.fullmatch(line) for line in lines)

    def _code(self) -> Iterator[str]:
        """Its lines without blank ones and comments."""
        for line in self.source.splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                yield line


@dataclass(frozen=True, slots=True)
class Place:
    """Where the running cell is, as far as that is known.

    Args:
        path: The notebook's file; None: not known.
        known_by: What says so, for the person and the model; empty where nothing does.
        cell_id: The id of the running cell; empty: the front end gave none.
        number: The execution count of the running cell; 0: not known.
    """

    path: Path | None = None
    known_by: str = ""
    cell_id: str = ""
    number: int = 0


class LiveNotebook(Protocol):
    """The notebook, or the terminal session, that the running cell is in."""

    def place(self) -> Place:
        """Where the running cell is."""

    def ran(self) -> tuple[Ran, ...]:
        """The cells that ran before the running one, oldest first; of each id only the newest."""

    def propose(self, source: str) -> bool:
        """Offer code as the next cell; on the main thread.

        Returns:
            Whether there is a front end that may take it; it gives no answer.
        """


class NoNotebook:
    """Stands in where nothing runs live."""

    def place(self) -> Place:
        """Nothing is known."""
        return Place()

    def ran(self) -> tuple[Ran, ...]:
        """Nothing ran."""
        return ()

    def propose(self, source: str) -> bool:
        """Nobody takes it."""
        return False


def failed_before(ran: tuple[Ran, ...]) -> Ran | None:
    """The cell that failed right before the running one.

    Cells that only set up the agent (`%use`, `%config AgentMagics…`) do not come between; a prompt
    does, since it was sent the error itself.
    """
    for cell in reversed(ran):
        if cell.asks_agent:
            return None
        if cell.only_steers:
            continue
        return cell if cell.error else None
    return None
