"""`%agent model`, `models`, `test` and the panel with named endpoints, in a real shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.errors import ModelError, UsageProblem
from agent_magics.extension import loaded
from agent_magics.magics.completion import Words, candidates
from tests.fetchkit import Site, reply
from tests.shellkit import magic
from tests.strict_servers import StrictServers

pytest_plugins = ("tests.shellkit_fixtures",)

KEY = "sk-test-0123456789abcdef"
LIST = reply('{"data": [{"id": "big"}, {"id": "small"}]}', "application/json")


@pytest.fixture
def servers():
    with StrictServers() as running:
        yield running


@pytest.fixture
def configured(home, servers, monkeypatch):
    """Two endpoints, and the key of one."""
    monkeypatch.setenv("ONE_KEY", KEY)
    lines = (
        "endpoint: one",
        "endpoints:",
        f"  one: {{base_url: '{servers.url('openai')}', model: big, api_key_env: ONE_KEY,",
        "        profile: openai}",
        f"  two: {{base_url: '{servers.url('deepseek')}', model: deep, profile: deepseek}}",
        "prices: {one/big: {input: 1000, output: 1000}}",
    )
    (home / "config.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return servers


def test_a_conversation_goes_on_with_another_endpoint(shell, configured, capsys):
    magic(shell, "agent", "", "PROMPT one\n")
    assert "This is openai." in loaded(shell).session.last.text
    magic(shell, "agent", "model two")
    said = capsys.readouterr().out
    assert "Model: deep at " in said
    assert "The conversation goes on with it" in said
    magic(shell, "agent", "", "PROMPT two\n")
    assert loaded(shell).session.last.text == "This is deepseek."
    assert len([m for m in loaded(shell).session.conversation if hasattr(m, "stop")]) >= 2
    magic(shell, "agent", "model one/other")
    magic(shell, "agent", "", "PROMPT three\n")
    assert loaded(shell).session.last.model == "other"
    assert configured.refused == []


def test_model_alone_lists_the_endpoints_and_what_is_in_force(shell, configured):
    view = magic(shell, "agent", "model")
    assert "Model: big at http://127.0.0.1" in view.text
    assert "endpoint one from your config.yaml; key from ONE_KEY" in view.text
    assert "one (in use)" in view.text
    assert "two" in view.text
    assert KEY not in view.text + view.html


def test_the_panel_says_where_the_key_comes_from_and_what_it_costs(shell, configured):
    magic(shell, "agent", "", "PROMPT one\n")
    text = magic(shell, "agent").text
    assert "key from ONE_KEY" in text
    assert "1000 in, 1000 cached, 1000 out for a million tokens (config.yaml)" in text
    assert "endpoints" in text
    assert ", cost 0.0" in text
    assert KEY not in text
    assert loaded(shell).session.last.cost == pytest.approx(0.024)


def test_the_test_says_which_key_was_used(shell, configured, capsys):
    magic(shell, "agent", "test")
    said = capsys.readouterr().out
    assert "answers and calls tools" in said
    assert "key from ONE_KEY" in said
    assert KEY not in said


def test_a_bound_on_money_without_a_price_is_said_and_the_turn_goes_on(shell, configured, capsys):
    shell.run_line_magic("config", "AgentMagics.max_cost = 0.5")
    magic(shell, "agent", "model two")
    magic(shell, "agent", "", "PROMPT\n")
    assert "no price is known for deep" in capsys.readouterr().out
    assert loaded(shell).session.last.reason == "answered"


def test_a_missing_key_ends_the_cell_with_one_clear_line(shell, configured, monkeypatch):
    monkeypatch.delenv("ONE_KEY")
    with pytest.raises(UsageProblem, match="ONE_KEY is to hold the key of the endpoint one"):
        magic(shell, "agent", "", "PROMPT\n")
    assert "ONE_KEY" in magic(shell, "agent").text
    with pytest.raises(UsageProblem, match="ONE_KEY"):
        magic(shell, "agent", "test")


def test_models_lists_what_a_server_has_with_the_line_that_chooses_it(shell, home):
    with Site({"/v1/models": LIST}) as site:
        url = f"http://127.0.0.1:{site.port}/v1"
        (home / "config.yaml").write_text(
            f"endpoints: {{it: {{base_url: '{url}', model: big}}}}\n", encoding="utf-8"
        )
        for words in ("models", "models it"):
            text = magic(shell, "agent", words).text
            assert "%agent model it/big" in text
            assert "%agent model it/small" in text
        words = Words(tuple, tuple, tuple, models=loaded(shell).services.endpoints.words)
        assert candidates("%agent model ", words) == ["it"]
        assert candidates("%agent model it/s", words) == ["it/small"]
        assert candidates("%%agent --model it/b", words) == ["it/big"]
    with pytest.raises(ModelError, match="Nothing listens"):
        magic(shell, "agent", "models it")
    with pytest.raises(UsageProblem, match="no endpoint 'ti'"):
        magic(shell, "agent", "models ti")


def test_a_hosted_endpoint_without_a_key_is_told_where_one_belongs(shell, home, servers, capsys):
    (home / "config.yaml").write_text(
        f"endpoints: {{az: {{base_url: '{servers.url('azure')}', model: m, profile: azure}}}}\n",
        encoding="utf-8",
    )
    magic(shell, "agent", "test")
    said = capsys.readouterr().out
    assert "refused the API key" in said
    assert "Give the endpoint az a key in your config.yaml (api_key_env)" in said
    assert "Azure OpenAI" in magic(shell, "agent", "model").text


def test_what_a_projects_env_file_decides_is_not_believed_at_load(home, monkeypatch, capsys):
    mine = home / "config.yaml"
    Path(".env").write_text(f"AGENT_MAGICS_CONFIG={mine}\n", encoding="utf-8")
    mine.write_text("modle: x\n", encoding="utf-8")
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    said = capsys.readouterr().out
    assert "AGENT_MAGICS_CONFIG comes from this project's .env, and is not used" in said
    assert "modle" not in said
    agent_magics.unload_ipython_extension(shell)


def test_a_tool_sees_no_key_of_any_endpoint(shell, configured):
    redact = loaded(shell).services.workspace.redact
    assert KEY not in redact(f"the key is {KEY}.")
