"""The check of a connection: one small request, and what it says in at most two lines."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace

from agent_magics.errors import ModelError
from agent_magics.messages import Assistant, User
from agent_magics.ports import Clock, Model, Request
from agent_magics.providers.advice import duration
from agent_magics.providers.openai import OpenAIModel, Patience

_PROMPT = User("Answer with the one word: ready")
_NAMES_SHOWN = 12


async def test_connection(  # what a person calls it; no test of ours
    model: Model,
    clock: Clock = time.monotonic,  # noqa: PT028  # as above
) -> str:
    """Ask once, without retries, and say how it went.

    Args:
        model: Which one; nothing of it is changed.
        clock: Seconds.

    Returns:
        One line if it works; two if not: what happened, and what to do next.
    """
    if not isinstance(model, OpenAIModel):
        return await _asked(model, clock)
    once = OpenAIModel(
        model.name, endpoint=replace(model.endpoint, patience=Patience(tries=1, cut=1))
    )
    try:
        text = await _asked(once, clock)
        if "does not have the model" in text:
            text += await _offered(once)
        return text
    finally:
        await once.aclose()


async def _asked(model: Model, clock: Clock) -> str:
    started = clock()
    answer: Assistant | None = None
    try:
        stream = model.stream(Request("", (_PROMPT,)))
        async with aclosing(stream) as items:  # type: ignore[type-var]  # models are generators
            async for item in items:
                if isinstance(item, Assistant):
                    answer = item
    except ModelError as error:
        return str(error)
    assert answer is not None
    tokens = f", {answer.usage.output} tokens" if answer.usage.output else ""
    where = f" at {model.endpoint.place('').url}" if isinstance(model, OpenAIModel) else ""
    return f"{model.name}{where} answers ({duration(clock() - started)}{tokens})."


async def _offered(model: OpenAIModel) -> str:
    """The names that the server does have, for whoever mistyped one."""
    try:
        names = await model.models()
    except ModelError:
        return ""
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f" It has: {shown}{more}." if shown else ""


test_connection.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for a test
