"""The entries of a session's file as lines of JSON, and back. Pure.

Owns the names of the fields. `kind` stands first in every line, so that a listing can pick lines
without reading them as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias, get_args

from agent_magics.messages import JSON, User
from agent_magics.policy import Decision, Rule
from agent_magics.records.comparisons import decoded_comparison, encoded_comparison
from agent_magics.records.encoding import (
    Redact,
    decoded,
    decoded_usage,
    encoded,
    encoded_usage,
    redacted_arguments,
    text_of,
)
from agent_magics.records.entries import (
    CallDecided,
    CallEnded,
    Compared,
    Entry,
    Head,
    KeptSkill,
    Named,
    Replaced,
    RulesSet,
    Said,
    SkillsSet,
    TurnBegan,
    TurnClosed,
)

Fields: TypeAlias = dict[str, JSON]

_DECISIONS: frozenset[str] = frozenset(get_args(Decision))


def line_of(entry: Entry, redact: Redact = str) -> bytes:
    """The line of an entry, its end included.

    Args:
        entry: Any.
        redact: Takes secrets out of a text.

    Raises:
        ValueError: Something in it is not JSON.
    """
    value = _value(entry, redact)
    # What a tool or a provider left in a message must not cost the person the rest of it.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    # Half of a surrogate pair can come from a program's output; the file keeps what was said.
    return text.encode("utf-8", "surrogatepass") + b"\n"


def entry_of(line: bytes) -> Entry | None:
    """The entry of a line; None for a kind that is not known here.

    Raises:
        ValueError: It is no line of a session: cut off, or not ours.
    """
    try:
        fields = json.loads(line.decode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(fields, dict):
        raise ValueError("no object")
    kind = fields.get("kind")
    if not isinstance(kind, str):
        raise ValueError("no kind")
    read = _READERS.get(kind)
    return None if read is None else read(fields)


def _value(entry: Entry, redact: Redact) -> dict[str, JSON]:
    match entry:
        case Head():
            fields = {"schema": entry.schema, "id": entry.id, "name": redact(entry.name)}
            rest = {"folder": entry.folder, "created": entry.created, "parent": entry.parent}
            return {"kind": "session"} | fields | _given(rest)
        case TurnBegan(at, prompt, model, skills):
            message = encoded(prompt, redact)
            pairs = [list(pair) for pair in skills]
            rest = _given({"model": redact(model), "skills": pairs})
            return {"kind": "turn", "at": at} | rest | {"message": message}
        case Said(message):
            return {"kind": "message", "message": encoded(message, redact)}
        case CallDecided():
            return {"kind": "call", "id": entry.id} | _decided(entry, redact)
        case CallEnded(ident, outcome, seconds):
            rest = _given({"seconds": round(seconds, 3)})
            return {"kind": "called", "id": ident, "outcome": outcome} | rest
        case Replaced(keep, messages):
            shown = [encoded(message, redact) for message in messages]
            return {"kind": "conversation", "keep": keep, "messages": shown}
        case RulesSet(rules):
            return {"kind": "rules", "rules": [_rule(rule, redact) for rule in rules]}
        case SkillsSet(skills_set):
            return {"kind": "skills", "skills": [_skill(skill, redact) for skill in skills_set]}
        case Named(name):
            return {"kind": "name", "name": redact(name)}
        case Compared(comparison):
            return {"kind": "replay"} | encoded_comparison(comparison, redact)
        case TurnClosed():
            return {"kind": "end", "reason": entry.reason} | _closed(entry, redact)


def _given(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in fields.items() if value}


def _decided(entry: CallDecided, redact: Redact) -> dict[str, JSON]:
    edited = entry.arguments
    fields = _given(
        {
            "title": redact(entry.title),
            "decision": entry.decision,
            "by": entry.by,
            "reason": redact(entry.reason),
            "runs": entry.runs,
        }
    )
    return fields | ({} if edited is None else {"arguments": redacted_arguments(edited, redact)})


def _closed(entry: TurnClosed, redact: Redact) -> dict[str, JSON]:
    return _given(
        {
            "usage": encoded_usage(entry.usage),
            "total": encoded_usage(entry.total),
            "seconds": round(entry.seconds, 3),
            "requests": entry.requests,
            "text": redact(entry.text),
        }
    ) | ({} if entry.cost is None else {"cost": round(entry.cost, 9)})


def _rule(rule: Rule, redact: Redact) -> dict[str, str]:
    fields = {"pattern": redact(rule.pattern), "skill": rule.skill}
    return {"tool": rule.tool, "decision": rule.decision} | _given(fields)


def _skill(skill: KeptSkill, redact: Redact) -> dict[str, str]:
    fields = {"root": skill.root, "arguments": redact(skill.arguments)}
    return {"name": skill.name, "digest": skill.digest} | _given(fields)


def _head(fields: Fields) -> Head:
    ident, name, folder, created, parent = _texts(
        fields, "id", "name", "folder", "created", "parent"
    )
    return Head(ident, name, folder, created, parent, _whole(fields, "schema"))


def _turn(fields: Fields) -> TurnBegan:
    prompt = decoded(fields.get("message"))
    if not isinstance(prompt, User):
        raise ValueError("a turn begins with a prompt")
    at, model = _texts(fields, "at", "model")
    return TurnBegan(at, prompt, model, _pairs(fields))


def _message(fields: Fields) -> Said:
    return Said(decoded(fields.get("message")))


def _call(fields: Fields) -> CallDecided:
    ident, title, decision, by, reason = _texts(fields, "id", "title", "decision", "by", "reason")
    edited = text_of(fields, "arguments") if "arguments" in fields else None
    return CallDecided(ident, title, decision, by, reason, edited, fields.get("runs") is True)


def _called(fields: Fields) -> CallEnded:
    ident, outcome = _texts(fields, "id", "outcome")
    return CallEnded(ident, outcome, _number(fields, "seconds"))


def _conversation(fields: Fields) -> Replaced:
    messages = tuple(decoded(value) for value in _values(fields, "messages"))
    return Replaced(_whole(fields, "keep"), messages)


def _rules(fields: Fields) -> RulesSet:
    return RulesSet(tuple(_decoded_rule(value) for value in _values(fields, "rules")))


def _skills(fields: Fields) -> SkillsSet:
    return SkillsSet(tuple(_decoded_skill(value) for value in _values(fields, "skills")))


def _name(fields: Fields) -> Named:
    return Named(text_of(fields, "name"))


def _end(fields: Fields) -> TurnClosed:
    reason, text = _texts(fields, "reason", "text")
    usage, total = (decoded_usage(fields.get(name, {})) for name in ("usage", "total"))
    seconds, requests = _number(fields, "seconds"), _whole(fields, "requests")
    cost = _number(fields, "cost") if fields.get("cost") is not None else None
    return TurnClosed(reason, usage, total, seconds, requests, text, cost)


_READERS: dict[str, Callable[[Fields], Entry]] = {
    "session": _head,
    "turn": _turn,
    "message": _message,
    "call": _call,
    "called": _called,
    "conversation": _conversation,
    "rules": _rules,
    "skills": _skills,
    "name": _name,
    "replay": lambda fields: Compared(decoded_comparison(fields)),
    "end": _end,
}


def _decoded_rule(value: JSON) -> Rule:
    fields = value if isinstance(value, dict) else {}
    decision = text_of(fields, "decision")
    if decision not in _DECISIONS:
        raise ValueError(f"a rule says {decision!r}")
    tool, pattern, skill = (text_of(fields, name) for name in ("tool", "pattern", "skill"))
    return Rule(tool, decision, pattern, "session", skill)  # type: ignore[arg-type]  # checked


def _decoded_skill(value: JSON) -> KeptSkill:
    fields = value if isinstance(value, dict) else {}
    return KeptSkill(*(text_of(fields, name) for name in ("name", "digest", "root", "arguments")))


def _pairs(fields: Fields) -> tuple[tuple[str, str], ...]:
    pairs = [pair for pair in _values(fields, "skills") if isinstance(pair, list)]
    return tuple((str(pair[0]), str(pair[1])) for pair in pairs if len(pair) == 2)


def _texts(fields: Fields, *names: str) -> list[str]:
    return [text_of(fields, name) for name in names]


def _values(fields: Fields, name: str) -> list[JSON]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list")
    return value


def _whole(fields: Fields, name: str) -> int:
    value = fields.get(name, 0)
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is no whole number")
    return value


def _number(fields: Fields, name: str) -> float:
    value = fields.get(name, 0.0)
    return float(value) if isinstance(value, (int, float)) else 0.0
