"""Arguments against a tool's schema, in words that a model can act on.

The only module that imports jsonschema, and only when it has to say what is wrong: plain
schemas with valid arguments, which is nearly every call, are passed by a small check first.
jsonschema's import takes up to a second where its optional parsers are installed, as they are
beside JupyterLab.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_magics.importing import installed_only

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_PROBLEMS = 5
SHOWN = 80
"""Characters of a given value that are repeated in the message."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_KNOWN = frozenset(
    (
        *("type", "properties", "required", "additionalProperties", "items", "enum"),
        *("minimum", "maximum", "minItems", "description", "default", "title"),
    )
)

_ANY = frozenset(("anyOf", "description", "default", "title"))


def check(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """The problems of arguments, or the empty text if there are none.

    Args:
        schema: JSON Schema of an object; Draft 2020-12 unless it says another.
        arguments: What a model gave.
    """
    return "" if _plainly_valid(schema, arguments) else _problems(schema, arguments)


def _plainly_valid(schema: Any, value: Any) -> bool:
    """Whether a value is surely valid; False also means: this check does not know.

    Knows only the keywords of plain schemas, and values as `json.loads` gives them.
    """
    if isinstance(schema, Mapping) and isinstance(schema.get("anyOf"), list):
        alone = schema.keys() <= _ANY
        return alone and any(_plainly_valid(branch, value) for branch in schema["anyOf"])
    if not isinstance(schema, Mapping) or not _KNOWN.issuperset(schema):
        return False
    kinds = _TYPES.get(schema["type"]) if isinstance(schema.get("type"), str) else None
    if kinds is None or not isinstance(value, kinds):
        return False
    if isinstance(value, bool):
        return kinds == (bool,) and "enum" not in schema and not _limits(schema)
    if "enum" in schema:
        choices = schema["enum"]
        if not isinstance(value, str) or not isinstance(choices, list) or value not in choices:
            return False
    if isinstance(value, dict):
        return _plain_object(schema, value)
    if isinstance(value, list):
        return _plain_array(schema, value)
    return not isinstance(value, int | float) or _plain_number(schema, value)


def _limits(schema: Mapping[str, Any]) -> bool:
    return "minimum" in schema or "maximum" in schema


def _plain_number(schema: Mapping[str, Any], value: float) -> bool:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    return isinstance(low, int | float) and isinstance(high, int | float) and low <= value <= high


def _plain_array(schema: Mapping[str, Any], value: list[Any]) -> bool:
    count = schema.get("minItems", 0)
    if not isinstance(count, int) or len(value) < count:
        return False
    return "items" not in schema or all(_plainly_valid(schema["items"], item) for item in value)


def _plain_object(schema: Mapping[str, Any], value: dict[str, Any]) -> bool:
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    if schema.get("additionalProperties", True) not in (True, False):
        return False
    unknown = value.keys() - properties.keys()
    return (
        all(isinstance(name, str) and name in value for name in required)
        and (not unknown or schema.get("additionalProperties", True) is True)
        and all(_plainly_valid(properties[n], v) for n, v in value.items() if n in properties)
    )


def _problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    with installed_only():
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.validators import validator_for
        from referencing import Registry
        from referencing.exceptions import Unresolvable

    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(dict(schema))
        # An empty registry: a foreign schema must not make this process fetch an address.
        validator = kind(schema, registry=Registry())
        errors = sorted(validator.iter_errors(arguments), key=lambda e: [str(p) for p in e.path])
    except SchemaError as error:
        return f"The tool's own schema is broken ({_short(error.message)}); it cannot be called."
    except (Unresolvable, RecursionError, TypeError, ValueError, AttributeError) as error:
        reason = _short(str(error)) or type(error).__name__
        return f"The tool's own schema cannot be used ({reason}); it cannot be called."
    lines = [line for error in errors for line in _told(error)]
    more = len(lines) - MAX_PROBLEMS
    rest = [f"… and {more} more problems"] if more > 0 else []
    return "\n".join((*dict.fromkeys(lines[:MAX_PROBLEMS]), *rest))


def _told(error: ValidationError) -> Iterable[str]:
    """One problem as one line; a missing or unknown name as a line of its own."""
    place = _place(error.absolute_path)
    given = error.instance
    properties = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    match error.validator:
        case "required":
            instance: Any = given
            for name in (name for name in _names(error.validator_value) if name not in instance):
                expected = _expected(properties.get(name, {}))
                yield f"{_in(place, name)} is missing; expected {expected}."
        case "additionalProperties" if (
            isinstance(given, Mapping) and error.validator_value is False
        ):
            known = [str(name) for name in properties]
            for name in given:
                if name not in properties:
                    yield f"{_in(place, str(name))} is unknown.{_near(str(name), known)}"
        case "type" | "enum" | "const" | "minimum" | "maximum" | "minLength" | "minItems":
            expected = _expected(error.schema)
            yield f"{place or 'The arguments'}: got {_value(given)}; expected {expected}."
        case _:
            yield f"{place or 'The arguments'}: {_short(error.message)}."


def _names(value: Any) -> Iterable[str]:
    return [str(name) for name in value]


def _place(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _in(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _value(value: Any) -> str:
    names = {bool: "true or false", str: "a text", int: "a number", float: "a number"}
    names |= {list: "a list", dict: "an object"}
    kind = names.get(type(value))
    text = _short(json.dumps(value, ensure_ascii=False, default=str))
    return f"{text} ({kind})" if kind and not isinstance(value, bool) else text


def _expected(schema: Any) -> str:
    """What a schema asks for, in a few words."""
    if not isinstance(schema, Mapping):
        return "another value"
    if isinstance(schema.get("enum"), list):
        return "one of " + ", ".join(json.dumps(choice) for choice in schema["enum"][:20])
    if "const" in schema:
        return json.dumps(schema["const"])
    kinds = schema.get("type", "another value")
    names = kinds if isinstance(kinds, str) else " or ".join(map(str, kinds))
    said = schema.get("description")
    return f"{names}{_range(schema)}" + (f" ({_short(said)})" if isinstance(said, str) else "")


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None or high is not None:
        return f" of at least {low}" if low is not None else f" of at most {high}"
    for key, unit in (("minItems", "item"), ("minLength", "character")):
        if isinstance(schema.get(key), int):
            return f" of at least {schema[key]} {unit}{'' if schema[key] == 1 else 's'}"
    return ""


def _near(name: str, known: Sequence[str]) -> str:
    """Which argument may have been meant, and which there are."""
    folded = name.casefold()
    inside = [k for k in known if k.casefold() in folded or folded in k.casefold()]
    near = inside or difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{hint} The arguments are: {', '.join(known) or 'none'}."


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
