"""The file that requests to a model's server are written to, while a person wants it.

Owns the file and its bounds; what stands in it is `providers.exchanges`' business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.own_files import Sort, opened, refusal
from agent_magics.providers.exchanges import HEAD, RequestLog, is_request_log
from agent_magics.records.journal import Journal
from agent_magics.tools.plain import size

if TYPE_CHECKING:
    from agent_magics.tools.workspace import Workspace

MAX_BYTES = 200_000_000
"""Bytes of a log, after which nothing more is written."""
OPTION = "--requests"
SORT = Sort(f"%agent log {OPTION}", "log of requests", is_request_log)


@dataclass(slots=True)
class RequestLogFile:
    """The file that requests are written to, while there is one.

    Args:
        log: Makes the lines.
    """

    log: RequestLog
    shown: str = ""
    problem: str = ""
    _journal: Journal | None = field(default=None)

    def start(self, words: str, workspace: Workspace) -> None:
        """Write each request from now on.

        Raises:
            UsageProblem: The file cannot be used; nothing is changed.
        """
        journal = opened(words, workspace, SORT)
        try:
            if journal.size == 0:
                journal.append(HEAD)
        except OSError as error:
            journal.close()
            raise UsageProblem(f"{words} cannot be written to: {error.strerror}.") from error
        self.stop()
        self.shown, self.problem, self._journal = words, "", journal
        self.log.sink = self._write

    def stop(self) -> None:
        """Write no more."""
        self.log.sink = None
        if self._journal is not None:
            self._journal.close()
        self._journal, self.shown = None, ""

    def state(self) -> str:
        """One line about it; empty while nothing is written."""
        if self._journal is None:
            return ""
        if self.problem:
            return f"nothing more is written to {self.shown}: {self.problem}"
        return f"written to {self.shown} ({size(self._journal.size)}), without keys"

    def _write(self, line: bytes) -> None:
        """Append a line, unless something failed before."""
        if self._journal is None or self.problem:
            return
        self.problem = refusal(self._journal, line, MAX_BYTES, size(MAX_BYTES))
