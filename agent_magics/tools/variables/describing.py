"""Variables as texts for a model: a list of all, and a description of one.

Owns the budgets, the fence around what a variable holds, and that a value whose name says that it
is a secret is not described. What stays inside may still hold secrets by their value: it goes
through the redaction of whoever passes it on.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from agent_magics.fencing import fenced
from agent_magics.namespace.looking import library_name, look, shown_name
from agent_magics.namespace.prints import known_bytes, simple
from agent_magics.tools.plain import cut, size
from agent_magics.tools.variables.arrays import array_text
from agent_magics.tools.variables.cells import HIDDEN, cell, hides, is_scalar, rows_text
from agent_magics.tools.variables.objects import object_text
from agent_magics.tools.variables.tables import frame_text, series_text

LISTED = 200
"""Variables of a list."""
ONE, ALL = 8_000, 20_000
"""Characters of one description, and of all that are asked for at once."""
ROWS = 5
"""First rows of a table, unless said."""


def listed(names: Mapping[str, object]) -> str:
    """The variables with type, length or shape, size and small values, in order of making."""
    if not names:
        return "There are no variables."
    rows = []
    for name, value in list(names.items())[:LISTED]:
        of = known_bytes(value, library_name(value))
        rows.append((shown_name(name), str(look(value)), size(of) if of else _small(name, value)))
    more = f"\n… {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return fenced("variables", rows_text(rows) + more, {})


def described(name: str, value: object, rows: int = ROWS, budget: int = ONE) -> str:
    """One variable in a fence.

    Args:
        name: The variable's.
        value: What it stands for.
        rows: How many of a table's first ones to show.
        budget: In characters.
    """
    text = HIDDEN if hides(name) else _text(value, rows)
    facts = {"name": shown_name(name), "type": str(look(value))}
    return fenced("variable", str(cut(text, budget) or text), facts)


def unknown(name: str, names: Mapping[str, object]) -> str:
    """What to say of a name that is none of the variables."""
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(shown_name(one) for one in near)}?" if near else ""
    return f"no variable of that name.{hint}"


def _text(value: object, rows: int) -> str:
    known = library_name(value)
    try:
        match known:
            case "":
                return object_text(value)
            case "polars.LazyFrame":
                return "A lazy query: nothing of it is computed, so nothing is known yet."
            case (
                "pandas.DataFrame"
                | "geopandas.GeoDataFrame"
                | "polars.DataFrame"
                | "pyarrow.Table"
                | "pyarrow.RecordBatch"
            ):
                return frame_text(value, known, rows)
            case "numpy.ndarray" | "numpy.memmap" | "torch.Tensor":
                return array_text(value, known)
            case "xarray.DataArray" | "xarray.Dataset":
                return array_text(value, known)
            case _:
                return series_text(value, known, rows)
    except Exception as error:  # noqa: BLE001  # a library may raise anything for a broken object
        return f"It cannot be described: {type(error).__name__}."


def _small(name: str, value: object) -> str:
    if hides(name):
        return HIDDEN
    return cell(value) if simple(value) or is_scalar(value) else ""
