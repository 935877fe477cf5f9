"""Prices in the user's configuration: what a million tokens of a model cost.

    prices:
      my-model: {input: 0.25, output: 2, cached: 0.025}
      local/*: {input: 0, output: 0}     # all models of the endpoint `local`

They win over those of the price library. `cached` is as `input` where it is not given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agent_magics.extension.config_reader import Reader
from agent_magics.pricing import Price

if TYPE_CHECKING:
    import yaml

_FIELDS = ("input", "output", "cached")


def read_prices(reader: Reader, node: yaml.Node) -> tuple[tuple[str, Price], ...]:
    """The prices by model, in the order of the file."""
    found: list[tuple[str, Price]] = []
    for model, value in reader.mapping(node, "prices").items():
        where = f"prices.{model}"
        given: dict[str, float] = {}
        for name, amount in reader.mapping(value, where).items():
            if name not in _FIELDS:
                reader.wrong(amount, f"{where} has {', '.join(_FIELDS)}, not {name!r}")
            elif (number := _number(reader.text(amount, f"{where}.{name}"))) is None:
                reader.wrong(amount, f"{where}.{name} is the price of a million tokens, 0 or more")
            else:
                given[name] = number
        if {"input", "output"} <= set(given):
            cached = given.get("cached", given["input"])
            found.append((model, Price(given["input"], given["output"], cached, (), "config.yaml")))
        else:
            reader.wrong(value, f"{where} needs input and output")
    return tuple(found)


def price_of(model: str, endpoint: str, prices: Sequence[tuple[str, Price]]) -> Price | None:
    """The price that the file gives a model: by its whole name first, else by the first pattern.

    Args:
        model: As the server knows it.
        endpoint: What the person calls the endpoint; empty: it has no name.
        prices: Those of the file.
    """
    names = (f"{endpoint}/{model}", model) if endpoint else (model,)
    exact = dict(prices)
    for name in names:
        if name in exact:
            return exact[name]
    return next(
        (price for pattern, price in prices if any(fnmatchcase(n, pattern) for n in names)), None
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
