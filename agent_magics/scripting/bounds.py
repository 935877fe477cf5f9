"""Bounds of many items together: how many at once, and what all of them may use. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.calls import Limits
from agent_magics.errors import UsageProblem
from agent_magics.messages import Usage


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of all items together.

    Args:
        workers: How many are worked on at once.
        tokens: After so many no more are begun; 0: no bound.
        cost: Likewise.
        limits: Of one item, for the prices.
    """

    workers: int
    tokens: int
    cost: float
    limits: Limits

    @staticmethod
    def checked(workers: object, tokens: object, cost: object, limits: Limits) -> Bounds:
        """The same, if they can be bounds.

        Raises:
            UsageProblem: One is no number, or too small; or a cost is bounded without prices.
        """
        numbers = {"workers": workers, "total_budget": tokens, "total_cost": cost}
        for name, value in numbers.items():
            least = 1 if name == "workers" else 0
            right = int | float if name == "total_cost" else int
            if isinstance(value, bool) or not isinstance(value, right) or not value >= least:
                raise UsageProblem(f"{name} is a number from {least} up, not {value!r}.")
        if cost and limits.price_in_force is None:
            raise UsageProblem(
                "total_cost needs prices={'input': …, 'output': …}: what a million tokens cost; "
                "none is known for this model."
            )
        return Bounds(workers, tokens, cost, limits)  # type: ignore[arg-type]  # checked just above

    def reached(self, usage: Usage) -> str:
        """Why no more items are begun; empty: they are."""
        if self.tokens and usage.input + usage.output >= self.tokens:
            return f"the total budget of {self.tokens} tokens is used up"
        if self.cost and self.limits.cost_of(usage) >= self.cost:
            return f"the total budget of {self.cost:g} is used up"
        return ""
