"""Named endpoints and prices in the user's configuration: what is taken, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.extension.config import read_configuration
from agent_magics.extension.config_prices import price_of
from agent_magics.extension.named_endpoints import Command, Keyring, Variable
from agent_magics.policy import Rule
from agent_magics.pricing import Price

WHOLE = """
endpoint: work
endpoints:
  work:
    base_url: https://models.example/v1
    model: big
    api_key_command: pass show 'my key'
    headers: {X-Team: blue, api-key: {env: TEAM_KEY}}
    ca_file: ~/ours.pem
    proxy: http://proxy.example:3128
    timeout: {connect: 2, first: 600, idle: 30.5}
    profile: {like: vllm, stream: false, call_ids: nine, without: [seed], name_length: 20}
  router:
    profile: openrouter
    api_key_env: OPENROUTER_API_KEY
  groq:
    api_key_keyring: models/groq
    proxy: none
"""
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def read(tmp_path: Path, mine: str = "", theirs: str = ""):
    user = tmp_path / "config.yaml"
    user.write_text(mine, encoding="utf-8")
    project = tmp_path / "work" / ".agent_magics" / "config.yaml"
    project.parent.mkdir(parents=True, exist_ok=True)
    project.write_text(theirs, encoding="utf-8")
    return read_configuration(user, tmp_path / "work")


def endpoint(tmp_path: Path, lines: str):
    """An endpoint with these lines, or the problems."""
    text = "endpoints:\n  it:\n" + "\n".join(f"    {line}" for line in lines.split("\n"))
    config = read(tmp_path, text)
    return config.problems or config.endpoints[0]


def test_endpoints_are_read_whole(tmp_path):
    config = read(tmp_path, WHOLE)
    assert config.problems == ()
    work, router, groq = config.endpoints
    assert (config.endpoint, work.name, work.base_url) == (
        "work",
        "work",
        "https://models.example/v1",
    )
    assert work.key == Command(("pass", "show", "my key"))
    assert work.headers == {"X-Team": "blue", "api-key": Variable("TEAM_KEY")}
    assert work.ca_file == Path("~/ours.pem").expanduser()
    assert (work.timeout.connect, work.timeout.first, work.timeout.idle) == (2, 600, 30.5)
    assert work.profile is not None
    assert (work.profile.stream, work.profile.call_ids, work.profile.name_length) == (
        False,
        "nine",
        20,
    )
    assert work.profile.without == frozenset(["seed"])
    assert (router.base_url, router.key) == (
        "https://openrouter.ai/api/v1",
        Variable("OPENROUTER_API_KEY"),
    )
    assert router.proxy is None
    assert (groq.base_url, groq.key) == (
        "https://api.groq.com/openai/v1",
        Keyring("models", "groq"),
    )
    assert groq.proxy == ""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (f"api_key: {KEY}", "does not belong into a file"),
        (f"api_key_env: {KEY}", "name of a variable, not the key itself"),
        ("api_key_env: two words", "name of a variable"),
        (f"api_key_command: [echo, {KEY}]", "looks like a key"),
        ("api_key_command: ''", "is empty"),
        ('api_key_command: "a \'b"', "cannot be read"),
        ("api_key_keyring: nothing", "SERVICE/USER"),
        ("api_key_env: A\napi_key_keyring: a/b", "one is enough"),
        (f"headers: {{Authorization: Bearer {KEY}}}", "is a secret"),
        ("headers: {x-api-key: plainword}", "is a secret"),
        (f"headers: {{X-Odd: {KEY}}}", "is a secret"),
        ("headers: {'X Odd': a}", "cannot be the name of a header"),
        ("headers: {X-Odd: ä}", "characters that no header can"),
        ("headers: {X-Odd: {file: a}}", "{env: VARIABLE}"),
        ("ca_file: ours.pem", "must begin with / or ~"),
        ("proxy: http://me:secretword@proxy:1", "holds a user or password"),
        ("proxy: ftp://proxy", "is no address"),
        ("timeout: {connect: 0}", "a number of seconds up to 3600"),
        ("timeout: {connect: inf}", "a number of seconds up to 3600"),
        ("timeout: {read: 3}", "timeout has connect, first, idle"),
        ("profile: vlm", "there is no 'vlm'; there are: openai"),
        ("profile: {strem: false}", "has no 'strem'"),
        ("profile: {call_ids: ten}", "is one of any, plain, nine"),
        ("profile: {stream: perhaps}", "must be true or false"),
        ("profile: {name_length: 3}", "whole number from 8 on"),
        ("modle: x", "has no 'modle'; it has: base_url"),
    ],
)
def test_what_is_off_is_said_with_its_line_and_no_secret_is_repeated(tmp_path, lines, words):
    problems = endpoint(tmp_path, f"base_url: http://127.0.0.1:1/v1\n{lines}")
    assert isinstance(problems, tuple), problems
    assert words in problems[0]
    assert "config.yaml, line " in problems[0]
    assert KEY not in str(problems)
    assert "secretword" not in str(problems)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("model: x", "needs base_url; only these have one of their own: openai"),
        ("base_url: models.example/v1", "is no address"),
        ("base_url: 'http://a b/v1'", "holds a blank"),
        ("base_url: http://host:99999/v1", "cannot be read"),
        ("base_url: https://me:secretword@host/v1", "holds a user or password"),
    ],
)
def test_a_base_url_that_is_none_is_refused(tmp_path, line, words):
    problems = endpoint(tmp_path, line)
    assert words in problems[0]
    assert "secretword" not in problems[0]


@pytest.mark.parametrize("line", [f"api_key: {KEY}", f"api_key_env: {KEY}"])
def test_a_key_beside_the_endpoints_is_refused_with_the_remedy_too(tmp_path, line):
    (problem,) = read(tmp_path, line).problems
    assert "api_key_command" in problem
    assert KEY not in problem


def test_a_name_with_a_slash_would_not_be_found_again_and_is_refused(tmp_path):
    config = read(tmp_path, "endpoints:\n  a/b: {base_url: 'http://h/v1'}\n")
    assert "an endpoint's name has letters" in config.problems[0]


def test_the_endpoint_that_answers_must_be_one_of_them(tmp_path):
    config = read(tmp_path, "endpoint: wrok\nendpoints: {work: {base_url: 'http://h/v1'}}\n")
    assert "there is no 'wrok' among the endpoints (work)" in config.problems[0]


def test_a_problem_in_one_endpoint_leaves_none_in_force_and_every_call_asks(tmp_path):
    config = read(tmp_path, WHOLE + "  odd: {base_url: x}\n")
    assert config.problems
    assert config.endpoints == ()
    assert Rule("*", "ask", source="project") in config.rules


@pytest.mark.parametrize(
    "lines",
    [
        "endpoints: {x: {base_url: 'http://evil.example/v1', api_key_command: [touch, pwned]}}",
        "endpoint: x",
        "base_url: http://evil.example/v1",
        "prices: {m: {input: 0, output: 0}}",
        "model: x\nendpoints: {x: {base_url: 'http://evil.example/v1'}}",
    ],
)
def test_a_projects_file_brings_no_endpoint_and_that_is_said(tmp_path, lines):
    config = read(tmp_path, WHOLE, lines)
    assert [e.name for e in config.endpoints] == ["work", "router", "groq"]
    assert (config.endpoint, config.base_url, config.prices) == ("work", "", ())
    assert "only your own config.yaml may have it" in config.problems[0]


def test_prices_are_read_and_the_nearest_name_wins(tmp_path):
    text = (
        "prices:\n  big: {input: 1, output: 2, cached: 0.5}\n"
        "  work/big: {input: 3, output: 4}\n  work/*: {input: 0, output: 0}\n"
    )
    config = read(tmp_path, text)
    assert config.problems == ()
    own = "config.yaml"
    assert price_of("big", "", config.prices) == Price(1, 2, 0.5, (), own)
    assert price_of("big", "work", config.prices) == Price(3, 4, 3, (), own)
    assert price_of("small", "work", config.prices) == Price(0, 0, 0, (), own)
    assert price_of("small", "", config.prices) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("m: {input: 1}", "needs input and output"),
        ("m: {input: -1, output: 1}", "0 or more"),
        ("m: {input: nan, output: 1}", "0 or more"),
        ("m: {input: 1, output: 1, cache: 1}", "has input, output, cached, not 'cache'"),
        ("m: 3", "must be a mapping"),
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path, line, words):
    assert words in read(tmp_path, f"prices:\n  {line}\n").problems[0]


@pytest.mark.parametrize("value", ["on", "off", "auto", "'on'"])
def test_an_endpoint_may_say_that_its_model_is_a_small_one(tmp_path, value):
    lines = f"base_url: http://127.0.0.1:8080/v1\nsmall: {value}"
    assert endpoint(tmp_path, lines).small == value.strip("'")


@pytest.mark.parametrize("value", ["maybe", "7", "[on]", "null"])
def test_another_word_about_small_models_is_refused(tmp_path, value):
    problems = endpoint(tmp_path, f"base_url: http://127.0.0.1:8080/v1\nsmall: {value}")
    assert "endpoints.it.small must be" in problems[0]
