"""Named endpoints at work: which one answers, where its key comes from, and where it never goes."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.dotenv import project_variables
from agent_magics.extension.environment import read_environment
from agent_magics.extension.key_command import printed_key
from agent_magics.extension.keys import Keys
from agent_magics.extension.models import ModelChooser
from agent_magics.extension.named_endpoints import Command, Keyring, NamedEndpoint, Variable
from agent_magics.extension.named_models import NamedModels
from agent_magics.magics.services import ModelSettings
from agent_magics.pricing import Price

KEY = "sk-test-0123456789abcdef"
WORK = NamedEndpoint("work", "https://work.example/v1", "big", Variable("WORK_KEY"))
HOME = NamedEndpoint("home", "http://127.0.0.1:9/v1", "small")


def chooser(*endpoints, variables=None, root=Path("/"), **config):
    variables = variables or {}
    made = ModelChooser(
        read_environment(variables),
        variables,
        lambda: Configuration(endpoints=endpoints, **config),
        tuple,
        root=lambda: root,
    )
    made.named.list_models = lambda endpoint: (f"listed-at-{endpoint.name}",)
    return made


def choice(*endpoints, setting="", base_url="", variables=None, **config):
    settings = ModelSettings(setting, base_url, "%agent model")
    return chooser(*endpoints, variables=variables, **config)(settings)


@pytest.mark.parametrize(
    ("setting", "config", "expected"),
    [
        ("", {"endpoint": "work"}, "work/big"),
        ("", {"model": "home/x"}, "home/x"),
        ("", {"model": "home"}, "home/small"),
        ("", {"endpoint": "work", "model": "other"}, "work/other"),
        ("home", {"endpoint": "work"}, "home/small"),
        ("home/y/z", {"endpoint": "work"}, "home/y/z"),
        ("plain", {"endpoint": "work"}, "work/plain"),
        ("org/plain", {"endpoint": "work"}, "work/org/plain"),
    ],
)
def test_the_name_says_which_endpoint_and_which_model(setting, config, expected):
    chosen = choice(WORK, HOME, setting=setting, **config)
    assert f"{chosen.endpoint}/{chosen.name}" == expected


def test_the_environment_may_name_one_and_the_only_one_needs_no_name():
    named = {"AGENT_MAGICS_MODEL": "home/q", "OPENAI_API_KEY": KEY}
    assert choice(WORK, HOME, variables=named).endpoint == "home"
    assert choice(HOME, variables={"OPENAI_API_KEY": KEY}).endpoint == "home"


def test_several_and_none_chosen_is_explained():
    with pytest.raises(UsageProblem, match="work, home, and none is chosen: %agent model NAME"):
        choice(WORK, HOME)


def test_a_base_url_of_this_kernel_wins_over_the_file_but_not_over_a_name():
    url = "http://127.0.0.1:3/v1"
    chosen = choice(WORK, base_url=url, setting="m", endpoint="work")
    assert (chosen.endpoint, chosen.where) == ("", url)
    assert choice(WORK, base_url=url, setting="work/m").endpoint == "work"


def test_without_a_model_the_only_one_that_is_listed_answers():
    bare = NamedEndpoint("bare", "http://127.0.0.1:9/v1")
    assert choice(bare).name == "listed-at-bare"


def test_a_worker_that_lacks_the_endpoint_says_so_in_place_of_asking_another():
    settings = ModelSettings("m", endpoint="work")
    with pytest.raises(UsageProblem, match="'work' is not in the config"):
        chooser(HOME, variables={"OPENAI_API_KEY": KEY})(settings)


# ---- keys


def test_an_endpoint_gets_its_own_key_and_never_that_of_the_environment():
    variables = {"OPENAI_API_KEY": "sk-of-openai-0123456789", "WORK_KEY": KEY}
    made = choice(WORK, HOME, setting="work", variables=variables).make()
    assert (made.endpoint.key, made.endpoint.name) == (KEY, "work")
    made = choice(WORK, HOME, setting="home", variables=variables).make()
    assert made.endpoint.key == ""


def test_a_variable_that_is_not_set_is_named_when_the_key_is_needed():
    chosen = choice(WORK, setting="work")
    assert "key from WORK_KEY" in chosen.why
    with pytest.raises(UsageProblem, match="WORK_KEY is to hold the key of the endpoint work"):
        chosen.make()


def test_a_command_is_run_once_when_needed_and_again_when_chosen_anew():
    runs = []
    source = Command(("pass", "x"))
    endpoint = NamedEndpoint("it", "https://h.example/v1", "m", source)
    keys = Keys({}, run=lambda words: runs.append(words) or f"{KEY}{len(runs)}")
    assert keys.secrets([endpoint]) == ()
    assert runs == []
    assert keys.of(endpoint) == keys.of(endpoint) == f"{KEY}1"
    assert keys.secrets([endpoint]) == (f"IT_KEY={KEY}1",)
    keys.forget("it")
    assert keys.of(endpoint) == f"{KEY}2"
    assert runs == [("pass", "x")] * 2


def test_the_keyring_is_asked_by_service_and_user():
    endpoint = NamedEndpoint("it", "https://h.example/v1", "m", Keyring("models", "me"))
    keys = Keys({}, keyring=lambda service, user: f"{service}-{user}-{KEY}")
    assert keys.of(endpoint) == f"models-me-{KEY}"


def test_all_keys_are_known_to_the_redaction_before_their_first_use():
    endpoint = NamedEndpoint(
        "work",
        "https://h.example/v1",
        "m",
        Variable("PLAIN"),
        {"X-A": Variable("OTHER")},
        proxy=Variable("WAY"),
    )
    made = chooser(endpoint, variables={"PLAIN": KEY, "OTHER": "o" * 12, "WAY": "http://a:b@h"})
    assert {"PLAIN=" + KEY, "OTHER=" + "o" * 12, "WAY=http://a:b@h"} <= set(made.secrets())


def test_nothing_that_is_shown_of_a_choice_holds_the_key():
    chosen = choice(WORK, setting="work", variables={"WORK_KEY": KEY})
    made = chosen.make()
    assert KEY not in f"{chosen!r} {chosen.why} {made!r} {made.endpoint!r}"
    rows = chooser(WORK, variables={"WORK_KEY": KEY}).named.rows()
    assert KEY not in str(rows)
    assert rows[0].key == "WORK_KEY"
    assert chooser(WORK).named.rows()[0].key == "WORK_KEY (not set)"


def test_a_proxy_in_a_variable_must_be_an_address():
    endpoint = NamedEndpoint("it", "https://h.example/v1", "m", proxy=Variable("WAY"))
    with pytest.raises(UsageProblem, match="holds no address") as caught:
        choice(endpoint, variables={"WAY": "me:hush@proxy"}).make()
    assert "hush" not in str(caught.value)


# ---- commands that print keys


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_the_first_line_that_a_command_prints_is_the_key_and_it_runs_at_home():
    code = "import os, sys; print(' k-123 '); print('user: me'); sys.stderr.write('x')"
    assert printed_key(python(code)) == "k-123"
    assert printed_key(python("import os; print(os.getcwd())")) == str(Path.home())


HUSHED = "import sys; print('hush-0123456789'); sys.exit('locked: hush-0123456789')"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("no-such-program-here",), "'no-such-program-here' that prints the key cannot be run"),
        (python(HUSHED), r"failed with status 1: locked: \[key\]"),
        (python("pass"), "printed no key"),
        (python("print('two words')"), "is no key"),
        (python("print('schlüssel')"), "is no key"),
        (python("print('a\\x1b[31mb')"), "is no key"),
    ],
)
def test_a_command_that_gives_no_key_is_explained_without_what_it_printed(words, expected):
    with pytest.raises(UsageProblem, match=expected) as caught:
        printed_key(words)
    assert "hush" not in str(caught.value)
    assert "two words" not in str(caught.value)


def test_a_command_is_given_to_no_shell(tmp_path):
    marker = tmp_path / "made"
    text = f"x; touch {marker}; $(touch {marker})"
    assert printed_key((*python("import sys; print(len(sys.argv))"), text)) == "2"
    assert not marker.exists()


def test_a_command_that_hangs_is_ended_with_all_that_it_started():
    code = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"
    with pytest.raises(UsageProblem, match="did not end within 1 s"):
        printed_key(python(code), seconds=1)


# ---- a project must not decide where a key goes


def project(tmp_path: Path, text: str) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    return tmp_path / "notebooks"


EVIL = "https://evil.example/v1"


def test_a_key_of_the_person_is_not_sent_where_a_projects_env_file_says(tmp_path):
    root = project(tmp_path, f'export OPENAI_BASE_URL="{EVIL}"\n')
    variables = {"OPENAI_BASE_URL": EVIL, "OPENAI_API_KEY": KEY, "AGENT_MAGICS_MODEL": "m"}
    with pytest.raises(UsageProblem, match="comes from this project's") as caught:
        chooser(variables=variables, root=root)(ModelSettings())
    assert KEY not in str(caught.value)


def test_a_project_that_brings_url_and_key_and_one_on_this_machine_work(tmp_path):
    root = project(tmp_path, f"OPENAI_BASE_URL={EVIL}\nOPENAI_API_KEY={KEY}\n")
    variables = {"OPENAI_BASE_URL": EVIL, "OPENAI_API_KEY": KEY, "AGENT_MAGICS_MODEL": "m"}
    assert chooser(variables=variables, root=root)(ModelSettings()).where == EVIL
    here = "http://127.0.0.1:4000/v1"
    (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={here}\n", encoding="utf-8")
    variables["OPENAI_BASE_URL"] = here
    assert chooser(variables=variables, root=root)(ModelSettings()).where == here


def test_the_persons_own_url_is_none_of_the_projects(tmp_path):
    root = project(tmp_path, "OPENAI_BASE_URL=https://other.example/v1\n# OPENAI_API_KEY=x\n")
    variables = {"OPENAI_BASE_URL": EVIL, "OPENAI_API_KEY": KEY, "AGENT_MAGICS_MODEL": "m"}
    assert chooser(variables=variables, root=root)(ModelSettings()).where == EVIL


@given(st.text(max_size=200))
def test_any_env_file_can_be_looked_at(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("env")
    (folder / ".env").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert isinstance(project_variables(folder), dict)


# ---- listings


def named_models(list_models, *endpoints, variables=None):
    times = [0.0]
    made = NamedModels(
        lambda: Configuration(endpoints=endpoints),
        Keys(variables or {}),
        variables or {},
        list_models,
        lambda: times[0],
    )
    return made, times


def test_endpoints_are_completed_and_then_the_models_of_the_one_begun():
    asked = []
    made, times = named_models(lambda e: asked.append(e.name) or ("a", "b"), HOME, WORK)
    assert made.words("ho") == ["home", "work"]
    assert asked == []
    assert made.words("home/") == ["home/a", "home/b"]
    assert made.words("home/a") == ["home/a", "home/b"]
    assert asked == ["home"]
    times[0] = 1000.0
    made.words("home/")
    assert asked == ["home", "home"]


def test_completion_waits_for_no_server_and_gets_the_names_with_the_next_key():
    go, come = threading.Event(), threading.Event()

    def slow(_endpoint):
        go.wait(30)
        come.set()
        return ("late",)

    made, _ = named_models(slow, HOME)
    assert made.words("home/") == []
    assert made.words("home/") == []
    go.set()
    assert come.wait(30)
    made._running["home"].join(30)
    assert made.words("home/") == ["home/late"]


def test_completion_runs_no_command_and_says_nothing_about_failures():
    def never(_endpoint):
        raise AssertionError("nothing is asked")

    source = Command(("touch", "/tmp/never"))
    locked = NamedEndpoint("locked", "https://h.example/v1", "m", source)
    made, _ = named_models(never, locked, WORK)
    assert made.words("locked/") == []
    assert made.words("work/") == []  # its variable is not set

    def fails(_endpoint):
        raise UsageProblem("no")

    failing, _ = named_models(fails, HOME)
    assert failing.words("home/") == []


def test_an_endpoint_that_is_not_there_is_explained():
    made, _ = named_models(lambda e: (), HOME)
    with pytest.raises(UsageProblem, match=r"no endpoint 'hoem' in your config.yaml \(home"):
        made.models("hoem")


# ---- prices


def test_a_price_of_the_file_wins_over_the_library():
    known = (("big", Price(1, 2, 3)),)
    variables = {"WORK_KEY": KEY}
    assert choice(WORK, variables=variables, prices=known).price() == Price(1, 2, 3)
    assert choice(HOME).price() is None
