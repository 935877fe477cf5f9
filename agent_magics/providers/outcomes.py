"""What became of the calls of one reply: seen from the events of a turn, or from a conversation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_magics.differences import Difference, Places, each_text
from agent_magics.events import (
    ApprovalGiven,
    CallFinished,
    CallJudged,
    CallProposed,
    Event,
)
from agent_magics.messages import JSON, Assistant, Conversation, ToolCall, ToolResult
from agent_magics.providers.recording import Result

MAX_TEXT = 100_000
"""Characters of one result that a recording keeps; the digest is of the whole."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call as it went.

    Args:
        call: As the model made it.
        result: What it brought.
        ran: The arguments that ran; empty if it did not.
        decided: As `Result.decided`.
        by: Who decided.
        judged: Whether the decision is known: a sub-agent's calls show their results only.
    """

    call: ToolCall
    result: ToolResult
    ran: str = ""
    decided: str = ""
    by: str = ""
    judged: bool = True


class Outcomes:
    """Collects the outcomes of a turn's calls until they are taken."""

    def __init__(self) -> None:
        self._proposed: dict[str, ToolCall] = {}
        self._decided: dict[str, tuple[str, str]] = {}
        self._done: list[Outcome] = []

    def observe(self, event: Event) -> None:
        """Take one event."""
        match event:
            case CallProposed(call):
                self._proposed[call.id] = call
            case CallJudged(call, verdict):
                self._decided[call.id] = (verdict.decision, "policy")
            case ApprovalGiven(question, answer):
                word = "approved" if answer.allowed else "refused"
                self._decided[question.call.id] = (word, answer.by)
            case CallFinished(call, result, _, outcome):
                decided, by = self._decided.pop(call.id, ("", ""))
                asked = self._proposed.pop(call.id, call)
                ran = call.arguments if outcome in ("done", "failed") and decided else ""
                self._done.append(Outcome(asked, result, ran, decided, by))
            case _:
                pass

    def taken(self) -> tuple[Outcome, ...]:
        """What was collected since the last time."""
        done = tuple(self._done)
        self._done.clear()
        return done


def outcomes_in(conversation: Conversation) -> tuple[Outcome, ...]:
    """The outcomes that stand behind the last answer of a conversation."""
    results: dict[str, ToolResult] = {}
    for message in reversed(conversation):
        if isinstance(message, ToolResult):
            results[message.call_id] = message
        elif isinstance(message, Assistant):
            known = [call for call in message.calls if call.id in results]
            return tuple(Outcome(call, results[call.id], judged=False) for call in known)
        else:
            break
    return ()


def recorded(outcome: Outcome, clean: Callable[[str], str], places: Places) -> Result:
    """An outcome as a recording keeps it.

    Args:
        outcome: As it went.
        clean: Takes out what must not stand in a file.
        places: Where it happened.
    """
    text = clean(outcome.result.text)
    edited = outcome.ran and _value(outcome.ran) != _value(outcome.call.arguments)
    return Result(
        outcome.call.name,
        text[:MAX_TEXT],
        outcome.result.ok,
        digest(text, places),
        len(text) > MAX_TEXT,
        outcome.decided,
        outcome.by,
        each_text(_value(outcome.ran), clean) if edited else None,
    )


def digest(text: str, places: Places) -> str:
    """Of a result, without what depends on the machine and the moment."""
    same = places.comparable(text).encode("utf-8", "surrogatepass")
    return hashlib.sha256(same).hexdigest()[:16]


def compared(
    then: Sequence[Result],
    said: Sequence[ToolCall],
    now: Sequence[Outcome],
    clean: Callable[[str], str],
    places: Places,
) -> tuple[Difference, ...]:
    """What went otherwise with the calls of one reply.

    Args:
        then: As recorded, in the order of the calls.
        said: The calls as the recording has them.
        now: As they went.
        clean: As for `recorded`.
        places: Where it happens.
    """
    found: list[Difference] = []
    for number in range(max(len(then), len(now))):
        old = then[number] if number < len(then) else None
        new = now[number] if number < len(now) else None
        if old is None or new is None:
            name = old.name if old else now[number].call.name
            words = ("no result", "a result") if old is None else ("a result", "no result")
            found.append(Difference("result", f"call of {name}", *words))
            continue
        asked = said[number].arguments if number < len(said) else new.call.arguments
        found += _of_call(old, asked, new, clean, places)
    return tuple(found)


def _of_call(
    old: Result, asked: str, new: Outcome, clean: Callable[[str], str], places: Places
) -> list[Difference]:
    where = f"call of {new.call.name}"
    if new.judged and old.decided and _ran(old.decided) != _ran(new.decided):
        # What a call brought that did not run is no other answer of the tool.
        then, now = (f"{word or 'not judged'}" for word in (old.decided, new.decided))
        return [Difference("decision", where, then, now)]
    found: list[Difference] = []
    if new.ran:
        before = old.ran if old.ran is not None else each_text(_value(asked), clean)
        after = each_text(_value(new.ran), clean)
        if before != after:
            found.append(Difference("arguments", where, _shown(before), _shown(after)))
    text = clean(new.result.text)
    same = (
        digest(text, places) == old.digest
        if old.cut
        else places.comparable(text) == places.comparable(old.text)
    )
    if not same or old.ok != new.result.ok:
        failed = ("" if old.ok else "[failed]\n", "" if new.result.ok else "[failed]\n")
        texts = (places.comparable(old.text), places.comparable(text))
        found.append(Difference("result", where, failed[0] + texts[0], failed[1] + texts[1]))
    return found


def _ran(decided: str) -> bool:
    return decided in ("allow", "approved")


def _value(text: str) -> JSON:
    return json.loads(text) if text else None


def _shown(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
