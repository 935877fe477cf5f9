"""A failed try, with what is needed to decide about the next one. Knows no connection."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_magics.errors import ModelError
from agent_magics.messages import Assistant, Usage
from agent_magics.providers.complaints import Complaint

Kind: TypeAlias = Literal["refused", "lost", "cut", "empty"]
"""`refused`: the server said no. `lost`: no answer came, or it broke off. `cut`: the stream ended
without a word that the answer is complete. `empty`: a complete answer without content."""


class Fault(Exception):
    """One try failed; never leaves this package: `error` does, when tries run out.

    Args:
        reason: What went wrong, in a few words.
        error: What the person reads if it is not tried again.
        kind: See `Kind`.
        again: Whether asking again can help.
        wait: Seconds that the server asked to wait.
        partial: What had come of the answer.
        usage: Tokens that it cost all the same.
        complaint: What the server said, where it refused.
    """

    def __init__(
        self,
        reason: str,
        error: ModelError,
        kind: Kind = "lost",
        *,
        again: bool = True,
        wait: float | None = None,
        partial: Assistant | None = None,
        usage: Usage | None = None,
        complaint: Complaint | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error
        self.kind = kind
        self.again = again
        self.wait = wait
        self.partial = partial
        self.usage = usage or Usage()
        self.complaint = complaint
