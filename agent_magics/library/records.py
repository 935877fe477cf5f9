"""Typed records as types of parameters: TypedDict and dataclass, alone or in lists and mappings.

Owns their fields, and how the JSON of a call becomes what the function's types say. A TypedDict
is a dictionary already, and may hold more than it names; a dataclass is made, and may not.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_magics.errors import SkillError
from agent_magics.messages import JSON

Make: TypeAlias = Callable[[JSON], Any]
"""From JSON that was checked against the schema to what a parameter's type says."""
Looks: TypeAlias = Callable[[JSON], bool]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    Args:
        hint: Its type, without `Required` and `NotRequired`.
        required: Whether it must be there.
        default: What it is otherwise; something that is no JSON where that is not said.
    """

    hint: Any
    required: bool
    default: Any = ...


def is_record(hint: Any) -> bool:
    """Whether a type is one of records."""
    return isinstance(hint, type) and (typing.is_typeddict(hint) or dataclasses.is_dataclass(hint))


def is_open(hint: Any) -> bool:
    """Whether records of this type may hold fields that it does not name."""
    return typing.is_typeddict(hint)


def fields_of(hint: Any, where: str) -> dict[str, Field]:
    """The fields of a record type, by name.

    Raises:
        SkillError: Its types cannot be read.
    """
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except Exception as error:  # annotations are code, and may raise anything
        name = hint.__name__
        raise SkillError(f"{where}: the types of {name} cannot be read ({error})") from error
    if typing.is_typeddict(hint):
        needed = hint.__required_keys__
        return {name: _typed(part, name in needed) for name, part in hints.items()}
    found = {}
    for field in dataclasses.fields(hint):
        if field.init:
            made = field.default_factory is not dataclasses.MISSING
            required = field.default is dataclasses.MISSING and not made
            found[field.name] = Field(hints[field.name], required, field.default)
    return found


def _typed(hint: Any, required: bool) -> Field:
    """The field; where annotations are texts, the class itself does not know `NotRequired`."""
    while (origin := typing.get_origin(hint)) in (typing.Required, typing.NotRequired):
        required = origin is typing.Required
        (hint,) = typing.get_args(hint)
    return Field(hint, required)


def check_finite(hint: Any, where: str, within: tuple[Any, ...] = ()) -> None:
    """Refuse records that contain themselves: written out, their schema would have no end.

    Raises:
        SkillError: This one does; or its types cannot be read.
    """
    parts = typing.get_args(hint)
    if is_record(hint):
        if hint in within:
            raise SkillError(f"{where} has the type {hint.__name__}, which contains itself")
        within = (*within, hint)
        parts = tuple(field.hint for field in fields_of(hint, where).values())
    for part in parts:
        check_finite(part, where, within)


def maker(hint: Any, where: str) -> Make | None:
    """How JSON becomes what a type says; None where it is that already."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return maker(arguments[0], where)
    if origin in (typing.Union, types.UnionType):
        return _choice([(_looks(part, where), maker(part, where)) for part in arguments])
    if origin in (list, Sequence) and arguments:
        item = maker(arguments[0], where)
        return None if item is None else (lambda value: [item(each) for each in value])
    if origin in (dict, Mapping) and len(arguments) == 2:
        part = maker(arguments[1], where)
        return None if part is None else (lambda value: {k: part(v) for k, v in value.items()})
    return _record(hint, where) if is_record(hint) else None


def _record(hint: Any, where: str) -> Make | None:
    makers = {
        name: make
        for name, field in fields_of(hint, where).items()
        if (make := maker(field.hint, where)) is not None
    }

    def each(value: JSON) -> dict[str, Any]:
        return {k: makers[k](v) if k in makers else v for k, v in value.items()}

    if not typing.is_typeddict(hint):
        return lambda value: hint(**each(value))
    return each if makers else None


def _choice(branches: Sequence[tuple[Looks, Make | None]]) -> Make | None:
    """Of a union's types the first whose values look like the one that came."""
    if all(make is None for _, make in branches):
        return None

    def made(value: JSON) -> Any:
        make = next((make for looks, make in branches if looks(value)), None)
        return value if make is None else make(value)

    return made


def _looks(hint: Any, where: str) -> Looks:
    """What tells the values of one branch of a union from those of the others."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _looks(arguments[0], where)
    if is_record(hint):
        fields = fields_of(hint, where)
        needed = {name for name, field in fields.items() if field.required}
        known = None if is_open(hint) else fields.keys()
        return lambda value: (
            isinstance(value, Mapping)
            and needed <= value.keys()
            and (known is None or value.keys() <= known)
        )
    if origin is typing.Literal:
        return lambda value: value in arguments
    kind = {Sequence: list, Mapping: dict}.get(origin or hint, origin or hint)
    return lambda value: not isinstance(kind, type) or isinstance(value, kind)
