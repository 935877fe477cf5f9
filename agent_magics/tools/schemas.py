"""JSON Schemas of the built-in tools' arguments: small builders, all closed to unknown names."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.messages import JSON


def record(required: tuple[str, ...] = (), **properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """The schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def string(description: str, default: str | None = None) -> dict[str, JSON]:
    """The schema of a text."""
    schema: dict[str, JSON] = {"type": "string", "description": description}
    return schema if default is None else {**schema, "default": default}


def integer(description: str, low: int, high: int | None, default: int) -> dict[str, JSON]:
    """The schema of a whole number, ends included."""
    schema: dict[str, JSON] = {"type": "integer", "description": description, "minimum": low}
    return {**schema, **({"maximum": high} if high is not None else {}), "default": default}


def number(description: str, high: float) -> dict[str, JSON]:
    """The schema of a number above zero that may be left out."""
    return {
        "type": "number",
        "description": description,
        "exclusiveMinimum": 0,
        "maximum": high,
    }


def flag(description: str) -> dict[str, JSON]:
    """The schema of a yes or no that is no unless said."""
    return {"type": "boolean", "description": description, "default": False}
