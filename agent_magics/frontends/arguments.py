"""A call's arguments as a person reads and edits them: JSON text in, JSON text out. Pure."""

from __future__ import annotations

import json

from agent_magics.messages import JSON
from agent_magics.plain import visible


def visible_json(arguments: str, *, indent: int | None = None) -> str:
    """A JSON object for the eye: characters that hide or steer are written as JSON's escapes.

    Args:
        arguments: The text of a JSON object.
        indent: Spaces per level; None: all on one line.
    """
    text = json.dumps(json.loads(arguments), indent=indent, ensure_ascii=False)
    if visible(text) == text:
        return text
    return "".join(char if visible(char) == char else json.dumps(char)[1:-1] for char in text)


def edited_arguments(text: str) -> tuple[str | None, str]:
    """What a person made of the arguments.

    Args:
        text: As they wrote it.

    Returns:
        The text of a JSON object and no problem, or nothing and the problem in one line.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
        result = json.dumps(value, ensure_ascii=False, allow_nan=False)
        result.encode()
    except UnicodeEncodeError:
        return None, "There is half of a surrogate pair in the text."
    except (ValueError, RecursionError) as error:
        return None, f"This is not JSON: {error}"
    if not isinstance(value, dict):
        return None, 'The arguments have to be a JSON object, like {"path": "a.py"}.'
    return result, ""


def same_arguments(one: str, other: str) -> bool:
    """Whether two texts of JSON objects say the same; 1, 1.0 and true are not the same."""
    return _canonical(one) == _canonical(other)


def _canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _no_constant(name: str) -> JSON:
    raise ValueError(f"{name} is no JSON value")
