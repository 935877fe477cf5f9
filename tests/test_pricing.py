"""What tokens cost: the person's prices, the library's, and none."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.calls import Limits
from agent_magics.magics.costs import priced, unbounded
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Assistant, Usage
from agent_magics.pricing import Price, Tier
from agent_magics.providers.prices import library_price
from agent_magics.records.entries import TurnClosed
from agent_magics.records.lines import entry_of, line_of
from tests.turns import Scene, Spy, call

PRICE = Price(2.0, 10.0, 0.2)
OPENAI = "https://api.openai.com/v1"


def chosen(price: Price | None) -> ModelChoice:
    def never() -> object:
        raise AssertionError

    return ModelChoice("m", "here", "a test", never, price=lambda: price)  # type: ignore[arg-type]


def test_cached_tokens_are_part_of_the_input_and_have_a_price_of_their_own() -> None:
    usage = Usage(input=1_000_000, output=100_000, cached=750_000)
    assert PRICE.of(usage) == pytest.approx(0.25 * 2 + 0.75 * 0.2 + 0.1 * 10)


def test_long_requests_pay_their_tier_and_many_short_ones_do_not() -> None:
    price = Price(1, 1, 1, (Tier(200_000, 2, 2, 2), Tier(500_000, 4, 4, 4)))
    assert price.of(Usage(200_000, requests=1)) == pytest.approx(0.2)
    assert price.of(Usage(200_001, requests=1)) == pytest.approx(0.400002)
    assert price.of(Usage(600_000, requests=1)) == pytest.approx(2.4)
    assert price.of(Usage(600_000, requests=6)) == pytest.approx(0.6)


COUNT = st.integers(0, 10**9)


@given(st.builds(Usage, COUNT, COUNT, COUNT, COUNT, st.integers(0, 100)))
def test_no_usage_costs_less_than_nothing(usage: Usage) -> None:
    assert PRICE.of(usage) >= 0


def test_the_persons_prices_win_over_the_models() -> None:
    mine = Limits(prices=(1.0, 1.0, 1.0))
    assert priced(mine, chosen(PRICE)) == mine
    assert mine.known_cost(Usage(1_000_000)) == 1.0
    theirs = priced(Limits(), chosen(PRICE))
    assert theirs.known_cost(Usage(1_000_000)) == 2.0


def test_a_missing_price_is_no_error_and_a_bound_on_money_says_that_it_does_not_hold() -> None:
    limits = priced(Limits(cost=1.0), chosen(None))
    assert limits.known_cost(Usage(1_000_000)) is None
    assert "no price is known for m" in unbounded(limits, chosen(None))
    assert unbounded(Limits(), chosen(None)) == ""
    assert unbounded(priced(Limits(cost=1.0), chosen(PRICE)), chosen(PRICE)) == ""


def test_a_budget_in_money_holds_with_the_models_own_price() -> None:
    usage = Usage(input=600_000, requests=1)
    replies = [Assistant("", (call("look", f"c{n}", n=n),), "calls", usage) for n in range(2)] + [
        Assistant("So far.", usage=usage)
    ]
    scene = Scene(replies, [Spy().tool], limits=Limits(cost=2.0, price=PRICE))
    result = scene.ask()
    assert result.reason == "limit"
    assert result.cost == pytest.approx(3.6)
    assert scene.session.cost == pytest.approx(3.6)


def test_the_cost_of_a_turn_outlives_the_kernel() -> None:
    for cost in (None, 0.0, 0.0123):
        entry = TurnClosed("answered", Usage(1, 2), Usage(1, 2), 1.0, 1, "", cost)
        assert entry_of(line_of(entry)) == entry


# ---- the library


def test_the_library_prices_hosted_models_by_their_address() -> None:
    pytest.importorskip("genai_prices")
    price = library_price("gpt-5-mini", OPENAI)
    assert price is not None
    assert 0 < price.cached < price.input < price.output
    routed = library_price("anthropic/claude-sonnet-4.5", "https://openrouter.ai/api/v1")
    assert routed is not None
    tiered = library_price(
        "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai"
    )
    assert tiered is not None
    assert tiered.tiers[0].input > tiered.input


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("no-such-model", OPENAI),
        ("gpt-5-mini", "http://127.0.0.1:8000/v1"),
        ("gpt-5-mini", "https://gateway.example/v1"),
        ("", OPENAI),
        ("x" * 10_000, OPENAI),
        ("gpt-5-mini", "(no address"),
    ],
)
def test_what_the_library_does_not_know_has_no_price(model: str, url: str) -> None:
    assert library_price(model, url) is None


def test_without_the_library_there_is_no_price_and_no_error() -> None:
    code = (
        "import sys; sys.modules['genai_prices'] = None\n"
        "from agent_magics.providers.prices import library_price\n"
        f"print(library_price('gpt-5-mini', {OPENAI!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_looking_up_a_price_opens_no_connection() -> None:
    pytest.importorskip("genai_prices")
    code = (
        "import socket\n"
        "def no(*a, **k): raise SystemExit('a connection')\n"
        "socket.socket.connect = no; socket.create_connection = no; socket.getaddrinfo = no\n"
        "from agent_magics.providers.prices import library_price\n"
        f"print(library_price('gpt-5-mini', {OPENAI!r}) is not None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
