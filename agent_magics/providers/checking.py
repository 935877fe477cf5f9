"""The check of a connection: one small request with one tool, and what came of it in words."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace

from agent_magics.errors import ModelError
from agent_magics.events import Notice
from agent_magics.messages import Assistant, User
from agent_magics.ports import Clock, Model, Request
from agent_magics.providers.advice import duration
from agent_magics.providers.openai import OpenAIModel, Patience
from agent_magics.tool import Arguments, Report, Tool, ToolOutput

_PROMPT = User("Call the tool `ready` once, with the word ready. Say nothing else.")


async def _never(arguments: Arguments, report: Report) -> ToolOutput:
    raise AssertionError("a check only looks whether the call comes")


_READY = Tool(
    "ready",
    "Say that you are ready.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "the word ready"}},
        "required": ["word"],
        "additionalProperties": False,
    },
    "read",
    _never,
)
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
        One line if it works, and calls the tool; else what happened, and what to do next.
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
    notices: list[str] = []
    try:
        stream = model.stream(Request("", (_PROMPT,), (_READY,)))
        async with aclosing(stream) as items:  # type: ignore[type-var]  # models are generators
            async for item in items:
                match item:
                    case Assistant():
                        answer = item
                    case Notice(text=text):
                        notices.append(text)
                    case _:
                        pass
    except ModelError as error:
        return str(error)
    assert answer is not None
    tokens = f", {answer.usage.output} tokens" if answer.usage.output else ""
    where = f" at {model.endpoint.place('').url}" if isinstance(model, OpenAIModel) else ""
    took = f"({duration(clock() - started)}{tokens})"
    worked = f"{model.name}{where} answers {_calling(answer)}{took}."
    missing = _no_calls(model, answer)
    return "\n".join((worked, *notices, *([missing] if missing else [])))


def _calling(answer: Assistant) -> str:
    return "and calls tools " if any(not call.written for call in answer.calls) else ""


def _no_calls(model: Model, answer: Assistant) -> str:
    """What is missing when no call came in the field for it, and what helps."""
    if any(not call.written for call in answer.calls):
        return ""
    known = model.endpoint.kind.calls if isinstance(model, OpenAIModel) else ""
    remedy = known or "try a larger model"
    if answer.calls:
        return (
            "It writes its calls as text, which is recognised, but works less well. Better: "
            f"{remedy}."
        )
    return (
        "It was asked to call a tool and did not, so it can talk, but may do no work. If that "
        f"stays so: {remedy}."
    )


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
