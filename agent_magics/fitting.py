"""Makes a conversation fit into the model's context before it is sent, or after it did not fit.

First old tool results are cut down; when that is not enough, older turns are replaced by a summary
that the model itself writes. One try per turn: a compaction that wins too little is not repeated,
since that is how agents end up summarising for ever.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from agent_magics.compaction import (
    SUMMARY_PROMPT,
    conversation_size,
    conversation_tokens,
    gained_enough,
    halved,
    pruned,
    split_for_summary,
    with_summary,
)
from agent_magics.context import estimated_tokens
from agent_magics.events import Compacted, Event, Notice, Retrying
from agent_magics.messages import JSON, Assistant, Conversation, Usage, User
from agent_magics.ports import Model, Request

RESERVE = 16_000
"""Tokens kept free for the answer; a quarter of a small window."""
HARD_PROTECTED = 4_000
"""Tokens of the newest results that stay even after a server said that the prompt is too long."""
SUSPICIOUS, SUSPICIOUS_FROM = 0.6, 4_000
"""A server that counts less than this share of the estimate has silently cut the prompt."""


@dataclass(slots=True)
class Fitter:
    """Fits the conversation of one turn.

    Args:
        model: Writes the summary.
        system: The system prompt.
        overhead: Tokens of the tools' schemas, estimated.
        window: The model's context in tokens; 0: not known, so only the server's word counts.
        options: Further settings of the provider.
        usage: Tokens that summaries took.
        words: Whether calls of the history are told in words.
    """

    model: Model
    system: str
    overhead: int = 0
    window: int = 0
    options: Mapping[str, JSON] = field(default_factory=dict)
    usage: Usage = Usage()
    words: bool = False
    _tried: bool = False
    _suspected: bool = False

    async def fit(self, conversation: Conversation) -> AsyncIterator[Event]:
        """Make the conversation fit into a known window; yields `Compacted` when it was changed."""
        size = conversation_tokens(conversation, self.system) + self.overhead
        limit = self.window - min(RESERVE, self.window // 4)
        if not self.window or size <= limit:
            return
        smaller = pruned(conversation, max(limit // 4, HARD_PROTECTED), 1)
        if smaller is not None:
            yield Compacted(size, self._size(smaller), smaller)
            conversation = smaller
        if self._size(conversation) > limit:
            async for event in self._summarise(conversation):
                yield event

    async def shrink(self, conversation: Conversation) -> AsyncIterator[Event]:
        """Make the conversation shorter by whatever helps, since the server says it is too long.

        Yields `Compacted` unless nothing is left that could be shortened.
        """
        before = conversation
        async for event in self.shorten(conversation):
            if isinstance(event, Compacted):
                conversation = event.conversation
            yield event
        if conversation == before:
            squeezed = halved(conversation)
            if squeezed is not None:
                yield Compacted(self._size(before), self._size(squeezed), squeezed)

    async def shorten(self, conversation: Conversation) -> AsyncIterator[Event]:
        """Cut old results down and replace older turns by a summary, whatever the size is."""
        smaller = pruned(conversation, HARD_PROTECTED, 500)
        if smaller is not None:
            yield Compacted(self._size(conversation), self._size(smaller), smaller)
            conversation = smaller
        async for event in self._summarise(conversation):
            yield event

    def suspicion(self, sent: Conversation, answer: Assistant) -> str:
        """What to tell the person when the server seems to have cut the prompt; once per turn."""
        estimate = estimated_tokens(self.system) + self.overhead + conversation_size(sent)
        counted = answer.usage.input
        if self._suspected or not counted or estimate < SUSPICIOUS_FROM:
            return ""
        if counted >= estimate * SUSPICIOUS:
            return ""
        self._suspected = True
        return (
            f"The server counted {counted} tokens where about {estimate} were sent: it may have "
            "cut the prompt. Raise its context length (Ollama: num_ctx; llama.cpp: --ctx-size)."
        )

    def _size(self, conversation: Conversation) -> int:
        return estimated_tokens(self.system) + self.overhead + conversation_size(conversation)

    async def _summarise(self, conversation: Conversation) -> AsyncIterator[Event]:
        parts = split_for_summary(conversation)
        if parts is None or self._tried:
            return
        self._tried = True
        old, new = parts
        request = Request(
            self.system,
            (*old, User(SUMMARY_PROMPT)),
            options=self.options,
            purpose="summary",
            words=self.words,
        )
        summary = ""
        async with aclosing(self.model.stream(request)) as items:  # type: ignore[type-var]  # generators close
            async for item in items:
                if isinstance(item, Assistant):
                    summary, self.usage = item.text, self.usage + item.usage
                elif isinstance(item, Notice | Retrying):
                    yield item
        shorter = with_summary(old, new, summary)
        before, after = self._size(conversation), self._size(shorter)
        if not summary.strip() or not gained_enough(before, after):
            yield Notice("Shortening the conversation won too little; it is kept as it is.")
            return
        yield Compacted(before, after, shorter)
