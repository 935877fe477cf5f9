"""Asking the model within one turn: make the request fit, stream the answer, keep the conversation.

Owns what a turn has used so far. Knows nothing of calls and policies: an answer is a message.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_magics.codeblocks import run_instead
from agent_magics.context import estimated_tokens
from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.events import Compacted, Event, MessageAdded, Notice
from agent_magics.fitting import Fitter
from agent_magics.messages import (
    JSON,
    Assistant,
    Conversation,
    Message,
    Usage,
    User,
    appended,
    known_ids,
    normalised,
)
from agent_magics.ports import Model, Purpose, Request
from agent_magics.tool import Tool

OVERFLOWS = 5
"""How often one request may be too long: each time it is sent again with less."""


@dataclass(slots=True)
class Asking:
    """One turn's dialogue with a model.

    Args:
        model: Who answers.
        system: The system prompt.
        offered: Gives what the next request offers.
        window: The model's context in tokens; 0: not known.
        options: Further settings of the provider.
        conversation: Up to now; grows by each answer, and by what `add` is given.
        small: Whether tools are described in words, and one call of an answer is kept.
        purpose: What the answers are for.
        requests: How often the model was asked.
        usage: Tokens of the turn, summaries included.
    """

    model: Model
    system: str
    offered: Callable[[], tuple[Tool, ...]]
    window: int
    options: Mapping[str, JSON]
    conversation: Conversation
    small: bool = False
    purpose: Purpose = "answer"
    requests: int = 0
    usage: Usage = Usage()
    _fitter: Fitter = field(init=False)
    _asked: str = field(init=False)

    def __post_init__(self) -> None:
        last = self.conversation[-1] if self.conversation else None
        self._asked = last.text if isinstance(last, User) else ""
        self._fitter = Fitter(
            self.model,
            self.system,
            _schema_tokens(self.offered()),
            self.window,
            self.options,
            words=self.small,
        )

    @property
    def last(self) -> Assistant:
        """The newest answer."""
        message = self.conversation[-1]
        assert isinstance(message, Assistant)
        return message

    def add(self, message: Message) -> None:
        """Take a message into the conversation."""
        self.conversation = appended(self.conversation, message)

    async def answer(
        self, nudge: str = "", tool_choice: Literal["auto", "none"] = "auto"
    ) -> AsyncIterator[Event]:
        """Ask once and take the answer in; afterwards it is `last`.

        Args:
            nudge: A line for this request only.
            tool_choice: `none` offers no tools.

        Raises:
            ModelError: No usable answer.
        """
        tools = self.offered() if tool_choice == "auto" else ()
        request = Request(
            self.system,
            (),
            tools,
            tool_choice,
            nudge,
            options=self.options,
            purpose=self.purpose,
            words=self.small,
        )
        async for event in self._fitted(self._fitter.fit(self.conversation)):
            yield event
        for _ in range(OVERFLOWS):
            try:
                async for event in self._streamed(request):
                    yield event
            except ContextOverflow:
                before = self.conversation
                async for event in self._fitted(self._fitter.shrink(self.conversation)):
                    yield event
                if self.conversation == before:
                    raise
            else:
                return
        raise ContextOverflow(
            f"The conversation does not fit into the context of {self.model.name}, however it is "
            "shortened: start afresh with %%agent --new, or use a model with a larger context."
        )

    async def apart(
        self, system: str, sent: Conversation, tools: tuple[Tool, ...] = ()
    ) -> AsyncIterator[Event]:
        """Ask once outside the conversation; the answer is taken into it.

        Args:
            system: For this request only.
            sent: All that the model gets to read.
            tools: What it may call, described in words.

        Raises:
            ModelError: No usable answer.
        """
        request = Request(
            system, (), tools, options=self.options, purpose=self.purpose, words=self.small
        )
        async for event in self._streamed(request, sent):
            yield event

    async def _fitted(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        async for event in events:
            if isinstance(event, Compacted):
                self.conversation = event.conversation
            yield event
        self.usage, self._fitter.usage = self.usage + self._fitter.usage, Usage()

    async def _streamed(self, request: Request, instead: Conversation = ()) -> AsyncIterator[Event]:
        answer: Assistant | None = None
        self.requests += 1
        sent = instead or self.conversation
        stream = self.model.stream(replace(request, conversation=sent))
        async with aclosing(stream) as items:  # type: ignore[type-var]  # generators close
            async for item in items:
                if isinstance(item, Assistant):
                    answer = item
                else:
                    yield item
        if answer is None or not (answer.text or answer.calls):
            raise ModelError(
                f"{self.model.name} gave an empty answer; run the cell again or change the model."
            )
        self.usage += answer.usage
        if self.small:
            answer = run_instead(answer, self._asked, request.tools, self.conversation)
        message = normalised(answer, known_ids(self.conversation))
        message = replace(message, model=self.model.name)
        if self.small and len(message.calls) > 1:
            message = replace(message, calls=message.calls[:1])
        self.add(message)
        yield MessageAdded(message)
        suspicion = self._fitter.suspicion(sent, answer)
        if suspicion:
            yield Notice(suspicion, "warning")


def _schema_tokens(tools: tuple[Tool, ...]) -> int:
    return sum(estimated_tokens(t.description + json.dumps(dict(t.parameters))) for t in tools)
