"""`reference/api.md`: what programs use, from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

import agent_magics
from agent_magics.events import Question
from agent_magics.findings import Finding, Findings
from agent_magics.messages import Usage
from agent_magics.policy import Answer, Rule
from agent_magics.result import CallRecord, TurnResult
from agent_magics.scripting.items import Item, MapResult
from agent_magics.scripting.options import RunOptions
from docs.generating.docstrings import Docstring, docstring
from docs.generating.markdown import code, page, prose, table

INTRODUCTION = """\
`import agent_magics` costs next to nothing; each of these is imported when it is first used. How
they are used is said in [Scripts and many inputs](../scripts.md); `@tool` in [Writing
skills](../skills.md), `@hook` in [Hooks](../hooks.md)."""
FUNCTIONS = ("run", "arun", "map", "tool", "hook")
VALUES: tuple[type, ...] = (
    TurnResult,
    CallRecord,
    Usage,
    MapResult,
    Item,
    Findings,
    Finding,
    Question,
    Answer,
    Rule,
)


def api() -> str:
    """The page."""
    return page(
        "Python functions",
        INTRODUCTION,
        *(_function(f"agent_magics.{n}", getattr(agent_magics, n)) for n in FUNCTIONS),
        "## Options",
        "The keyword arguments of `run`, `arun` and `map`, all of them optional.",
        _fields(docstring(RunOptions), ("argument", "meaning")),
        "## Values",
        *(_value(kind) for kind in VALUES),
    )


def _function(name: str, function: Any) -> str:
    said = docstring(function)
    signature = f"{name}{_signature(function)}"
    return "\n\n".join(
        part
        for part in (
            f"## {code(name)}",
            f"```text\n{signature}\n```",
            *_prose(said),
            _fields(said, ("argument", "meaning")),
            f"Gives: {prose(said.returns)}" if said.returns else "",
            _fields(said, ("raises", "when"), raises=True),
        )
        if part
    )


def _signature(function: Any) -> str:
    """The parameters, each on a line of its own where there are several; annotations stay words."""
    parameters = inspect.signature(function).parameters.values()
    words: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(_parameter(parameter))
    return f"({', '.join(words)})"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.VAR_KEYWORD:
        return f"**{parameter.name}"
    if parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={parameter.default!r}"


def _value(kind: type) -> str:
    said = docstring(kind)
    told = dict(said.arguments)
    fields = [(f.name, told.get(f.name, f"`{f.type}`")) for f in dataclasses.fields(kind)]
    rows = [*fields, *_members(kind)]
    named = [(code(name), prose(meaning)) for name, meaning in rows]
    return "\n\n".join(
        (f"### {kind.__name__}", *_prose(said), table(("attribute", "meaning"), named))
    )


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Public properties and methods of the class itself, each with its first sentence."""
    fields = {field.name for field in dataclasses.fields(kind)}
    for name, member in vars(kind).items():
        if name.startswith("_") or name in fields:
            continue
        if isinstance(member, property):
            yield name, docstring(member).first
        elif inspect.isfunction(member):
            words = [p for p in inspect.signature(member).parameters.values() if p.name != "self"]
            yield f"{name}({', '.join(_parameter(p) for p in words)})", docstring(member).first


def _fields(said: Docstring, head: tuple[str, str], *, raises: bool = False) -> str:
    rows = said.raises if raises else said.arguments
    named = [(code(name), prose(meaning)) for name, meaning in rows]
    return table(head, named) if named else ""


def _prose(said: Docstring) -> list[str]:
    """Paragraphs; those that are indented are code."""
    return [
        f"```text\n{inspect.cleandoc(part)}\n```" if re.match(r" {4}", part) else prose(part)
        for part in said.paragraphs
    ]
