"""What tokens cost. Pure; where prices come from is for `extension` and `providers`."""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.messages import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tier:
    """Other prices for requests with more input than this.

    Args:
        above: Tokens of input.
        input: As for `Price`.
        output: As for `Price`.
        cached: As for `Price`.
    """

    above: int
    input: float
    output: float
    cached: float


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model cost.

    Args:
        input: Of the prompt.
        output: Of the answer, reasoning included.
        cached: Of the part of the prompt that the provider had in its cache.
        tiers: For long requests, the shortest first; whoever is above pays it for all tokens.
        source: Where the price comes from, for a person.
    """

    input: float
    output: float
    cached: float
    tiers: tuple[Tier, ...] = ()
    source: str = ""

    def of(self, usage: Usage) -> float:
        """What these tokens cost; cached ones are part of the input.

        The tier is that of the average request, since usage is the sum of several.
        """
        average = usage.input / max(1, usage.requests)
        rates: Price | Tier = self
        for tier in self.tiers:
            if average > tier.above:
                rates = tier
        fresh = max(0, usage.input - usage.cached)
        spent = fresh * rates.input + usage.cached * rates.cached + usage.output * rates.output
        return spent / MILLION


def total_cost(before: float | None, more: float | None) -> float | None:
    """The sum of what is known; None: nothing is."""
    return before if more is None else (before or 0.0) + more
