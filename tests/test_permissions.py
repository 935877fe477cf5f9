"""Modes, rules that last, and a no for all calls that wait: what they allow, and where they end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import UsageProblem
from agent_magics.events import CallFinished, CallProposed
from agent_magics.extension import loaded
from agent_magics.extension.kept import RulesFile
from agent_magics.frontends.blocks import Transcript
from agent_magics.frontends.prompt import choices, understood
from agent_magics.messages import Assistant, ToolResult
from agent_magics.policy import MODES, Answer, CallFacts, Policy, Rule, Scope
from agent_magics.tool import effective_tools
from agent_magics.tools.deleting import delete_tool
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.workspace import Workspace
from tests.shellkit import magic, skill
from tests.turns import Scene, Spy, call, calls

pytest_plugins = ["tests.shellkit_fixtures"]

EFFECTS = ("read", "write", "delete", "run", "bundled", "control")


# ---- modes


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("ask", ("allow", "ask", "ask", "ask", "ask", "allow")),
        ("accept-edits", ("allow", "allow", "ask", "ask", "ask", "allow")),
        ("plan", ("allow", "deny", "deny", "deny", "ask", "allow")),
        ("auto", ("allow", "allow", "allow", "allow", "allow", "allow")),
    ],
)
def test_each_mode_says_what_happens_to_calls_without_a_rule(mode, expected):
    policy = Policy(mode=mode)
    assert tuple(policy.judge(CallFacts("t", e)).decision for e in EFFECTS) == expected


@given(
    st.sampled_from(sorted(MODES)),
    st.sampled_from(EFFECTS),
    st.sampled_from(["deny", "ask"]),
    st.sampled_from(["user", "project", "session"]),
)
def test_no_mode_loosens_a_rule(mode, effect, decision, source):
    policy = Policy((Rule("t", decision, source=source),), mode)
    assert policy.judge(CallFacts("t", effect)).decision in ("deny", decision)


@given(st.sampled_from(sorted(MODES)), st.sampled_from(EFFECTS))
def test_no_mode_allows_what_reaches_outside(mode, effect):
    assert Policy(mode=mode).judge(CallFacts("t", effect, outside=True)).decision != "allow"


@pytest.mark.parametrize("effect", ["write", "delete", "run"])
def test_nothing_said_in_the_session_opens_plan(effect):
    policy = Policy((Rule("t", "allow"), Rule("*", "allow", source="user")), "plan")
    assert policy.judge(CallFacts("t", effect)).decision == "deny"


def test_plan_does_not_even_offer_what_changes_things():
    tools = [Spy(effect, effect).tool for effect in EFFECTS]
    names = [tool.name for tool in effective_tools(tools, (), policy=Policy(mode="plan"))]
    assert names == ["bundled", "control", "read"]


def test_a_mode_is_chosen_for_the_kernel_a_cell_or_in_the_configuration(shell, home, capsys):
    magics = loaded(shell)
    assert magics.policy().mode == "ask"
    (home / "config.yaml").write_text("mode: accept-edits\n", encoding="utf-8")
    assert magics.policy().mode == "accept-edits"
    magic(shell, "agent", "mode plan")
    assert magics.policy().mode == "plan"
    assert "write" not in [tool.name for tool in magics.visible()]
    text = magic(shell, "agent", "--mode ask --preview", "Hi\n").text
    assert "write" in text
    assert "Mode plan: nothing is changed" in capsys.readouterr().out
    assert "plan" in magic(shell, "agent").text
    with pytest.raises(UsageProblem, match="accept-edits"):
        magic(shell, "agent", "mode yolo")


def test_a_project_cannot_choose_the_mode_and_a_wrong_one_widens_nothing(shell, home):
    folder = Path(".agent_magics")
    folder.mkdir()
    (folder / "config.yaml").write_text("mode: auto\n", encoding="utf-8")
    magics = loaded(shell)
    assert magics.policy().mode == "ask"
    assert any("unknown key 'mode'" in p for p in magics.services.configuration().problems)
    (folder / "config.yaml").unlink()
    (home / "config.yaml").write_text("mode: yolo\n", encoding="utf-8")
    assert magics.policy().mode == "ask"
    assert "mode is one of" in magics.services.configuration().problems[0]


def test_the_model_knows_that_it_is_planning(shell):
    assert "switched to planning" in magic(shell, "agent", "--mode plan --preview", "Hi\n").text
    assert "planning" not in magic(shell, "agent", "--preview", "Hi\n").text


# ---- rules that last


def test_a_lasting_rule_is_there_in_the_next_kernel_and_can_be_taken_back(shell, home, capsys):
    magic(shell, "agent", "allow --always run_shell git status")
    assert "every session" in capsys.readouterr().out
    file = home / "rules.json"
    assert os.stat(file).st_mode & 0o777 == 0o600
    rules = RulesFile(file).rules()
    assert rules == (Rule("run_shell", "allow", "git status", "user"),)
    assert rules[0] in loaded(shell).policy().rules
    assert loaded(shell).session.policy.rules == ()
    magic(shell, "agent", "policy drop run_shell git status")
    assert loaded(shell).policy().rules == ()
    with pytest.raises(UsageProblem, match="no rule"):
        magic(shell, "agent", "policy drop run_shell git status")


def test_a_rule_of_the_session_is_taken_back_alone(shell):
    magic(shell, "agent", "allow write a.txt")
    magic(shell, "agent", "allow write b.txt")
    magic(shell, "agent", "policy drop write a.txt")
    assert [rule.pattern for rule in loaded(shell).policy().rules] == ["b.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "nonsense",
        '[{"tool": "*", "decision": "allow", "source": "session"}]',
        '[{"tool": "", "decision": "allow"}]',
        '[{"tool": "x", "decision": "maybe"}]',
        '[{"tool": ["x"], "decision": "allow"}]',
        '[{"decision": "allow"}]',
    ],
)
def test_a_file_of_rules_that_is_off_allows_nothing(tmp_path, text):
    (tmp_path / "rules.json").write_text(text, encoding="utf-8")
    assert RulesFile(tmp_path / "rules.json").rules() == ()


RULES = st.builds(
    Rule,
    st.text(min_size=1, max_size=8),
    st.sampled_from(["allow", "ask", "deny"]),
    st.text(max_size=8),
    st.just("user"),
    st.text(max_size=4),
)


@given(st.lists(RULES, max_size=6))
def test_rules_come_back_as_they_were_kept(tmp_path_factory, rules):
    file = RulesFile(tmp_path_factory.mktemp("rules") / "rules.json")
    for rule in rules:
        file.keep(rule)
    last = {(r.tool, r.pattern, r.skill): r for r in rules}
    assert set(file.rules()) == set(last.values())
    for rule in rules:
        file.drop(rule)
    assert file.rules() == ()


def test_a_rule_that_a_person_made_to_last_on_a_card_is_said_with_its_source():
    scope = Scope("look, in every session", Rule("look", "allow", source="user"))
    spy = Spy(effect="run")
    scene = Scene(
        [calls(call("look", n=1)), calls(call("look", "c2", n=2)), Assistant("Done.")],
        [spy.tool],
        [Answer(True, scope=scope)],
    )
    scene.ask("Go")
    assert [arguments["n"] for arguments in spy.ran] == [1, 2]
    assert len(scene.person.asked) == 1


def test_a_lasting_rule_chosen_on_a_card_is_written_down(shell, home):
    from dataclasses import replace

    magics = loaded(shell)
    scope = Scope("git_diff", Rule("git_diff", "allow", source="user", skill="code-review"))
    magics.services = replace(
        magics.services, preapproved=lambda question: Answer(True, scope=scope)
    )
    magic(shell, "use", "code-review")
    magic(shell, "agent", "--out r", "Review my uncommitted changes.\n")
    (entry,) = json.loads((home / "rules.json").read_text(encoding="utf-8"))
    assert (entry["tool"], entry["skill"]) == ("git_diff", "code-review")


def test_a_lasting_rule_that_cannot_be_written_ends_no_turn(shell, home, capsys):
    from dataclasses import replace

    magics = loaded(shell)
    (home / "rules.json").mkdir()
    scope = Scope("git_diff", Rule("git_diff", "allow", source="user", skill="code-review"))
    magics.services = replace(
        magics.services, preapproved=lambda question: Answer(True, scope=scope)
    )
    magic(shell, "use", "code-review")
    magic(shell, "agent", "--out r", "Review my uncommitted changes.\n")
    assert shell.user_ns["r"].reason == "answered"
    assert "holds in this cell only" in capsys.readouterr().out


# ---- a no for the calls that wait


def three(answers):
    spy = Spy(effect="write")
    wanted = [call("look", f"c{n}", n=n) for n in (1, 2, 3)]
    scene = Scene(
        [calls(*wanted), calls(call("look", "c4", n=4)), Assistant("Done.")], [spy.tool], answers
    )
    return scene, spy


def test_the_question_says_how_many_calls_wait_behind_it():
    scene, _ = three([Answer(True)] * 4)
    scene.ask("Go")
    assert [question.following for question in scene.person.asked] == [2, 1, 0, 0]


def test_a_no_for_the_rest_refuses_the_calls_behind_it_and_tells_the_model_why():
    scene, spy = three([Answer(True), Answer(False, reason="too many", rest=True), Answer(True)])
    result = scene.ask("Go")
    assert [arguments["n"] for arguments in spy.ran] == [1, 4]
    assert len(scene.person.asked) == 3
    texts = [m.text for m in result.conversation if isinstance(m, ToolResult)]
    assert "too many" in texts[1]
    assert "too many" in texts[2]
    assert [c.decision for c in result.calls] == ["approved", "refused", "refused", "approved"]
    assert len(result.refused) == 2


def test_the_line_of_a_call_that_was_refused_with_another_says_so():
    transcript = Transcript()
    wanted = call("look", n=1)
    transcript.feed(CallProposed(wanted, "look 1"))
    result = ToolResult("c1", "no", ok=False)
    (block,) = transcript.feed(CallFinished(wanted, result, 0.0, "refused"))
    assert block.text.startswith("⊘ `look 1` · denied with a call before it")


def test_a_plain_no_refuses_one_call_only():
    scene, spy = three([Answer(False), Answer(True), Answer(True), Answer(True)])
    scene.ask("Go")
    assert [arguments["n"] for arguments in spy.ran] == [2, 3, 4]


def test_a_yes_never_refuses_what_waits():
    scene, spy = three([Answer(True, rest=True)] * 4)
    scene.ask("Go")
    assert len(spy.ran) == 4


def test_the_typed_prompt_offers_none_only_where_calls_wait():
    assert "none" in choices((), following=2)
    assert "none" not in choices(())
    assert understood("none, please stop", ()) == Answer(
        False, by="typed", reason="please stop", rest=True
    )


def test_a_project_skill_cannot_use_the_lasting_rule_of_another(shell):
    skill(Path("skills"), "other")
    policy = Policy((Rule("git_diff", "allow", source="user", skill="code-review"),))
    facts = CallFacts("git_diff", "bundled", skill="other")
    assert policy.judge(facts).decision == "ask"


def test_a_command_can_be_allowed_in_every_session_with_a_button(tmp_path):
    tool = run_shell_tool(Workspace(lambda: tmp_path))
    labels = [scope.label for scope in tool.scopes({"command": "git status"})]
    assert labels == [
        "exactly this command, this session",
        "git status *, this session",
        "git status *, in every session",
    ]
    assert [s.rule.source for s in tool.scopes({"command": "git status"})][-1] == "user"
    assert tool.scopes({"command": "ls $(rm x)"}) == ()


def test_deleting_is_no_edit(tmp_path):
    tool = delete_tool(Workspace(lambda: tmp_path))
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    facts = tool.facts({"path": "a.txt"})
    assert Policy(mode="accept-edits").judge(facts).decision == "ask"
    assert Policy(mode="plan").judge(facts).decision == "deny"
