"""What a turn may cost: the person's prices, else those of the model that answers."""

from __future__ import annotations

from dataclasses import replace

from agent_magics.calls import Limits
from agent_magics.magics.services import ModelChoice


def priced(limits: Limits, choice: ModelChoice) -> Limits:
    """The limits with what the model's tokens cost, where the person set no prices.

    Args:
        limits: Of one turn.
        choice: Who answers.
    """
    return limits if any(limits.prices) else replace(limits, price=choice.price())


def unbounded(limits: Limits, choice: ModelChoice) -> str:
    """Why a bound on the cost cannot hold; empty where it can, or there is none."""
    if not limits.cost or limits.price_in_force is not None:
        return ""
    return (
        f"The bound on the cost does not hold: no price is known for {choice.name}. Set one with "
        "%config AgentMagics.prices, or `prices:` in your config.yaml; or install "
        "agent_magics[cost]."
    )
