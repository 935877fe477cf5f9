"""A replay's comparison as a JSON value and back, with every text within a bound. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from agent_magics.differences import Comparison, Difference, Kind
from agent_magics.messages import JSON
from agent_magics.records.encoding import Redact, text_of

DIFFERENCES, TEXT = 100, 20_000
"""How many differences are kept of a turn, and characters of each of their two texts."""
_KINDS: frozenset[str] = frozenset(get_args(Kind))


def encoded_comparison(comparison: Comparison, redact: Redact = str) -> dict[str, JSON]:
    """A comparison as a value for `json.dumps`.

    Args:
        comparison: Any.
        redact: Takes secrets out of a text.
    """
    found = [
        {
            "difference": item.kind,
            "where": redact(item.where),
            "recorded": redact(item.recorded)[:TEXT],
            "now": redact(item.now)[:TEXT],
        }
        for item in comparison.differences[:DIFFERENCES]
    ]
    return {
        "file": redact(comparison.file),
        "compared": comparison.compared,
        **({"strict": True} if comparison.strict else {}),
        "differences": found,
    }


def decoded_comparison(fields: Mapping[str, JSON]) -> Comparison:
    """The comparison that a value holds; differences of an unknown kind are left out.

    Raises:
        ValueError: It holds none.
    """
    listed, compared = fields.get("differences", []), fields.get("compared", 0)
    if not isinstance(listed, list) or not isinstance(compared, int):
        raise ValueError("no comparison")
    items = [item for item in listed if isinstance(item, dict)]
    found = tuple(
        Difference(item["difference"], *(text_of(item, n) for n in ("where", "recorded", "now")))
        for item in items
        if item.get("difference") in _KINDS
    )
    return Comparison(text_of(fields, "file"), compared, found, bool(fields.get("strict", False)))
