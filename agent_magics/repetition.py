"""Seeing that a model goes in circles. Pure; decides nothing, only counts.

A repeated call is no fault when its result changes (polling a job), so pairs of call and result
are compared, for cycles of one, two or three pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str, str]
"""A tool's name, the text of the arguments, the text of the result."""

LONGEST_CYCLE = 3


def repeats(history: Sequence[Pair]) -> int:
    """How often the newest cycle of up to three pairs stands at the end of the history.

    Args:
        history: All pairs of the turn, oldest first.

    Returns:
        1 when the newest pair is new; 3 when the same pair, or the same short cycle of pairs, came
        three times in a row; 0 for an empty history.
    """
    best = min(len(history), 1)
    for length in range(1, LONGEST_CYCLE + 1):
        cycle = tuple(history[-length:])
        if len(cycle) < length or (length > 1 and len(set(cycle)) == 1):
            continue
        count = 0
        end = len(history)
        while end >= length and tuple(history[end - length : end]) == cycle:
            count += 1
            end -= length
        best = max(best, count)
    return best
