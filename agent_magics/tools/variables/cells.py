"""One value on one line, and values in rows. Runs no code of the values' own.

Owns which types may be asked for their text at all: simple built-in ones, dates and numbers of the
standard library, and scalars of known libraries. Of anything else only the type is told.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import uuid
from collections.abc import Iterable, Sequence

from agent_magics.namespace.looking import kind_of, look, of_library, shown
from agent_magics.namespace.prints import simple
from agent_magics.tools.redaction import says_secret

WIDTH = 40
"""Characters of a cell."""
MOST_BITS = 2_000
"""Bits of a number that is written out; Python refuses to write very long ones."""
HIDDEN = "[hidden: its name says that it is a secret]"
_PLAIN: tuple[type, ...] = (
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, fractions.Fraction, uuid.UUID),
    *(pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath),
)
_SCALARS = frozenset(
    (
        *("Timestamp", "Timedelta", "Period", "Interval", "NaTType", "NAType"),
        *("float64", "float32", "float16", "longdouble", "bool", "bool_", "str_", "bytes_"),
        *("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"),
        *("datetime64", "timedelta64", "complex128", "complex64"),
    )
)


def cell(value: object, width: int = WIDTH) -> str:
    """A value in a few characters.

    Args:
        value: Anything.
        width: In characters.
    """
    kind = type(value)
    if kind is int and value.bit_length() > MOST_BITS:  # type: ignore[attr-defined]
        return f"<int of {value.bit_length():,} bits>"  # type: ignore[attr-defined]
    if kind is str or kind is bytes:
        part = value[: width + 1]  # type: ignore[index]
        return shown(repr(part), width)
    if simple(value):
        return shown(repr(value), width)
    if any(kind is plain for plain in _PLAIN) or is_scalar(value):
        try:
            return shown(str(value), width)
        except Exception:  # noqa: BLE001  # numbers and dates beyond what can be written
            return shown(f"<{look(value)}>", width)
    return shown(f"<{look(value)}>", width)


def is_scalar(value: object) -> bool:
    """Whether it is one number, date or text of a known library."""
    return of_library(value) and kind_of(type(value)).rpartition(".")[2] in _SCALARS


def named_cell(name: object, value: object, width: int = WIDTH) -> str:
    """A value under a name, which may say that it must not be shown.

    Args:
        name: A variable's, a key, a column's label.
        value: Anything.
        width: In characters.
    """
    return "[hidden]" if hides(name) else cell(value, width)


def hides(name: object) -> bool:
    """Whether what stands under this name must not be shown."""
    return type(name) is str and says_secret(name)


def label(name: object, width: int = WIDTH) -> str:
    """A column's label or a key: a text as it is, anything else as a cell."""
    return shown(name, width) if type(name) is str else cell(name, width)


def rows_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells, in columns of one width each."""
    cells = [list(row) for row in rows]
    if not cells:
        return ""
    count = max(len(row) for row in cells)
    widths = [max(len(row[i]) for row in cells if i < len(row)) for i in range(count)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)) for row in cells)
    return "\n".join(f"  {line.rstrip()}" for line in lines)
