"""Everything that is no table and no array, in words. Runs no code of theirs.

Owns containers, functions, classes, modules and objects with attributes. Sources come from files
and cells as they lie there.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
import types
from collections.abc import Iterator, Mapping
from itertools import islice

from agent_magics.namespace.looking import (
    attributes_of,
    bases_of,
    class_dict,
    isinstance_of,
    kind_of,
    length_of,
    look,
    name_of,
    shown,
)
from agent_magics.plain import visible
from agent_magics.tools.plain import cut
from agent_magics.tools.variables.cells import cell, hides, label, named_cell

ITEMS, DEPTH = 15, 3
"""Items of a container that are shown, and how deep containers in containers are."""
LONG_CELL = 120
"""Characters of a value in a list of items or attributes."""
TEXT = 2_000
"""Characters of a text, a docstring or a source that are shown, ends first."""
NAMES = 40
"""Attributes, methods and names of a module that are listed."""
_SEQUENCES: tuple[type, ...] = (list, tuple)
_SETS: tuple[type, ...] = (set, frozenset)


def object_text(value: object) -> str:
    """What can be said of any object."""
    if type(value) is str:
        return cut_text(value)
    if isinstance_of(value, types.ModuleType):
        return _module(value)
    if isinstance_of(value, type):
        return _class(value)  # type: ignore[arg-type]  # just checked
    if (function := _function(value)) is not None:
        return function
    if length_of(value) is not None:
        return "\n".join(_items(value, 0)) or "(empty)"
    if isinstance_of(value, BaseException):
        arguments = BaseException.__dict__["args"].__get__(value)
        return "\n".join(["arguments:", *_items(arguments, 1), *_instance(value)])
    lines = list(_instance(value))
    return "\n".join(lines) if lines else cell(value, LONG_CELL)


def cut_text(text: str) -> str:
    """A text within its budget."""
    text = text if len(text) <= 50 * TEXT else f"{text[:TEXT]}\n{text[-TEXT:]}"
    return str(cut(text, TEXT) or text)


def _items(value: object, depth: int) -> Iterator[str]:
    """The items of a container, one on a line, with those of containers inside."""
    indent = "  " * depth
    for name, item in _pairs(value):
        key = f"{label(name)}: " if name is not None else "- "
        if hides(name):
            yield f"{indent}{key}[hidden]"
        elif length_of(item) and _opens(item) and depth + 1 < DEPTH:
            yield f"{indent}{key}{look(item)}"
            yield from _items(item, depth + 1)
        else:
            yield f"{indent}{key}{cell(item, LONG_CELL)}"
    left = (length_of(value) or 0) - ITEMS
    if left > 0 and _opens(value):
        yield f"{indent}… {left:,} more"


def _opens(value: object) -> bool:
    return any(isinstance_of(value, base) for base in (dict, *_SEQUENCES, *_SETS))


def _pairs(value: object) -> list[tuple[object, object]]:
    """Keys and items, or None and items, by the built-in's own means."""
    try:
        if isinstance_of(value, dict):
            return list(islice(dict.items(value), ITEMS))  # type: ignore[arg-type]
        for base in _SEQUENCES:
            if isinstance_of(value, base):
                part = class_dict(base)["__getitem__"](value, slice(0, ITEMS))  # type: ignore[operator]
                fields = _fields(value)
                return [(fields[i] if i < len(fields) else None, x) for i, x in enumerate(part)]
        for base in _SETS:
            if isinstance_of(value, base):
                return [(None, item) for item in islice(base.__iter__(value), ITEMS)]  # type: ignore[attr-defined]
    except RuntimeError:
        # Another thread changed it meanwhile.
        return []
    plain = any(type(value) is cls for cls in (bytes, range, bytearray))
    return [(None, value)] if plain else []


def _fields(value: object) -> tuple[str, ...]:
    """The names of a named tuple's fields."""
    found = class_dict(type(value)).get("_fields")
    whole = type(found) is tuple and all(type(name) is str for name in found)
    return found if whole else ()  # type: ignore[return-value]  # just checked


