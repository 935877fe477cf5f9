"""The configuration files: what they may say, and that a slip never widens anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.extension.config import Configuration, read_configuration
from agent_magics.extension.environment import read_environment
from agent_magics.policy import CallFacts, Policy, Rule

ASK_ALL = Rule("*", "ask", source="project")


def read(tmp_path: Path, user: str | None = None, project: str | None = None) -> Configuration:
    if user is not None:
        (tmp_path / "config.yaml").write_text(user, encoding="utf-8")
    work = tmp_path / "work"
    (work / ".agent_magics").mkdir(parents=True, exist_ok=True)
    if project is not None:
        (work / ".agent_magics" / "config.yaml").write_text(project, encoding="utf-8")
    return read_configuration(tmp_path / "config.yaml", work)


def test_no_files_is_no_configuration(tmp_path):
    assert read(tmp_path) == Configuration()


def test_an_empty_file_is_no_configuration(tmp_path):
    assert read(tmp_path, "", "# nothing yet\n") == Configuration()


def test_everything_a_user_can_say_is_read(tmp_path):
    config = read(
        tmp_path,
        """\
model: small
base_url: http://127.0.0.1:9/v1
api_key_env: MY_KEY
policy:
  allow:
    - run_shell git status*
    - {tool: git_diff, skill: code-review}
  ask: [read .env*]
  deny: [python]
skill_paths: [/srv/skills]
disabled_skills: [old]
disabled_tools: [run_shell]
""",
    )
    assert config == Configuration(
        model="small",
        base_url="http://127.0.0.1:9/v1",
        api_key_env="MY_KEY",
        rules=(
            Rule("run_shell", "allow", "git status*", "user"),
            Rule("git_diff", "allow", "", "user", "code-review"),
            Rule("read", "ask", ".env*", "user"),
            Rule("python", "deny", "", "user"),
        ),
        skill_paths=(Path("/srv/skills"),),
        disabled_skills=("old",),
        disabled_tools=("run_shell",),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: [a]", "line 1: model must be a text"),
        ("\nmodle: x", "line 2: unknown key 'modle'"),
        ("policy: deny", "line 1: policy must be a mapping"),
        ("policy:\n  permit: [x]", "line 2: policy has allow, ask and deny, not 'permit'"),
        ("policy:\n  allow: read", "line 2: allow must be a list"),
        ("policy:\n  allow: [{pattern: x}]", "line 2: a rule has tool"),
        ("policy:\n  allow: ['']", "line 2: a rule needs a tool's name"),
        ("policy:\n  allow: [null]", "line 2: a rule must be a text"),
        ("model: a\nmodel: b", "line 2: 'model' is given twice"),
        ("- a", "line 1: the file must be a mapping"),
        ("a: [", "not valid YAML"),
        ("x: !!python/object:os.system 1", "unknown key"),
    ],
)
def test_a_slip_is_said_with_its_line_and_then_everything_asks(tmp_path, text, message):
    config = read(tmp_path, text)
    assert message in config.problems[0]
    assert config.problems[0].startswith("config.yaml")
    assert ASK_ALL in config.rules
    assert config.model == ""
    assert Policy(config.rules).judge(CallFacts("read", "read")).decision == "ask"


def test_the_denials_of_a_file_with_a_slip_still_hold(tmp_path):
    config = read(tmp_path, "policy:\n  deny: [python]\n  allow: [edit]\nmodle: x\n")
    assert Rule("python", "deny", "", "user") in config.rules
    assert Rule("edit", "allow", "", "user") not in config.rules


def test_a_project_can_deny_ask_and_suggest_a_model(tmp_path):
    config = read(tmp_path, None, "model: big\npolicy:\n  ask: [read]\n  deny: [run_shell]\n")
    assert config.rules == (
        Rule("read", "ask", "", "project"),
        Rule("run_shell", "deny", "", "project"),
    )
    assert (config.model, config.suggested_model, config.problems) == ("", "big", ())


def test_a_project_cannot_allow_anything(tmp_path):
    config = read(tmp_path, None, "policy:\n  allow: [run_shell]\n  deny: [python]\n")
    assert config.rules == (Rule("python", "deny", "", "project"),)
    assert "can only tighten" in config.problems[0]


@pytest.mark.parametrize("key", ["base_url", "api_key_env", "skill_paths", "disabled_tools"])
def test_a_project_cannot_point_anywhere(tmp_path, key):
    config = read(tmp_path, None, f"{key}: x\n")
    assert "unknown key" in config.problems[0]
    assert ASK_ALL in config.rules


def test_a_file_that_cannot_be_read_makes_everything_ask(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"model: \xff\xfe")
    assert ASK_ALL in read(tmp_path).rules
    (tmp_path / "config.yaml").unlink()
    (tmp_path / "config.yaml").mkdir()
    assert ASK_ALL in read(tmp_path).rules


def test_a_huge_file_is_not_read(tmp_path):
    config = read(tmp_path, "# " + "x" * 300_000)
    assert "larger than" in config.problems[0]


def test_a_self_referring_file_ends(tmp_path):
    config = read(tmp_path, "policy: &a\n  deny: [*a]\n")
    assert ASK_ALL in config.rules


@pytest.mark.parametrize("text", ["{{}}", "? [a, b]\n: 1\n", "{[]}: x"])
def test_a_name_that_is_no_text_is_reported(tmp_path, text):
    config = read(tmp_path, text)
    assert config.problems
    assert ASK_ALL in config.rules


@given(st.text(alphabet="modelpicy:[]{}-&*!'\" \n#|>", max_size=60))
def test_no_text_crashes_the_reader(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("config")
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    config = read_configuration(folder / "config.yaml", folder)
    assert not config.problems or ASK_ALL in config.rules


def test_our_own_variables_win_over_the_common_ones():
    environment = read_environment(
        {
            "OPENAI_API_KEY": "a-common-key",
            "AGENT_MAGICS_API_KEY": "our-own-key",
            "OPENAI_BASE_URL": "http://common",
            "AGENT_MAGICS_MODEL": "m",
        }
    )
    assert (environment.api_key, environment.base_url) == ("our-own-key", "http://common")
    assert environment.source("api_key") == "AGENT_MAGICS_API_KEY"
    assert environment.source("base_url") == "OPENAI_BASE_URL"
    assert environment.source("nothing") == ""


def test_a_key_is_never_in_the_text_of_the_environment():
    assert "secret" not in repr(read_environment({"OPENAI_API_KEY": "secret-key"}))


def test_empty_variables_count_as_not_set():
    assert read_environment({"OPENAI_API_KEY": " ", "OPENAI_BASE_URL": ""}).api_key == ""


def test_approvals_beforehand_need_a_folder():
    assert read_environment({"AGENT_MAGICS_APPROVE": "edit"}).approve == ()
    both = {"AGENT_MAGICS_APPROVE": "edit, git_diff", "AGENT_MAGICS_APPROVE_IN": "/x"}
    assert read_environment(both).approve == ("edit", "git_diff")
