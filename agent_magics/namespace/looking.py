"""What an object is: its type, its length or shape. Runs no code of the object's own.

Owns the difference between what is safe to ask and what is not: `type()`, the C functions of
built-in containers, and attributes of classes that are exactly those of known libraries. Never
asked are `__class__`, `__len__`, `__repr__`, `__eq__`, `__getattr__`, properties and metaclasses of
anything else, which may be slow, wrong or harmful. Whatever a library raises for an object that is
broken makes the answer shorter, not an error.
"""

from __future__ import annotations

import array
import collections
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import GetSetDescriptorType, ModuleType

from agent_magics.plain import visible

MAX_KIND, MAX_EXTENT, MAX_NAME = 80, 60, 80
"""Characters that are shown of a type's name, of a length or shape, and of a variable's name."""

KNOWN = (
    *("numpy.ndarray", "numpy.memmap", "pandas.DataFrame", "pandas.Series", "pandas.Index"),
    *("pandas.RangeIndex", "pandas.DatetimeIndex", "pandas.MultiIndex", "pandas.CategoricalIndex"),
    *("geopandas.GeoDataFrame", "geopandas.GeoSeries"),
    *("polars.DataFrame", "polars.Series", "polars.LazyFrame"),
    *("pyarrow.Table", "pyarrow.RecordBatch", "xarray.DataArray", "xarray.Dataset", "torch.Tensor"),
)
"""Classes whose attributes are trusted to be cheap. A subclass is not: it may do anything."""
LIBRARIES = frozenset(("numpy", "pandas", "geopandas", "polars", "pyarrow", "xarray", "torch"))

SIZED: tuple[type, ...] = (
    *(dict, list, tuple, set, frozenset, str, bytes, bytearray, collections.deque, array.array),
    *(range,),
)

_MRO = type.__dict__["__mro__"]
_NAME = type.__dict__["__qualname__"]
_MODULE = type.__dict__["__module__"]


@dataclass(frozen=True, slots=True)
class Look:
    """What can be said of an object in a few words.

    Args:
        kind: Its type: `int`, `pandas.DataFrame`, the bare name of the person's own classes.
        extent: Its length or shape and the type of its items, as far as it has them.
    """

    kind: str
    extent: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.extent}".rstrip()


def bases_of(cls: type) -> tuple[type, ...]:
    """A class and those it inherits from, past any metaclass."""
    found: tuple[type, ...] = _MRO.__get__(cls)
    return found


def module_of(cls: type) -> str:
    """The name of the module that a class says it is from; empty where it says none."""
    try:
        name = _MODULE.__get__(cls)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def name_of(cls: type) -> str:
    """The name of a class, without where it stands."""
    return str(_NAME.__get__(cls)).rpartition(".")[2]


def kind_of(cls: type) -> str:
    """A class as it is named to people: with its package, unless it is built in or their own."""
    name = str(_NAME.__get__(cls)).replace("<locals>.", "")
    package = module_of(cls).partition(".")[0]
    if package in ("", "builtins", "__main__"):
        return shown(name, MAX_KIND)
    return shown(f"{package}.{name.rpartition('.')[2]}", MAX_KIND)


def shown(text: str, most: int) -> str:
    """A text on one line, with everything that hides or steers visible."""
    line = visible(text[: most + 1]).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shown_name(name: str) -> str:
    """A variable's name; code can make names that are none."""
    return shown(name, MAX_NAME) or "''"


def of_library(value: object) -> bool:
    """Whether an object's class lies in a known library, so that its text may be asked for.

    A class can say that it is from anywhere, so it is looked for there.
    """
    cls = type(value)
    name = module_of(cls)
    if name.partition(".")[0] not in LIBRARIES:
        return False
    module = sys.modules.get(name)
    own = _NAME.__get__(cls)
    return isinstance_of(module, ModuleType) and vars(module).get(own) is cls


