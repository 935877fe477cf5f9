"""Prices of hosted models, from the package `genai-prices` (extra `cost`), imported here alone.

The package carries its prices with it; it could load newer ones from the network, which nothing
here asks for. No price is no error: local servers and new models have none.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from agent_magics.pricing import Price, Tier


def library_price(model: str, url: str) -> Price | None:
    """What a model costs at an endpoint, in US dollars; None if that is not known.

    Args:
        model: As the server knows it.
        url: The endpoint's base URL, which decides whose price it is.
    """
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    try:
        _, known = get_snapshot().find_provider_model(model, None, None, url)
        prices = known.get_prices(datetime.now(UTC))
        return _price(prices)
    except Exception:  # noqa: BLE001  # a library of data: whatever is off in it, there is no price
        return None


def _price(prices: Any) -> Price | None:
    """The library's record as ours; None where it prices no text."""
    full, out = getattr(prices, "input_mtok", None), getattr(prices, "output_mtok", None)
    if full is None or out is None:
        return None
    cached = getattr(prices, "cache_read_mtok", None)
    cached = getattr(prices, "input_cache_read_mtok", full) if cached is None else cached
    cached = full if cached is None else cached
    starts = sorted({tier.start for rate in (full, out, cached) for tier in _tiers(rate)})
    return Price(
        _at(full, 0),
        _at(out, 0),
        _at(cached, 0),
        tuple(Tier(s, _at(full, s), _at(out, s), _at(cached, s)) for s in starts),
        "genai-prices, in US dollars",
    )


def _tiers(rate: Any) -> list[Any]:
    return list(getattr(rate, "tiers", ()))


def _at(rate: Any, start: int) -> float:
    """A rate for requests above a number of tokens."""
    if isinstance(rate, Decimal | int | float):
        return float(rate)
    value = rate.base
    for tier in rate.tiers:
        if start and start >= tier.start:
            value = tier.price
    return float(value)
