"""Tables of pandas, polars and pyarrow in words: columns, types, missing values, first rows.

Owns how much of a table is read, so that one of gigabytes is described in milliseconds: nothing is
copied, and what needs a look at every value is left out above a size. Imports none of the
libraries; it is given objects whose class is exactly theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agent_magics.namespace.looking import library_text, look, of_library, shown
from agent_magics.namespace.prints import known_bytes
from agent_magics.tools.plain import size
from agent_magics.tools.variables.cells import cell, label, named_cell, rows_text

COUNTED = 5_000_000
"""Cells of a table in which missing values are counted."""
SCHEMA = 60
"""Columns that are listed."""
COLUMNS = 12
"""Columns of the rows that are shown."""
TYPE = 60
"""Characters of a column's type."""


@dataclass(frozen=True, slots=True)
class Column:
    """What is told of one column: label, type, missing values (None: not counted), first cells."""

    name: object
    dtype: str
    missing: int | None
    head: Sequence[object] = ()


def frame_text(value: Any, known: str, rows: int) -> str:
    """A pandas or polars DataFrame, or a pyarrow Table.

    Args:
        value: The table.
        known: Its class.
        rows: How many of the first ones to show.
    """
    package = known.partition(".")[0]
    if package in ("pandas", "geopandas"):
        return _pandas_frame(value, rows)
    if package == "polars":
        return _told(*_polars_columns(value, rows), known_bytes(value, known))
    return _told(*_arrow_columns(value, rows), known_bytes(value, known))


def series_text(value: Any, known: str, rows: int) -> str:
    """A pandas or polars Series, or a pandas Index."""
    count = len(value)
    if known.startswith("polars"):
        column = Column(
            value.name, str(value.dtype), value.null_count(), value.head(rows).to_list()
        )
    else:
        column = _pandas_column(value.name, value, rows, count <= COUNTED)
    lines = [f"name: {label(column.name)}", f"missing: {_missing(column.missing)}"]
    if "Index" not in known and hasattr(value, "index") and of_library(value.index):
        lines.append(f"index: {look(value.index)}")
    if of := known_bytes(value, known):
        lines.append(f"memory: {size(of)} (without what objects hold)")
    head = ", ".join(named_cell(column.name, item) for item in column.head)
    return "\n".join([*lines, f"first {len(column.head)}: {head}" if head else "(empty)"])


def _pandas_frame(value: Any, rows: int) -> str:
    height, width = value.shape
    counted = height * width <= COUNTED
    labels = value.columns
    columns = [
        # By place: a label may stand for several columns.
        _pandas_column(labels[i], value.iloc[:, i], rows if i < COLUMNS else 0, counted)
        for i in range(min(width, SCHEMA))
    ]
    index = value.index
    names = index[:rows].tolist() if of_library(index) else []
    told = _told(columns, height, width, known_bytes(value, "pandas.DataFrame"), names)
    return f"index: {look(index)}\n{told}"


def _pandas_column(name: object, series: Any, rows: int, counted: bool) -> Column:
    dtype = series.dtype
    if not of_library(dtype):
        # A type that the person made: its arrays run their own code.
        return Column(name, library_text(dtype), None)
    countable = counted and getattr(series, "nlevels", 1) == 1
    missing = int(series.isna().sum()) if countable else None
    head = series.iloc[:rows] if hasattr(series, "iloc") else series[:rows]
    return Column(name, shown(str(dtype), TYPE), missing, head.tolist())


def _polars_columns(value: Any, rows: int) -> tuple[list[Column], int, int]:
    height, width = value.shape
    head = value.head(rows)
    columns = [
        Column(
            name,
            shown(str(dtype), TYPE),
            value.get_column(name).null_count(),  # polars keeps the count
            head.get_column(name).to_list() if i < COLUMNS else (),
        )
        for i, (name, dtype) in enumerate(islice(value.schema.items(), SCHEMA))
    ]
    return columns, height, width


def _arrow_columns(value: Any, rows: int) -> tuple[list[Column], int, int]:
    height, width = value.num_rows, value.num_columns
    counted = height * width <= COUNTED
    columns = [
        Column(
            field.name,
            shown(str(field.type), TYPE),
            value.column(i).null_count if counted else None,
            value.column(i).slice(0, rows).to_pylist() if i < COLUMNS else (),
        )
        for i, field in enumerate(islice(value.schema, SCHEMA))
    ]
    return columns, height, width


def _told(
    columns: Sequence[Column], height: int, width: int, of: int, index: Iterable[object] = ()
) -> str:
    lines = [f"memory: {size(of)} (without what objects hold)"] if of else []
    more = f", the first {len(columns)} of {width:,}" if width > len(columns) else ""
    lines.append(f"columns (name, type, missing values{more}):")
    lines.append(rows_text((label(c.name), c.dtype, _missing(c.missing)) for c in columns))
    if height * width > COUNTED and any(c.missing is None for c in columns):
        lines.append(f"  (missing values are counted in tables of up to {COUNTED:,} cells)")
    shown_columns = columns[:COLUMNS]
    count = max((len(c.head) for c in shown_columns), default=0)
    if not count:
        return "\n".join(lines)
    labels = list(index) or [*range(count)]
    head = [["", *(label(c.name) for c in shown_columns)]]
    head += [
        [cell(labels[row]), *(_at(column, row) for column in shown_columns)] for row in range(count)
    ]
    wide = f", {COLUMNS} of {width:,} columns" if width > COLUMNS else ""
    lines.append(f"first {count} of {height:,} rows{wide}:")
    return "\n".join([*lines, rows_text(head)])


def _at(column: Column, row: int) -> str:
    return named_cell(column.name, column.head[row]) if row < len(column.head) else "…"


def _missing(count: int | None) -> str:
    return "not counted" if count is None else f"{count:,}"
