"""What a hook says, in whichever form: a value of Python, an exit status, text or JSON. Pure.

What cannot be understood is a failure and never "no objection".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from agent_magics.hooks.hook import Point
from agent_magics.plain import stripped, visible

MAX_REASON = 500
"""Characters of a reason that are kept."""
MAX_NOTE = 4_000
"""Characters of a note that are kept."""
DENIED = 2
"""The exit status that says no, as in the agents that people know (Claude Code)."""
_KEYS = ("decision", "reason", "note")


class HookFailure(Exception):
    """A hook did not do its work; the text says how, for the person."""


@dataclass(frozen=True, slots=True)
class Said:
    """One word.

    Args:
        decision: `ask`, `deny`, or empty: no objection.
        reason: Why.
        note: A text for the model; at the end of a turn, for the person.
    """

    decision: Literal["", "ask", "deny"] = ""
    reason: str = ""
    note: str = ""


def said_by_function(value: object, point: Point) -> Said:
    """What a function's result means.

    Raises:
        HookFailure: Nothing that a hook at this point can say.
    """
    match value:
        case None:
            return Said()
        case Said():
            return _checked(value, point)
        case str() if point != "before_call":
            return _checked(Said(note=value), point)
        case Mapping():
            return _checked(_from_mapping(value), point)
        case _:
            raise HookFailure(f"it gave {_short(repr(value))}; {_could(point)}")


def said_by_command(status: int, output: str, errors: str, point: Point) -> Said:
    """What a command's end means.

    Args:
        status: 0: as its output says; 2: no, with the reason on standard error; others: it failed.
        output: A JSON object; but before a call, also plain text, which is a note.
        errors: What it wrote to standard error.
        point: Where it was told.

    Raises:
        HookFailure: It failed, or said nothing that a hook at this point can say.
    """
    if status == DENIED and point == "before_call":
        return _checked(Said("deny", errors), point)
    if status == DENIED and point == "after_call":
        return _checked(Said(note=errors), point)
    if status != 0:
        last = errors.strip().rpartition("\n")[2]
        raise HookFailure(f"it ended with status {status}" + (f": {_short(last)}" if last else ""))
    text = output.strip()
    if not text:
        return Said()
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise HookFailure(f"its output is not valid JSON: {_short(text)}") from error
        return _checked(_from_mapping(value), point)
    if point == "before_call":
        raise HookFailure(f"it printed {_short(text)}; {_could(point)}")
    return _checked(Said(note=text), point)


def _from_mapping(value: Mapping[str, object]) -> Said:
    unknown = [str(name) for name in value if name not in _KEYS]
    if unknown:
        raise HookFailure(f"it said {_short(', '.join(unknown))}; there are: {', '.join(_KEYS)}")
    decision = value.get("decision") or ""
    texts = {name: value.get(name) or "" for name in ("reason", "note")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise HookFailure("its reason and its note are to be texts")
    match decision:
        case "" | "allow":
            return Said("", str(texts["reason"]), str(texts["note"]))
        case "ask" | "deny":
            return Said(decision, str(texts["reason"]), str(texts["note"]))
        case _:
            raise HookFailure(f"its decision is {_short(repr(decision))}; it can be ask or deny")


def _checked(said: Said, point: Point) -> Said:
    if said.decision and point != "before_call":
        raise HookFailure(
            f"it said {said.decision}, which a hook at {point} cannot; {_could(point)}"
        )
    if said.note.strip() and point == "before_call":
        raise HookFailure(f"it has a note at {point}; {_could(point)}")
    return said


def bounded(said: Said, redact: Callable[[str], str]) -> Said:
    """The word as it is passed on: without secrets, without hidden characters, of bounded size."""
    reason = " ".join(visible(redact(said.reason)).split())
    note = stripped(redact(said.note).replace("\r\n", "\n")).strip()
    return Said(said.decision, _cut(reason, MAX_REASON), _cut(note, MAX_NOTE))


def _could(point: Point) -> str:
    if point == "before_call":
        return "it can say nothing, ask or deny (with a reason)"
    return "it can say nothing, or a note"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (cut, {len(text):,} characters)"


def _short(text: str) -> str:
    return _cut(" ".join(visible(text).split()), 120)