def library_classes() -> Mapping[int, str]:
    """The known classes of the libraries that are loaded, by their `id`.

    By `id`, since looking a class up in a mapping would call a metaclass.
    """
    found = {}
    for known in KNOWN:
        package, _, name = known.partition(".")
        module = sys.modules.get(package)
        if isinstance_of(module, ModuleType) and (cls := vars(module).get(name)) is not None:
            found[id(cls)] = known
    return found


def library_name(value: object) -> str:
    """Which known class an object is an instance of, exactly; empty: none."""
    return library_classes().get(id(type(value)), "")


def look(value: object, classes: Mapping[int, str] | None = None) -> Look:
    """What an object is.

    Args:
        value: Anything.
        classes: What `library_classes` gave, if many objects are looked at.
    """
    known = (library_classes() if classes is None else classes).get(id(type(value)), "")
    if known:
        try:
            return Look(known, shown(_library_extent(value, known), MAX_EXTENT))
        except Exception:  # noqa: BLE001  # a library may raise anything for a broken object
            return Look(known)
    return Look(kind_of(type(value)), _length(value))


def length_of(value: object) -> int | None:
    """The length of a built-in container or of a subclass of one, by the built-in's own count."""
    for base in bases_of(type(value)):
        if any(base is sized for sized in SIZED):
            return int(base.__len__(value))  # type: ignore[attr-defined]  # all of SIZED have it
    return None


def attributes_of(value: object) -> dict[str, object] | None:
    """An object's own attributes, as they lie there; None where it has none of its own."""
    for base in bases_of(type(value)):
        slot = type.__dict__["__dict__"].__get__(base).get("__dict__")
        if slot is not None:
            if type(slot) is not GetSetDescriptorType:
                return None
            found = slot.__get__(value)
            return found if type(found) is dict else None
    return None


def class_dict(cls: type) -> Mapping[str, object]:
    """What stands in a class's body, past any metaclass."""
    found: Mapping[str, object] = type.__dict__["__dict__"].__get__(cls)
    return found


def _length(value: object) -> str:
    count = length_of(value)
    if count is None:
        return ""
    if isinstance_of(value, str):
        noun = "character"
    elif isinstance_of(value, bytes) or isinstance_of(value, bytearray):
        noun = "byte"
    else:
        noun = "item"
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def isinstance_of(value: object, base: type) -> bool:
    """`isinstance` by the object's true class; an object's `__class__` may lie, or run code."""
    return any(cls is base for cls in bases_of(type(value)))


def shape_text(shape: object) -> str:
    """`150×5`; empty for what is no tuple of numbers, `1 value` for no dimension."""
    if not isinstance(shape, tuple):
        return ""
    return "×".join(f"{side:,}" if type(side) is int else str(side) for side in shape) or "1 value"


def library_text(value: object) -> str:
    """The text of a library's object, such as a data type; the kind of any other."""
    return str(value) if of_library(value) else kind_of(type(value))


def _library_extent(value: object, known: str) -> str:
    # The class is exactly the library's, so these are its attributes.
    of: object = value
    match known:
        case "polars.LazyFrame":
            return "not collected"
        case "xarray.Dataset":
            sizes = ", ".join(f"{name}: {size:,}" for name, size in of.sizes.items())  # type: ignore[attr-defined]
            return f"{len(of.data_vars)} variables ({sizes})"  # type: ignore[attr-defined]
        case "pyarrow.Table" | "pyarrow.RecordBatch":
            return f"{of.num_rows:,}×{of.num_columns:,}"  # type: ignore[attr-defined]
        case "pandas.DataFrame" | "geopandas.GeoDataFrame" | "polars.DataFrame":
            return shape_text(of.shape)  # type: ignore[attr-defined]
        case "pandas.MultiIndex":
            return f"{len(of):,} × {of.nlevels} levels"  # type: ignore[attr-defined,arg-type]
        case _:
            shape = shape_text(tuple(of.shape))  # type: ignore[attr-defined]
            return f"{shape} {library_text(of.dtype)}"  # type: ignore[attr-defined]
