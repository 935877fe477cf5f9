"""How large a model is, by its name. Pure.

Names are all that most servers tell, and nearly every open model carries its number of parameters
in it. What has no number in its name (every hosted model of the large providers) has no known size.
"""

from __future__ import annotations

import re

SMALL_BELOW = 4.0
"""Billions of parameters below which a model counts as small: measured at 0.5 and 1.5."""

_EXPERTS = re.compile(r"(?<![a-z0-9.])(\d{1,3})x(\d{1,3}(?:\.\d+)?)b(?![a-z0-9])")
_SIZE = re.compile(r"(?<![a-z0-9.])e?(\d{1,4}(?:\.\d+)?)[ _-]?([bm])(?![a-z0-9])")
_LEAST_MILLIONS = 10
"""Fewer are no size: `v1m` and the like."""


def size_of(name: str) -> float | None:
    """Billions of parameters, as a name says; None if it says nothing.

    Args:
        name: Of a model, a file or a repository: `qwen2.5-coder:1.5b`, `SmolLM2-135M-Instruct`,
            `Mixtral-8x7B`, `Qwen3-30B-A3B` (the larger number counts: all weights answer).
    """
    lower = name.lower()
    if experts := _EXPERTS.search(lower):
        return float(experts.group(1)) * float(experts.group(2))
    found = [
        float(number) / (1000 if unit == "m" else 1)
        for number, unit in _SIZE.findall(lower)
        if unit == "b" or float(number) >= _LEAST_MILLIONS
    ]
    return max(found, default=None)
