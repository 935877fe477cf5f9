"""A model's reasoning: its last words while it arrives, folded away afterwards.

Owns what is shown of it and when. The whole of it is sent once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, gone, metadata
from agent_magics.frontends.summary import cut, safe_line
from agent_magics.plain import visible

KEPT = 20_000
"""Characters of reasoning that a notebook keeps."""
SHOWN = 200
"""Characters that are shown while it arrives."""
STEP = 400
"""Characters it must have grown by before it is shown again."""


@dataclass(slots=True)
class Reasoning:
    """The reasoning before one answer.

    Args:
        new_key: Gives the place of the block.
    """

    new_key: Callable[[], str]
    key: str = ""
    parts: list[str] = field(default_factory=list)
    grown: int = 0
    live: bool = False

    def add(self, text: str) -> list[Block]:
        """Take a piece of the stream."""
        self.parts.append(text)
        self.grown += len(text)
        if (self.live and self.grown < STEP) or not text.strip():
            return []
        self.key = self.key or self.new_key()
        self.grown, self.live = 0, True
        end = "".join(self.parts[-SHOWN:])[-SHOWN:].lstrip()
        words = f"… thinking: {safe_line(end, SHOWN)}"
        return [Block(self.key, theme.muted_line(theme.text_html(words)), words, _FACTS, True)]

    def finished(self, text: str = "") -> list[Block]:
        """Fold it away.

        Args:
            text: The reasoning as the provider has it, for where nothing was streamed.
        """
        whole = "".join(self.parts).strip() or text.strip()
        if self.key and not self.live:
            return []
        self.live = False
        if not whole:
            return [gone(self.key)] if self.key else []
        self.key = self.key or self.new_key()
        words = f"Reasoning ({len(whole):,} characters)"
        body = theme.prose(cut(visible(whole), KEPT))
        return [Block(self.key, theme.fold(theme.muted(words), body), f"{words}.", _FACTS)]

    def restarted(self) -> None:
        """Forget what arrived, but not the place: the same reasoning is about to come again."""
        self.parts, self.grown = [], 0


_FACTS = metadata("reasoning")
