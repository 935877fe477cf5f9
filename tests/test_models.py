"""Which model answers, and why: setting, environment, a server on this machine, demonstration."""

from __future__ import annotations

import pytest

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.environment import read_environment
from agent_magics.extension.models import DEFAULT_MODEL, ModelChooser
from agent_magics.magics.services import ModelSettings
from agent_magics.providers.local import Found
from tests.fake import FakeServer


def choose(variables=None, config=None, found=(), **settings):
    variables = variables or {}
    looks = []

    def find():
        looks.append(1)
        return tuple(found)

    chooser = ModelChooser(
        read_environment(variables), variables, lambda: config or Configuration(), find
    )
    choice = chooser(ModelSettings(**settings))
    return choice, looks


def test_nothing_configured_is_the_demonstration():
    choice, looks = choose()
    assert (choice.name, choice.scripted) == ("demonstration", True)
    assert "nothing is configured" in choice.why
    assert looks == [1]


def test_a_key_alone_means_the_default_model_at_openai():
    choice, looks = choose({"OPENAI_API_KEY": "sk-x"})
    assert (choice.name, choice.where) == (DEFAULT_MODEL, "OpenAI's endpoint")
    assert "key from OPENAI_API_KEY" in choice.why
    assert looks == []


def test_our_own_variables_name_model_and_endpoint():
    choice, _ = choose(
        {"AGENT_MAGICS_MODEL": "m", "AGENT_MAGICS_BASE_URL": "http://127.0.0.1:1/v1"}
    )
    assert (choice.name, choice.where) == ("m", "http://127.0.0.1:1/v1")
    assert "model from AGENT_MAGICS_MODEL" in choice.why
    assert "no key set" in choice.why


def test_a_setting_wins_over_the_configuration_and_that_over_the_environment():
    variables = {"AGENT_MAGICS_MODEL": "env", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    config = Configuration(model="file", base_url="http://127.0.0.1:2/v1")
    assert choose(variables, config)[0].name == "file"
    assert choose(variables, config)[0].where == "http://127.0.0.1:2/v1"
    chosen, _ = choose(variables, config, model="set", model_from="%agent model")
    assert chosen.name == "set"
    assert "%agent model" in chosen.why


def test_a_key_can_come_from_a_variable_that_the_configuration_names():
    choice, _ = choose({"MINE": "k"}, Configuration(api_key_env="MINE"), model="m")
    assert "key from MINE" in choice.why


def test_a_key_is_in_no_text_of_a_choice():
    choice, _ = choose({"OPENAI_API_KEY": "sk-very-secret"})
    assert "sk-very-secret" not in f"{choice!r} {choice.why} {choice.make()!r}"


def test_a_server_on_this_machine_is_used_without_any_key():
    found = [Found("Ollama", "http://127.0.0.1:11434/v1", ("embed-small", "qwen"))]
    choice, _ = choose(found=found)
    assert (choice.name, choice.where) == ("qwen", "http://127.0.0.1:11434/v1")
    assert "Ollama found on this machine" in choice.why


def test_a_named_model_picks_the_server_that_has_it():
    found = [
        Found("Ollama", "http://127.0.0.1:1/v1", ("a",)),
        Found("vLLM", "http://127.0.0.1:2/v1", ("b",)),
    ]
    assert choose(found=found, model="b")[0].where == "http://127.0.0.1:2/v1"


def test_servers_are_not_looked_for_when_that_is_switched_off():
    choice, looks = choose({"AGENT_MAGICS_LOCAL_SERVERS": "0"})
    assert choice.scripted
    assert looks == []


def test_a_look_for_servers_is_remembered_for_a_while():
    times = iter([0.0, 10.0, 100.0, 100.0])
    looks = []
    chooser = ModelChooser(
        read_environment({}),
        {},
        Configuration,
        lambda: looks.append(1) or (),
        lambda: next(times),
    )
    for _ in range(3):
        chooser(ModelSettings())
    assert looks == [1, 1]


def test_a_model_without_an_endpoint_is_explained():
    with pytest.raises(UsageProblem, match="OPENAI_BASE_URL"):
        choose(model="m")


def test_a_server_with_only_embeddings_is_explained():
    with pytest.raises(UsageProblem, match="offers no model"):
        choose(found=[Found("Ollama", "http://127.0.0.1:1/v1", ("nomic-embed",))])


def test_an_endpoint_that_lists_nothing_asks_for_a_name():
    port = FakeServer.unused_port()
    with pytest.raises(UsageProblem, match="%agent model NAME"):
        choose({"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"})


def test_a_time_out_and_a_profile_can_be_set():
    choice, _ = choose(
        {"OPENAI_API_KEY": "sk-x"},
        model="m",
        idle_timeout=7.0,
        profile=(("stream", False), ("without", ["user"])),
    )
    endpoint = choice.make().endpoint
    assert endpoint.timeout.idle == 7.0
    assert endpoint.known_profile.stream is False
    assert endpoint.known_profile.without == frozenset(["user"])


@pytest.mark.parametrize(
    ("pair", "message"),
    [(("strem", False), "profile has no 'strem'"), (("stream", "no"), "must be of the kind bool")],
)
def test_a_slip_in_a_profile_is_said(pair, message):
    with pytest.raises(UsageProblem, match=message):
        choose({"OPENAI_API_KEY": "sk-x"}, model="m", profile=(pair,))


def test_one_object_serves_one_model_and_endpoint():
    variables = {"OPENAI_API_KEY": "sk-x"}
    chooser = ModelChooser(read_environment(variables), variables, Configuration, tuple)
    assert chooser(ModelSettings()).make() is chooser(ModelSettings()).make()
    assert chooser(ModelSettings()).make() is not chooser(ModelSettings("other")).make()