def _function(value: object) -> str | None:
    """A function or method with its source; None for anything else."""
    if type(value) is types.MethodType:
        inner = _function(value.__func__) or cell(value.__func__)
        return f"a method, bound to {look(value.__self__)}\n{inner}"
    if type(value) is functools.partial:
        given = [cell(item) for item in value.args]
        given += [f"{label(name)}={named_cell(name, x)}" for name, x in value.keywords.items()]
        return f"partial, with {', '.join(given)}, of\n{_function(value.func) or cell(value.func)}"
    if type(value) is types.FunctionType:
        source = source_of(value.__code__)
        if source:
            return f"source:\n{cut_text(source)}"
        return _documented(value.__code__.co_name, _signature(value.__code__), value.__doc__)
    if type(value) is types.BuiltinFunctionType:
        signature = value.__text_signature__ or "(…)"  # type: ignore[attr-defined]  # it has
        return _documented(value.__name__, signature, value.__doc__)
    return None


def _signature(code: types.CodeType) -> str:
    count = code.co_argcount + code.co_kwonlyargcount
    return f"({', '.join(code.co_varnames[:count])})"


def _documented(name: str, signature: str, text: object) -> str:
    return "\n".join([f"{name}{signature}", *([cut_text(text)] if type(text) is str else [])])


def source_of(code: types.CodeType) -> str:
    """The source of a function where its file or cell still has it; else empty."""
    lines = linecache.getlines(code.co_filename)
    return _block(lines, code.co_firstlineno - 1)


def _block(lines: list[str], start: int) -> str:
    if not 0 <= start < len(lines):
        return ""
    try:
        return "".join(inspect.getblock(lines[start:])).rstrip()
    except (SyntaxError, IndexError):
        return ""


def _class(cls: type) -> str:
    body = class_dict(cls)
    bases = ", ".join(kind_of(base) for base in bases_of(cls)[1:] if base is not object)
    lines = [f"a class{f' of the bases {bases}' if bases else ''}"]
    if source := _class_source(cls, body):
        return "\n".join([*lines, "source:", cut_text(source)])
    if type(doc := body.get("__doc__")) is str:
        lines.append(cut_text(doc))
    if names := _listed(name for name in body if type(name) is str and not name.startswith("_")):
        lines.append(f"in its body: {names}")
    return "\n".join(lines)


def _class_source(cls: type, body: Mapping[str, object]) -> str:
    """The source of a class, found above the first of its functions."""
    name = name_of(cls)
    head = re.compile(rf"\s*class\s+{re.escape(name)}\b")
    for value in body.values():
        if type(value) is not types.FunctionType:
            continue
        lines = linecache.getlines(value.__code__.co_filename)
        start = min(value.__code__.co_firstlineno, len(lines)) - 1
        found = next((at for at in range(start, -1, -1) if head.match(lines[at])), None)
        return "" if found is None else _block(lines, found)
    return ""


def _module(value: object) -> str:
    own = class_dict(types.ModuleType)["__dict__"].__get__(value)  # type: ignore[attr-defined]
    lines = ["a module"]
    lines += [
        f"{name.strip('_')}: {shown(text, 200)}"
        for name in ("__name__", "__version__", "__file__")
        if type(text := own.get(name)) is str
    ]
    if type(doc := own.get("__doc__")) is str:
        lines.append(cut_text(doc.strip().partition("\n\n")[0]))
    public = [name for name in list(own) if type(name) is str and not name.startswith("_")]
    if names := _listed(iter(public)):
        lines.append(f"{len(public)} public names: {names}")
    return "\n".join(lines)


def _instance(value: object) -> Iterator[str]:
    """The attributes that an object has of its own, and what its class says."""
    cls = type(value)
    body = class_dict(cls)
    if type(doc := body.get("__doc__")) is str and not doc.startswith(f"{name_of(cls)}("):
        yield cut_text(visible(doc).strip().partition("\n\n")[0])
    attributes = attributes_of(value)
    if attributes:
        yield "attributes:"
        for name, item in islice(list(attributes.items()), NAMES):
            yield f"  {label(name)}: {named_cell(name, item, LONG_CELL)}"
        if len(attributes) > NAMES:
            yield f"  … {len(attributes) - NAMES:,} more"
    methods = [
        name
        for base in bases_of(cls)
        for name, item in list(class_dict(base).items())
        if type(name) is str and not name.startswith("_") and type(item) is types.FunctionType
    ]
    if names := _listed(iter(dict.fromkeys(methods))):
        yield f"methods: {names}"


def _listed(names: Iterator[str]) -> str:
    whole = list(names)
    more = f" and {len(whole) - NAMES:,} more" if len(whole) > NAMES else ""
    return ", ".join(shown(name, 60) for name in whole[:NAMES]) + more
