"""Arguments brought to the types that a tool's schema asks for, where one reading is left.

Pure. Owns what may be converted into what; deliberately checks nothing: what stays wrong is for
the validator to name, so that the model reads why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from agent_magics.messages import JSON

_DEEPEST = 100


def coerced(schema: Mapping[str, Any], arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The arguments with values brought to the types that the schema asks for.

    Only where the value as it stands cannot be meant, and one reading is left: `"5"` for an
    integer, `"true"` for a boolean, JSON in a text for a list or an object, pieces of a text for
    a text, null for an optional argument. Everything else stays, for the validator to name.

    Args:
        schema: JSON Schema of an object.
        arguments: As the model wrote them.
    """
    value = _coerced(schema, arguments, schema, 0)
    return value if isinstance(value, Mapping) else arguments


def _coerced(schema: JSON, value: JSON, root: Mapping[str, Any], level: int) -> JSON:
    if level > _DEEPEST:
        return value
    schema = _resolved(schema, root)
    types = _types(schema, root)
    if types and not _fits(value, types):
        value = _converted(value, types)
    if isinstance(value, Mapping):
        return _coerced_object(schema, value, root, level)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        return [_coerced(items, item, root, level + 1) for item in value]
    return value


def _coerced_object(
    schema: Mapping[str, Any], value: Mapping[str, JSON], root: Mapping[str, Any], level: int
) -> Mapping[str, JSON]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return value
    required = schema.get("required") or ()
    result: dict[str, JSON] = {}
    for name, item in value.items():
        part = properties.get(name)
        if not isinstance(part, Mapping):
            result[name] = item
            continue
        types = _types(_resolved(part, root), root)
        if item is None and name not in required and types and "null" not in types:
            continue
        result[name] = _coerced(part, item, root, level + 1)
    return result


def _resolved(schema: JSON, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a local `$ref`; an empty one where there is none."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: JSON = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, Mapping) else None
        schema = target
    return {}


def _types(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a schema allows; empty where it does not say."""
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset((named,))
    if isinstance(named, list | tuple):
        return frozenset(t for t in named if isinstance(t, str))
    found: set[str] = set()
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        types = _types(_resolved(branch, root), root) if isinstance(branch, Mapping) else None
        if not types:
            return frozenset()
        found |= types
    return frozenset(found)


def _fits(value: JSON, types: frozenset[str]) -> bool:
    match value:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case int():
            return bool(types & {"integer", "number"})
        case float():
            return "number" in types
        case str():
            return "string" in types
        case list():
            return "array" in types
        case _:
            return "object" in types


def _converted(value: JSON, types: frozenset[str]) -> JSON:
    match value:
        case float() if "integer" in types and value.is_integer():
            return int(value)
        case bool() | int() | float() if "string" in types:
            return json.dumps(value)
        case str():
            return _from_text(value, types)
        case list() if "string" in types:
            return _joined(value)
        case _:
            return value


def _from_text(text: str, types: frozenset[str]) -> JSON:
    word = text.strip()
    if "integer" in types and re.fullmatch(r"[+-]?\d{1,18}(\.0+)?", word):
        return int(word.partition(".")[0])
    if "number" in types and re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", word):
        number = float(word)
        return number if math.isfinite(number) else text
    if "boolean" in types and word.lower() in ("true", "false"):
        return word.lower() == "true"
    if "null" in types and word.lower() in ("null", "none", ""):
        return None
    if word[:1] in ("{", "["):
        try:
            inner = json.loads(word, strict=False)
        except (ValueError, RecursionError):
            return text
        return inner if _fits(inner, types) else text
    return text


def _joined(pieces: list[JSON]) -> JSON:
    """The text whose pieces these are; the list where line ends would have to be guessed."""
    if pieces and all(isinstance(p, Mapping) and isinstance(p.get("text"), str) for p in pieces):
        pieces = [p["text"] for p in pieces]
    elif not all(isinstance(p, str) for p in pieces[:-1]) or not all(
        p.endswith("\n") for p in pieces[:-1]
    ):
        return pieces
    return "".join(pieces) if all(isinstance(p, str) for p in pieces) and pieces else pieces
