"""A turn of a saved session as the events it was made of, and as the blocks that show it.

Whoever draws a live turn draws a saved one: an export looks like the cell did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from agent_magics.events import (
    ApprovalGiven,
    CallFinished,
    CallJudged,
    CallProposed,
    CallStarted,
    Ending,
    Event,
    MessageAdded,
    Question,
    ReplayCompared,
    TurnEnded,
    TurnStarted,
)
from agent_magics.frontends.blocks import Block, Transcript
from agent_magics.messages import Assistant, ToolCall, ToolResult, Usage
from agent_magics.policy import Answer, Verdict
from agent_magics.records.stored import StoredTurn

_ENDINGS = ("answered", "limit", "interrupted", "failed", "stopped", "cut", "refused")
_OUTCOMES = ("done", "failed", "refused", "denied", "invalid")


def blocks_of(turn: StoredTurn) -> tuple[Block, ...]:
    """What a person saw of the turn at its end, in order."""
    transcript = Transcript()
    last: dict[str, Block] = {}
    for event in events_of(turn):
        for block in transcript.feed(event):
            last[block.key] = block
    return tuple(last.values())


def events_of(turn: StoredTurn) -> Iterator[Event]:
    """The events of the turn, without those that only a stream has."""
    began = turn.began
    results = {m.call_id: m for m in turn.messages if isinstance(m, ToolResult)}
    yield TurnStarted(began.prompt.text, began.model, began.skills)
    yield MessageAdded(began.prompt)
    spent = Usage()
    requests = 0
    for message in turn.messages:
        if isinstance(message, Assistant):
            spent += message.usage
            requests += bool(message.model)  # what closes a broken turn was said by nobody
            yield MessageAdded(message)
            for call in message.calls:
                yield from _call(call, turn, results.get(call.id))
    if turn.replay is not None:
        yield ReplayCompared(turn.replay)
    if turn.closed is None:
        yield TurnEnded("interrupted", spent, float("nan"), requests, "The kernel ended.")
        return
    end = turn.closed
    reason = end.reason if end.reason in _ENDINGS else "failed"
    known = end.requests > 0
    yield TurnEnded(
        cast("Ending", reason),
        end.usage if known else spent,
        end.seconds if known else float("nan"),
        end.requests or requests,
        end.text,
        end.cost,
    )


def _call(call: ToolCall, turn: StoredTurn, result: ToolResult | None) -> Iterator[Event]:
    decided, ended = turn.decided.get(call.id), turn.ended.get(call.id)
    yield CallProposed(call, (decided.title if decided else "") or call.name)
    if decided is not None and decided.decision in ("approved", "refused"):
        answer = Answer(
            decided.decision == "approved", decided.by, decided.reason, decided.arguments
        )
        yield ApprovalGiven(Question(call, decided.title or call.name), answer)
    elif decided is not None and decided.decision in ("allow", "deny"):
        decision: Literal["allow", "deny"] = "allow" if decided.decision == "allow" else "deny"
        yield CallJudged(call, Verdict(decision, decided.reason))
    ran = call
    if decided is not None and decided.runs:
        ran = call if decided.arguments is None else replace(call, arguments=decided.arguments)
        yield CallStarted(ran, edited=decided.arguments is not None)
    if result is not None and (ended is not None or decided is None):
        outcome = ended.outcome if ended else ("done" if result.ok else "failed")
        if outcome in _OUTCOMES:
            yield CallFinished(
                ran, result, ended.seconds if ended else 0.0, cast("Literal['done']", outcome)
            )
