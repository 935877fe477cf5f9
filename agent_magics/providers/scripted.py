"""A model that says what it was told to say: for tests, and for trying things without a model.

Plays replies in order, streams them in pieces like a real one, and keeps the requests it got.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from agent_magics.errors import ModelError
from agent_magics.events import CallDelta, ReasoningDelta, TextDelta
from agent_magics.messages import Assistant, normalised
from agent_magics.ports import Request, Streamed

Reply: TypeAlias = Assistant | ModelError | Callable[[Request], Assistant | ModelError]
"""What is said, what is raised, or a function of the request that decides."""


class ScriptedModel:
    """Fulfils `ports.Model` from a list of replies.

    Args:
        replies: One for each request, in order.
        name: The model's name.
    """

    def __init__(self, replies: Iterable[Reply], name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._replies = iter(replies)

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Play the next reply.

        Raises:
            ModelError: The reply is one, or none is left.
        """
        self.requests.append(request)
        reply = next(self._replies, None)
        if callable(reply):
            reply = reply(request)
        if reply is None:
            raise ModelError(
                f"The script of {self.name!r} has no reply left.\nGive it one more reply."
            )
        if isinstance(reply, ModelError):
            raise reply
        message = normalised(replace(reply, model=reply.model or self.name), ())
        if message.reasoning:
            yield ReasoningDelta(message.reasoning)
        for piece in re.findall(r"\S*\s*", message.text):
            if piece:
                yield TextDelta(piece)
        for number, call in enumerate(message.calls):
            yield CallDelta(str(number), call.name, call.arguments)
        yield message
