"""Whether an object is still what it was: small, cheap prints of its content.

Owns what is compared: lengths, shapes, types, small values, and the identity of the rest. A change
deep inside an object does not show, and nothing that an object itself defines is called.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeAlias

from agent_magics.namespace.looking import (
    attributes_of,
    isinstance_of,
    length_of,
    library_text,
    shape_text,
)

Print: TypeAlias = tuple[object, ...]
"""Numbers, texts and tuples of these."""

ITEMS = 40
"""Items of a container, or columns of a table, that are looked at."""
SMALL_TEXT, SMALL_BITS = 200, 128
"""Characters of a text and bits of a number that are compared by value."""
SMALL_DATA = 100_000
"""Bytes of an array that are compared by value."""
SIMPLE: tuple[type, ...] = (int, float, bool, str, bytes, complex, type(None))
"""Types whose values cannot change, and whose own comparison is C code."""


def simple(value: object) -> bool:
    """Whether an object is exactly of a simple type."""
    return any(type(value) is cls for cls in SIMPLE)


def same_value(one: object, other: object) -> bool:
    """Whether two objects are the same, or simple and equal."""
    if one is other:
        return True
    return simple(one) and type(one) is type(other) and repr_or_equal(one, other)


def repr_or_equal(one: object, other: object) -> bool:
    """Equality of two simple values of one type; a NaN equals itself, 0.0 is not -0.0."""
    if isinstance(one, float | complex):
        return repr(one) == repr(other)
    return bool(one == other)


def print_of(value: object, known: str) -> Print:
    """A print of an object's content; two that differ mean that it was changed in place.

    Args:
        value: Anything.
        known: Which class of a library it is, see `looking.library_classes`.
    """
    if simple(value):
        return ()
    try:
        if known:
            return _library_print(value, known)
        return _container_print(value) or _attributes_print(value)
    except Exception:  # noqa: BLE001  # broken objects of libraries; and a thread may change a dict
        return ()


def _container_print(value: object) -> Print:
    count = length_of(value)
    if count is None:
        return ()
    if isinstance_of(value, dict):
        return ("dict", count, _pairs(value))  # type: ignore[arg-type]  # just checked
    if isinstance_of(value, list):
        head = list.__getitem__(value, slice(0, ITEMS))  # type: ignore[call-overload]
        tail = list.__getitem__(value, slice(-ITEMS, None))  # type: ignore[call-overload]
        return ("list", count, _tokens(head), _tokens(tail))
    if isinstance_of(value, set):
        return ("set", count, _tokens(islice(set.__iter__(value), ITEMS)))  # type: ignore[arg-type]
    if isinstance_of(value, bytearray):
        data = bytearray.__getitem__(value, slice(0, SMALL_DATA))  # type: ignore[call-overload]
        return ("bytes", count, zlib.crc32(data))
    return ("sized", count)


def _attributes_print(value: object) -> Print:
    attributes = attributes_of(value)
    if attributes is None or isinstance_of(value, type):
        return ()
    return ("object", len(attributes), _pairs(attributes))


def _pairs(items: dict[Any, Any]) -> Print:
    pairs = list(islice(dict.items(items), ITEMS))
    return _tokens(part for pair in pairs for part in pair)


def _tokens(values: Iterable[object]) -> Print:
    return tuple(_token(value) for value in values)


def _token(value: object) -> object:
    """A stand-in for an item: its value if it is small, else which object it is."""
    kind = type(value)
    if kind is int and value.bit_length() <= SMALL_BITS:  # type: ignore[attr-defined]
        return ("int", value)
    if kind is str and len(value) <= SMALL_TEXT:  # type: ignore[arg-type]
        return ("str", value)
    if kind is bool or value is None:
        return ("constant", value)
    if kind is float or kind is complex:
        return ("number", repr(value))
    return ("object", id(value))


def _library_print(value: Any, known: str) -> Print:
    match known:
        case "numpy.ndarray":
            return ("array", shape_text(value.shape), str(value.dtype), _data(value))
        case (
            "pandas.DataFrame" | "pandas.Series" | "geopandas.GeoDataFrame" | "geopandas.GeoSeries"
        ):
            return ("pandas", value.shape, *_pandas(value, known))
        case "polars.DataFrame":
            return ("polars", value.shape, tuple(value.columns[:ITEMS]), _texts(value.dtypes))
        case "torch.Tensor":
            # Counts what changes a tensor in place.
            return ("torch", tuple(value.shape), getattr(value, "_version", 0))
        case "xarray.Dataset":
            sizes = tuple((str(name), size) for name, size in value.sizes.items())
            return ("xarray", sizes, _tokens(islice(value.variables, ITEMS)))
        case _:
            return ()


def _texts(types: Iterable[object]) -> Print:
    return tuple(library_text(kind) for kind in islice(types, ITEMS))


def _pandas(value: Any, known: str) -> Print:
    blocks = _blocks(value)
    data = tuple((id(block), _data(block)) for block in blocks[:ITEMS])
    if known.endswith("Series"):
        return (data, library_text(value.dtype), _token(value.name))
    # Labels are the person's objects; taken as they lie there, not asked.
    columns = value.columns
    labels = tuple(_token(columns[place]) for place in range(min(len(columns), ITEMS)))
    return (data, labels)


def _blocks(value: Any) -> list[Any]:
    """The arrays that a pandas object consists of; none where this version names them otherwise."""
    manager = getattr(value, "_mgr", None)
    return [block.values for block in getattr(manager, "blocks", ())]


def _data(values: Any) -> object:
    """A checksum of a small array of plain numbers."""
    dtype = getattr(values, "dtype", None)
    if type(values).__module__ != "numpy" or dtype is None or dtype.hasobject:
        return 0
    return zlib.crc32(values.tobytes()) if values.nbytes <= SMALL_DATA else 0


def known_bytes(value: Any, known: str) -> int:
    """The bytes that the data of a library's object take, where that is known at once; else 0."""
    try:
        match known:
            case "numpy.ndarray" | "xarray.DataArray" | "xarray.Dataset" | "pyarrow.Table":
                return int(value.nbytes)
            case "pandas.DataFrame" | "pandas.Series":
                return sum(int(block.nbytes) for block in _blocks(value))
            case "polars.DataFrame":
                return int(value.estimated_size())
            case "torch.Tensor":
                return int(value.element_size() * value.nelement())
            case _:
                return 0
    except Exception:  # noqa: BLE001  # a library may raise anything for a broken object
        return 0


def visible_names(names: Mapping[str, object], hidden: Mapping[str, object]) -> dict[str, object]:
    """The person's own names: no private ones, and none that IPython put there.

    Args:
        names: IPython's `user_ns`.
        hidden: Its `user_ns_hidden`. What the person bound such a name to is theirs.
    """
    missing = object()
    return {
        name: value
        for name, value in list(names.items())
        if type(name) is str and not name.startswith("_") and hidden.get(name, missing) is not value
    }
