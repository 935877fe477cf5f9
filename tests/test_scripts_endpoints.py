"""`run` and `map` with named endpoints: each item finds the endpoint, its key and its price."""

from __future__ import annotations

from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import UsageProblem
from tests.strict_servers import StrictServers

pytest_plugins = ("tests.shellkit_fixtures",)


@pytest.fixture
def servers(home, tmp_path):
    with StrictServers() as running:
        count = tmp_path / "count"
        script = f"echo x >> {count}; echo sk-of-the-endpoint-0123456789"
        (home / "config.yaml").write_text(
            f"""
endpoints:
  one: {{base_url: "{running.url("openai")}", model: big, profile: openai,
        api_key_command: [sh, -c, "{script}"]}}
  two: {{base_url: "{running.url("deepseek")}", model: deep, profile: deepseek}}
prices: {{one/*: {{input: 1000, output: 1000}}}}
""",
            encoding="utf-8",
        )
        yield running


def test_a_program_names_an_endpoint_and_learns_what_it_cost(servers):
    result = agent_magics.run("PROMPT", model="one")
    assert (result.text, result.model) == ("This is openai.", "big")
    assert result.cost == pytest.approx(0.024)
    assert agent_magics.run("PROMPT", model="two/x").cost is None


def test_the_items_of_a_map_ask_the_endpoint_and_the_command_is_not_run_for_each(servers, tmp_path):
    found = agent_magics.map("PROMPT", range(6), model="one", workers=1, progress=False)
    assert [item.text for item in found] == ["This is openai."] * 6
    assert Path(tmp_path / "count").read_text(encoding="utf-8").count("x") == 1
    assert servers.refused == []


def test_a_total_cost_needs_a_price_and_finds_the_endpoints(servers):
    found = agent_magics.map(
        "PROMPT", range(5), model="one", workers=1, progress=False, total_cost=0.03
    )
    assert 0 < len([item for item in found if item.text]) < 5
    with pytest.raises(UsageProblem, match="none is known for this model"):
        agent_magics.map("PROMPT", range(2), model="two", progress=False, total_cost=1)


def test_a_key_of_an_endpoint_is_not_lent(servers):
    with pytest.raises(UsageProblem, match="The endpoint one has a key of its own"):
        agent_magics.map("PROMPT", range(2), model="one", progress=False, lend_key=True)
