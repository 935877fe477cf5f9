"""Objects that do harm when they are looked at: each hook that Python offers notes its call."""

from __future__ import annotations

from collections import OrderedDict, deque
from types import ModuleType
from typing import Any

HOOKS = (
    *("__repr__", "__str__", "__format__", "__len__", "__iter__", "__getitem__", "__contains__"),
    *("__getattr__", "__getattribute__", "__eq__", "__hash__", "__bool__", "__index__", "__int__"),
    *("__float__", "__sizeof__", "__reduce__", "__reduce_ex__", "__dir__", "__call__", "__array__"),
    *("__del__", "__lt__", "__instancecheck__", "__subclasscheck__", "__set_name__", "__get__"),
    *("__copy__", "__deepcopy__", "__fspath__", "__bytes__", "__length_hint__", "__missing__"),
    *("_repr_html_", "_repr_pretty_", "__class_getitem__", "__enter__", "__dataframe__"),
)
"""Special methods that looking at an object might call."""
FACES = ("__class__", "__dict__", "__doc__", "__module__", "__name__", "shape", "dtype", "columns")
"""Attributes that may be properties."""
BASES: tuple[type, ...] = (
    *(object, dict, list, tuple, set, str, int, float, bytes, frozenset, bytearray),
    *(OrderedDict, deque, Exception, ModuleType),
)

CALLS: list[str] = []
"""What was called; a test empties it."""


def _hook(name: str) -> Any:
    def called(*_arguments: object, **_options: object) -> Any:
        CALLS.append(name)
        raise RuntimeError(f"{name} was called")

    return called


def _face(name: str) -> property:
    return property(_hook(name))


def hostile_class(base: type, hooks: Any, faces: Any, *, meta: bool, lie: str) -> type:
    """A class whose instances note what is asked of them.

    Args:
        base: What it inherits from.
        hooks: Special methods it has.
        faces: Attributes that are properties.
        meta: Whether its metaclass is as hostile.
        lie: Which module it says it is from.
    """
    body: dict[str, object] = {name: _hook(name) for name in hooks if name != "__del__"}
    body |= {name: _face(name) for name in faces if name not in ("__module__", "__doc__")}
    body["__module__"] = lie or _hook("__module__")
    kind: type = type
    if meta:
        names = ("__repr__", "__str__", "__eq__", "__hash__", "__instancecheck__", "__len__")
        rows: dict[str, object] = {name: _hook(f"meta {name}") for name in names}
        rows["__getattribute__"] = _hook("meta __getattribute__")
        rows["__name__"] = _face("meta __name__")
        kind = type("Meta", (type,), rows)
    return type.__new__(kind, "float64" if lie == "numpy" else "Hostile", (base,), body)


def instance_of(cls: type, base: type) -> object:
    """An instance that was made without its class's help."""
    return base.__new__(cls) if base is not ModuleType else ModuleType.__new__(cls)
