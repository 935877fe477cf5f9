"""A Python function's signature and docstring as what a model is shown: text and JSON Schema."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_magics.errors import SkillError
from agent_magics.library.records import Make, check_finite, fields_of, is_open, is_record, maker
from agent_magics.messages import JSON

_SIMPLE: Mapping[Any, str] = types.MappingProxyType(
    {str: "string", int: "integer", float: "number", bool: "boolean"}
)
_SECTION = re.compile(r"(Args|Arguments|Parameters|Params|Attributes):\s*")
_NEXT_SECTION = re.compile(r"[A-Z][A-Za-z ]+:\s*")
_ARGUMENT = re.compile(r"(\w+)\s*(\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes.

    Args:
        description: Its docstring without the arguments.
        parameters: JSON Schema of an object.
        positional: Names of the parameters that cannot be given by name, in order.
        wants_workspace: Whether it has a parameter `workspace` for the workspace's folder.
        makers: How the JSON of a call becomes the parameter's type, where that is not JSON itself.
    """

    description: str
    parameters: Mapping[str, JSON]
    positional: tuple[str, ...] = field(default=())
    wants_workspace: bool = False
    makers: Mapping[str, Make] = field(default_factory=dict)


def signature_of(function: Callable[..., Any], description: str = "") -> Signature:
    """The schema of a function.

    Args:
        function: With a type for each parameter and a docstring in Google's style.
        description: In place of the docstring's text; the texts of its arguments still count.

    Raises:
        SkillError: Something a tool needs is missing, or a type has no counterpart in JSON.
    """
    name = getattr(function, "__name__", "?")
    documentation = inspect.getdoc(function) or ""
    if not documentation and not description:
        raise SkillError(f"{name} has no docstring; say there what it does")
    hints = _hints(name, function)
    documented, texts = _documentation(documentation)
    properties: dict[str, JSON] = {}
    required: list[str] = []
    positional: list[str] = []
    makers: dict[str, Make] = {}
    wants_workspace = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SkillError(
                f"{name} takes *{parameter.name}; a tool has a fixed list of parameters"
            )
        if parameter.name not in hints:
            raise SkillError(f"{name}: the parameter {parameter.name} has no type")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(parameter.name)
        hint = hints[parameter.name]
        if parameter.name == "workspace" and hint is Path:
            wants_workspace = True
            continue
        where = f"{name}: the parameter {parameter.name}"
        check_finite(hint, where)
        schema = _schema(hint, where)
        if (make := maker(hint, where)) is not None:
            makers[parameter.name] = make
        if parameter.name in texts:
            schema = {**schema, "description": texts[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            schema = {**schema, "default": parameter.default}
        properties[parameter.name] = schema
    parameters: dict[str, JSON] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        parameters["required"] = required
    return Signature(
        description or documented, parameters, tuple(positional), wants_workspace, makers
    )


def _hints(name: str, function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # annotations are code, and may raise anything
        raise SkillError(f"{name}: its types cannot be read ({error})") from error


def _schema(hint: Any, where: str) -> dict[str, JSON]:
    """The JSON Schema of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, type) and hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if hint is Any:
        return {}
    if hint is type(None):
        return {"type": "null"}
    if origin is typing.Annotated:
        texts = [item for item in arguments[1:] if isinstance(item, str)]
        return {**_schema(arguments[0], where), **({"description": texts[0]} if texts else {})}
    if origin is typing.Literal:
        return _literal(arguments, where)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(argument, where) for argument in arguments]}
    if hint is list or origin in (list, Sequence):
        return {"type": "array", **({"items": _schema(arguments[0], where)} if arguments else {})}
    if hint is dict or origin in (dict, Mapping):
        if arguments and arguments[0] is not str:
            raise SkillError(f"{where} is a mapping with keys other than str; JSON has none")
        values = {"additionalProperties": _schema(arguments[1], where)} if arguments else {}
        return {"type": "object", **values}
    if is_record(hint):
        return _record(hint, where)
    shown = getattr(hint, "__name__", str(hint))
    raise SkillError(
        f"{where} has the type {shown}; use str, int, float, bool, list, dict, Literal, Optional, "
        "TypedDict or a dataclass"
    )


def _record(hint: Any, where: str) -> dict[str, JSON]:
    """The JSON Schema of a record; its docstring describes the fields, as a function's does."""
    _, texts = _documentation(inspect.getdoc(hint) or "")
    properties: dict[str, JSON] = {}
    required: list[str] = []
    for name, part in fields_of(hint, where).items():
        schema = _schema(part.hint, f"{where}: {name}")
        if name in texts:
            schema = {**schema, "description": texts[name]}
        if part.required:
            required.append(name)
        elif _is_json(part.default):
            schema = {**schema, "default": part.default}
        properties[name] = schema
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **({} if is_open(hint) else {"additionalProperties": False}),
    }


def _literal(values: Sequence[Any], where: str) -> dict[str, JSON]:
    if not all(isinstance(value, (str, int, bool, type(None))) for value in values):
        raise SkillError(f"{where} is a Literal of something else than texts and numbers")
    kinds = {type(value) for value in values}
    kind = {"type": _SIMPLE[kinds.pop()]} if len(kinds) == 1 and kinds <= set(_SIMPLE) else {}
    return {**kind, "enum": list(values)}


def _documentation(text: str) -> tuple[str, dict[str, str]]:
    """A docstring as the text for the tool and the texts of its arguments."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _SECTION.fullmatch(line)), None)
    if start is None:
        return text.strip(), {}
    end = start + 1
    while end < len(lines) and not _NEXT_SECTION.fullmatch(lines[end]):
        if lines[end].strip() and not lines[end].startswith((" ", "\t")):
            break
        end += 1
    description = "\n".join([*lines[:start], *lines[end:]]).strip()
    texts: dict[str, str] = {}
    margin = min((_indent(line) for line in lines[start + 1 : end] if line.strip()), default=0)
    current = ""
    for line in lines[start + 1 : end]:
        match = _ARGUMENT.fullmatch(line.strip()) if _indent(line) == margin else None
        if match:
            current = match[1]
            texts[current] = match[3]
        elif current and line.strip():
            texts[current] = f"{texts[current]} {line.strip()}".strip()
    return re.sub(r"\n{3,}", "\n\n", description), {k: v for k, v in texts.items() if v}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
