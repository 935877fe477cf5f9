"""Arrays of numpy, torch and xarray in words. Imports none of them; see `tables`."""

from __future__ import annotations

import sys
import warnings
from itertools import islice
from typing import Any

from agent_magics.namespace.looking import look, shape_text, shown
from agent_magics.namespace.prints import known_bytes
from agent_magics.tools.plain import size
from agent_magics.tools.variables.cells import cell, label, rows_text

VALUES = 12
"""Values that are shown of an array."""
COUNTED = 5_000_000
"""Values of an array that are looked at for its smallest, largest and missing ones."""
VARIABLES = 40
"""Variables and coordinates that are listed of a data set."""
TYPE = 400
"""Characters of an array's type; one of records names its fields."""


def array_text(value: Any, known: str) -> str:
    """An array or a data set.

    Args:
        value: The array.
        known: Its class.
    """
    match known.partition(".")[0]:
        case "torch":
            return _tensor(value)
        case "xarray":
            return _labelled(value, known)
        case _:
            return _numpy(value, known)


def _numpy(value: Any, known: str) -> str:
    lines = [f"type of its items: {shown(str(value.dtype), TYPE)}", f"memory: {size(value.nbytes)}"]
    if known == "numpy.memmap":
        return "\n".join([*lines, "(a file on disk; its values are not read)"])
    if 0 < value.size <= COUNTED and value.dtype.kind in "fiub":
        lines += _statistics(value)
    first = [cell(item) for item in value.flat[:VALUES].tolist()]
    more = ", …" if value.size > VALUES else ""
    return "\n".join([*lines, f"first values: {', '.join(first)}{more}" if first else "(empty)"])


def _statistics(value: Any) -> list[str]:
    numpy = vars(sys.modules["numpy"])
    with warnings.catch_warnings():
        # An array of nothing but NaN has no smallest value, and numpy warns.
        warnings.simplefilter("ignore")
        if value.dtype.kind != "f":
            return [f"from {cell(value.min())} to {cell(value.max())}"]
        missing = int(numpy["isnan"](value).sum())
        low, high = numpy["nanmin"](value), numpy["nanmax"](value)
    return [f"from {cell(low)} to {cell(high)}", f"missing (NaN): {missing:,}"]


def _tensor(value: Any) -> str:
    lines = [
        f"device: {shown(str(value.device), TYPE)}",
        f"requires gradients: {bool(value.requires_grad)}",
        f"memory: {size(known_bytes(value, 'torch.Tensor'))}",
    ]
    # Values elsewhere would have to be fetched, which waits for all that is computed there.
    if str(value.device) == "cpu" and value.nelement():
        flat = value.detach().flatten() if value.nelement() <= COUNTED else value.detach()[:0]
        first = [cell(item) for item in flat[:VALUES].tolist()]
        if first:
            lines.append(f"first values: {', '.join(first)}")
    return "\n".join(lines)


def _labelled(value: Any, known: str) -> str:
    sizes = ", ".join(f"{label(name)}: {count:,}" for name, count in value.sizes.items())
    lines = [f"dimensions: {sizes or 'none'}", f"memory: {size(known_bytes(value, known))}"]
    parts = value.variables if known == "xarray.Dataset" else value.coords
    rows = []
    for name, part in islice(parts.items(), VARIABLES):
        dims = ", ".join(label(dim) for dim in part.dims)
        role = "coordinate" if name in value.coords else "variable"
        shape = f"({dims}) {shape_text(tuple(part.shape))}"
        rows.append((label(name), role, shape, shown(str(part.dtype), TYPE)))
    if rows:
        lines.append(rows_text(rows))
    if known == "xarray.DataArray":
        lines.insert(0, f"name: {cell(value.name)}; {look(value)}")
    return "\n".join(lines)
