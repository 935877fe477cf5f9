"""The model for tests says what it was told to say, like a real one would."""

from __future__ import annotations

import asyncio

import pytest

from agent_magics.errors import ModelError
from agent_magics.events import CallDelta, ReasoningDelta, TextDelta
from agent_magics.messages import Assistant, ToolCall, User
from agent_magics.ports import Model, Request, Streamed
from agent_magics.providers.scripted import Reply, ScriptedModel

REQUEST = Request("", (User("x"),))


def ask(model: Model, request: Request = REQUEST) -> list[Streamed]:
    async def main() -> list[Streamed]:
        return [item async for item in model.stream(request)]

    return asyncio.run(main())


def test_a_reply_is_streamed_in_pieces_and_ends_with_the_message() -> None:
    model = ScriptedModel([Assistant("two  words\n", (ToolCall("", "get"),), reasoning="hm")])
    *deltas, message = ask(model)
    assert deltas == [
        ReasoningDelta("hm"),
        TextDelta("two  "),
        TextDelta("words\n"),
        CallDelta("0", "get", "{}"),
    ]
    assert isinstance(message, Assistant)
    assert (message.text, message.model) == ("two  words\n", "scripted")
    assert message.calls[0].id


def test_requests_are_kept_and_replies_may_depend_on_them() -> None:
    replies: list[Reply] = [lambda request: Assistant(request.system), Assistant("b")]
    model = ScriptedModel(replies, name="mine")
    assert ask(model, Request("say this", ()))[-1].text == "say this"
    assert ask(model)[-1].text == "b"
    assert [request.system for request in model.requests] == ["say this", ""]


def test_errors_are_raised_and_so_is_the_end_of_the_script() -> None:
    model = ScriptedModel([ModelError("down"), lambda _: ModelError("still")])
    for words in ("down", "still", "no reply left"):
        with pytest.raises(ModelError, match=words):
            ask(model)
