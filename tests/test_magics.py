"""The magics in a real IPython shell, in this process, without a kernel: nobody can be asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.errors import AgentMagicsError, SkillError, UsageProblem
from agent_magics.extension import loaded
from agent_magics.messages import Assistant
from agent_magics.policy import Rule
from agent_magics.result import TurnResult
from agent_magics.tools.commands.explaining import reading_note
from tests.shellkit import SHIPPED, magic, skill

NAMES = ("skills", "use", "unuse", "agent")
pytest_plugins = ["tests.shellkit_fixtures"]


TOOL = 'def count(text: str) -> str:\n    """Count characters."""\n    return str(len(text))\n'


def test_loading_says_one_line_with_skills_and_commands(home, capsys):
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    said = capsys.readouterr().out.splitlines()
    agent_magics.unload_ipython_extension(shell)
    assert said == [
        f"agent_magics: skills {', '.join(SHIPPED)}. "
        "Commands: %skills, %use NAME, %%agent (panel: %agent)"
    ]


def test_loading_and_unloading_leave_the_shell_as_it_was(home):
    shell = InteractiveShell()

    def state():
        magics = shell.magics_manager.magics
        return (
            dict(shell.user_ns),
            sorted(magics["line"]),
            sorted(magics["cell"]),
            list(shell.input_transformers_cleanup),
            list(shell.Completer.custom_matchers),
            len(shell.configurables),
        )

    before = state()
    agent_magics.load_ipython_extension(shell)
    assert set(NAMES) <= set(shell.magics_manager.magics["line"])
    agent_magics.load_ipython_extension(shell)
    agent_magics.unload_ipython_extension(shell)
    assert state() == before
    agent_magics.unload_ipython_extension(shell)
    assert state() == before


def test_loading_leaves_the_namespace_alone(shell):
    fresh = InteractiveShell()
    assert set(shell.user_ns) == set(fresh.user_ns)


@pytest.mark.parametrize("name", ["openai", "ipywidgets", "nbformat", "jsonschema", "markdown_it"])
def test_loading_imports_nothing_heavy(home, name):
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "import agent_magics\n"
        "agent_magics.load_ipython_extension(InteractiveShell())\n"
        f"print({name!r} in sys.modules)"
    )
    path = str(Path(agent_magics.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("name", ["openai", "jsonschema", "yaml", "markdown_it", "pathspec"])
def test_a_file_in_the_working_folder_is_not_taken_for_a_library(home, name):
    Path(f"{name}.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    Path("src").mkdir(exist_ok=True)
    code = (
        "import sys\n"
        "sys.path.insert(0, '')\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell()\n"
        "import agent_magics\n"
        "from agent_magics.extension import loaded\n"
        "from agent_magics.tools.checking import check\n"
        "agent_magics.load_ipython_extension(shell)\n"
        "shell.run_cell_magic('agent', '', 'What is this project, and how do its parts fit"
        " together?')\n"
        "check({'type': 'object', 'minProperties': 2}, {})\n"
        "shell.run_line_magic('config', 'AgentMagics.base_url = \"http://127.0.0.1:9/v1\"')\n"
        "loaded(shell).choice('m').make()\n"
        "print(sys.path[0] == '', 'whole')"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(agent_magics.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["True whole"], done.stdout + done.stderr


def test_importing_the_package_imports_nothing_of_it():
    code = "import agent_magics, sys; print([m for m in sys.modules if 'agent_magics.' in m])"
    path = str(Path(agent_magics.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_shipped_skills_are_listed_as_a_table_and_as_rows(shell):
    view = magic(shell, "skills")
    assert tuple(row.name for row in view) == SHIPPED
    assert view["explore"].tools == ("ls", "glob", "read")
    assert view["code-review"].bundled == ("git_diff", "report_findings")
    assert "explore" in view._repr_mimebundle_()["text/html"]
    with pytest.raises(KeyError, match="no skill 'x'"):
        view["x"]


def test_loading_a_skill_names_its_tools(shell, capsys):
    magic(shell, "use", "code-review")
    magic(shell, "use", "explore")
    magic(shell, "unuse")
    said = capsys.readouterr().out.splitlines()[-3:]
    assert said == [
        "Loaded skill code-review (bundled: git_diff, report_findings; built-in: read, glob)",
        "Loaded skill explore (built-in: ls, glob, read)",
        "Unloaded skill explore. The default tools are restored.",
    ]


def test_the_tools_of_a_turn_are_what_the_skill_leaves(shell):
    def visible():
        return [tool.name for tool in loaded(shell).visible()]

    everything = visible()
    assert {"edit", "glob", "grep", "ls", "python", "read", "run_shell"} < set(everything)
    magic(shell, "use", "explore")
    assert visible() == ["glob", "ls", "read"]
    magic(shell, "use", "code-review")
    assert visible() == ["git_diff", "glob", "read", "report_findings"]
    magic(shell, "use", "--add explore")
    assert visible() == ["git_diff", "glob", "read", "report_findings"]
    magic(shell, "unuse", "code-review")
    assert visible() == ["glob", "ls", "read"]
    magic(shell, "unuse")
    assert visible() == everything


def test_a_request_offers_exactly_these_tools(shell):
    view = magic(shell, "agent", "--preview --skill explore", "What is here?\n")
    assert "Preview" in view.text
    assert "glob, ls, read" in view.text
    assert "What is here?" in view.text
    assert "nothing was sent" in view.text
    assert loaded(shell).session.conversation == ()
    assert loaded(shell).session.active == ()


def test_the_system_prompt_has_base_then_project_then_skill(shell):
    text = magic(shell, "agent", "--preview --skill explore", "Hi\n").text
    base, project, chosen = (
        text.index("You are agent_magics"),
        text.index("Money is an `int` of cents"),
        text.index('<skill name="explore">'),
    )
    assert base < project < chosen


@pytest.mark.parametrize("line", ["nowhere", "../x", "/etc", ".", "a/b"])
def test_a_skill_that_cannot_be_found_changes_nothing(shell, line):
    magic(shell, "use", "explore")
    with pytest.raises(SkillError):
        magic(shell, "use", line)
    assert [a.skill.name for a in loaded(shell).session.active] == ["explore"]


def test_a_near_name_is_offered(shell):
    with pytest.raises(SkillError, match="explore"):
        magic(shell, "use", "explor")


def test_without_a_name_use_says_what_it_needs(shell):
    with pytest.raises(UsageError, match="needs a skill's name"):
        magic(shell, "use")


def test_two_skills_behind_use_are_a_slip(shell):
    with pytest.raises(UsageProblem, match="%use --add explore"):
        magic(shell, "use", "code-review explore")


def test_arguments_behind_a_skill_reach_the_prompt_as_they_were_typed(shell):
    magic(shell, "use", "explore only $HOME and {x}")
    text = magic(shell, "agent", "--preview", "Hi\n").text
    assert "Arguments the person gave: only $HOME and {x}" in text


def test_unuse_without_a_skill_claims_nothing(shell, capsys):
    magic(shell, "unuse")
    assert "No skill is active" in capsys.readouterr().out


def test_a_skill_whose_code_fails_leaves_the_one_before_in_force(shell, home):
    skill(home / ".agents" / "skills", "broken-code", code="def f(:\n")
    magic(shell, "use", "code-review")
    with pytest.raises(SkillError, match=r"tools\.py"):
        magic(shell, "use", "broken-code")
    session = loaded(shell).session
    assert [a.skill.name for a in session.active] == ["code-review"]
    assert [tool.name for tool in session.bundled] == ["git_diff", "report_findings"]


def test_the_code_of_a_project_skill_is_not_imported_without_trust(shell, capsys):
    marker = Path("imported.txt").resolve()
    skill(Path("skills"), "ours", code=f"open({str(marker)!r}, 'w').write('x')\n{TOOL}")
    assert magic(shell, "skills")["ours"].state == "untrusted"
    with pytest.raises(SkillError, match="--trust ours"):
        magic(shell, "use", "ours")
    assert not marker.exists()
    magic(shell, "skills", "--trust ours")
    magic(shell, "use", "ours")
    assert marker.exists()
    assert "bundled: count" in capsys.readouterr().out


def test_a_changed_project_skill_asks_again(shell):
    root = skill(Path("skills"), "ours", code=TOOL)
    magic(shell, "skills", "--trust ours")
    magic(shell, "use", "ours")
    (root / "tools.py").write_text(TOOL + "# more\n", encoding="utf-8")
    with pytest.raises(SkillError, match="--trust"):
        magic(shell, "use", "ours")


def test_a_setting_can_never_or_always_import_code(shell):
    skill(Path("skills"), "ours", code=TOOL)
    loaded(shell).skill_code = "allow"
    magic(shell, "use", "ours")
    assert [tool.name for tool in loaded(shell).session.bundled] == ["count"]


def test_a_copy_of_a_shipped_skill_in_a_project_needs_no_trust(shell):
    import shutil

    from agent_magics.extension.assembly import bundled_skills

    shutil.copytree(bundled_skills() / "code-review", "skills/code-review")
    magic(shell, "use", "code-review")
    assert loaded(shell).session.active[0].skill.origin == "project"


def test_a_skill_that_leaves_no_tool_is_refused(shell, home):
    skill(home / ".agents" / "skills", "nothing", tools="tools: []")
    with pytest.raises(SkillError):
        magic(shell, "use", "nothing")


def test_a_broken_skill_is_listed_with_its_reason_and_explained(shell, home):
    folder = home / ".agents" / "skills" / "bad"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: bad\n", encoding="utf-8")
    state = magic(shell, "skills")["bad"].state
    assert state.startswith("broken: ")
    assert "---" in state
    assert "broken" in magic(shell, "skills", "bad").text


def test_details_of_a_skill_show_hash_and_files(shell):
    text = magic(shell, "skills", "code-review").text
    assert "content hash" in text
    assert "git_diff" in text


def test_a_skill_that_changed_on_disk_is_said_in_the_next_cell(shell, home, capsys):
    root = skill(home / ".agents" / "skills", "mine")
    magic(shell, "use", "mine")
    (root / "SKILL.md").write_text("---\ndescription: New.\n---\nDo more.\n", encoding="utf-8")
    text = magic(shell, "agent", "--preview", "Hi\n").text
    assert "Skill mine changed on disk; the change is in force." in capsys.readouterr().out
    assert "Do more." in text
    assert "Do it." not in text


def test_a_change_that_breaks_an_active_skill_leaves_it_as_it_was(shell, home, capsys):
    root = skill(home / ".agents" / "skills", "mine", code=TOOL)
    magic(shell, "use", "mine")
    (root / "tools.py").write_text("def count(:\n", encoding="utf-8")
    text = magic(shell, "agent", "--preview", "Hi\n").text
    assert "stays as it was" in capsys.readouterr().out
    assert "Do it." in text
    assert [tool.name for tool in loaded(shell).session.bundled] == ["count"]
    (root / "tools.py").write_text(TOOL.replace("count", "tally"), encoding="utf-8")
    magic(shell, "agent", "--preview", "Hi\n")
    assert [tool.name for tool in loaded(shell).session.bundled] == ["tally"]


def test_an_active_skill_that_is_gone_stays_as_it_was(shell, home, capsys):
    import shutil

    root = skill(home / ".agents" / "skills", "mine")
    magic(shell, "use", "mine")
    shutil.rmtree(root)
    assert "Do it." in magic(shell, "agent", "--preview", "Hi\n").text
    assert "gone from the disk" in capsys.readouterr().out


def test_a_cell_asks_and_the_conversation_goes_on(shell, capsys):
    magic(shell, "agent", "", "What is this project, and how do its parts fit together?\n")
    magic(shell, "agent", "--out second", "Something that nobody recorded.\n")
    said = capsys.readouterr().out
    assert "Scripted demonstration" in said
    assert "corner-shop" in said
    session = loaded(shell).session
    assert isinstance(session.conversation[-1], Assistant)
    result = shell.user_ns["second"]
    assert isinstance(result, TurnResult)
    assert "not a model" in result.text
    assert result.prompt == "Something that nobody recorded.\n"


def test_a_prompt_reaches_the_session_byte_for_byte(shell):
    prompt = "Costs $5 and {braces} `x` %lsmagic !ls ?\n\n\ttab\u2028 end \n"
    magic(shell, "agent", "", prompt)
    assert loaded(shell).session.conversation[0].text == prompt


def test_variables_in_the_line_are_not_expanded(shell):
    shell.user_ns["x"] = "explore"
    with pytest.raises(SkillError, match="x"):
        magic(shell, "use", "$x")


def test_an_empty_prompt_is_a_usage_error(shell):
    with pytest.raises(UsageError, match="empty"):
        magic(shell, "agent", "", "  \n\n")


def test_without_anyone_to_ask_a_call_is_refused_at_once_and_recorded(shell):
    magic(shell, "use", "code-review")
    magic(shell, "agent", "--out review", "Review my uncommitted changes.\n")
    (call,) = shell.user_ns["review"].refused
    assert (call.name, call.by) == ("git_diff", "nobody")


def test_a_rule_of_the_session_lets_the_call_run(shell, capsys):
    magic(shell, "use", "code-review")
    magic(shell, "agent", "allow git_diff")
    magic(shell, "agent", "allow report_findings")
    magic(shell, "agent", "--out review", "Review my uncommitted changes.\n")
    assert shell.user_ns["review"].refused == ()
    assert "loses cents" in capsys.readouterr().out


def test_a_skill_for_one_cell_leaves_the_session_as_it_was(shell):
    magic(shell, "use", "explore")
    magic(shell, "agent", "--skill code-review --out r", "Review my uncommitted changes.\n")
    assert [name for name, _ in shell.user_ns["r"].skills] == ["code-review"]
    assert [a.skill.name for a in loaded(shell).session.active] == ["explore"]


def test_new_forgets_and_session_keeps_apart(shell):
    magic(shell, "agent", "", "One.\n")
    magic(shell, "agent", "--session side", "Two.\n")
    assert len(loaded(shell).session.conversation) == 2
    assert loaded(shell).sessions["side"].conversation[0].text == "Two.\n"
    magic(shell, "agent", "--new", "Three.\n")
    assert loaded(shell).session.conversation[0].text == "Three.\n"


def test_the_panel_shows_what_is_in_force(shell):
    magic(shell, "use", "explore")
    text = magic(shell, "agent").text
    for part in ("demonstration (scripted, not a model)", "explore (", "ls: allow", "approvals"):
        assert part in text
    magic(shell, "unuse")
    assert "skill      none" in magic(shell, "agent").text


def test_rules_are_made_listed_and_dropped(shell, capsys):
    magic(shell, "agent", "deny run_shell")
    magic(shell, "agent", "allow edit docs/*")
    view = magic(shell, "agent", "policy")
    assert "docs/*" in view.text
    assert loaded(shell).session.policy.rules == (
        Rule("run_shell", "deny"),
        Rule("edit", "allow", "docs/*"),
    )
    assert "run_shell" not in [tool.name for tool in loaded(shell).visible()]
    magic(shell, "agent", "policy reset")
    assert loaded(shell).session.policy.rules == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("allow", "needs a tool's name"),
        ("allow raed", "Did you mean read"),
        ("allow zzz", "There are:"),
        ("resett", "Did you mean reset"),
        ("what is this?", "start the cell with %%agent"),
        ("reset now", "takes no words"),
        ("model a b", "takes one name"),
    ],
)
def test_wrong_commands_say_what_there_is(shell, line, message):
    with pytest.raises(UsageProblem) as caught:
        magic(shell, "agent", line)
    assert message in str(caught.value)


def test_allowing_what_the_configuration_denies_says_that_it_stays_denied(shell, home, capsys):
    (home / "config.yaml").write_text("policy:\n  deny: [python]\n", encoding="utf-8")
    magic(shell, "agent", "allow python")
    assert "stays denied" in capsys.readouterr().out


def test_a_rule_for_commands_is_explained_when_it_is_made(shell, capsys):
    magic(shell, "agent", "allow run_shell sudo *")
    magic(shell, "agent", "deny run_shell git push")
    magic(shell, "agent", "allow run_shell git push origin")
    said = capsys.readouterr().out
    assert "No pattern with * can allow this: sudo can run other commands." in said
    assert "stays denied: this session: deny run_shell git push" in said
    # It says whether the parser is installed; the extra need not be.
    assert reading_note() in magic(shell, "agent", "policy").text


def test_a_configuration_that_is_off_is_shown_and_makes_reading_ask(shell, home):
    (home / "config.yaml").write_text("modle: x\n", encoding="utf-8")
    text = magic(shell, "agent").text
    assert "unknown key 'modle'" in text
    assert "read: ask" in text


def test_disabled_skills_and_tools_are_gone(shell, home):
    (home / "config.yaml").write_text(
        "disabled_skills: [explore]\ndisabled_tools: [run_shell]\n", encoding="utf-8"
    )
    assert magic(shell, "skills")["explore"].state == "disabled"
    with pytest.raises(SkillError, match="disabled"):
        magic(shell, "use", "explore")
    assert "run_shell" not in [tool.name for tool in loaded(shell).visible()]


def test_reset_keeps_the_skill_and_says_so(shell, capsys):
    magic(shell, "use", "explore")
    magic(shell, "agent", "", "One.\n")
    magic(shell, "agent", "reset")
    assert "explore stays active" in capsys.readouterr().out
    assert loaded(shell).session.conversation == ()


def test_a_model_without_an_endpoint_is_explained(shell):
    magic(shell, "agent", "model demonstration")
    with pytest.raises(UsageProblem, match="no endpoint"):
        magic(shell, "agent", "model some-model")
    assert "none: " in magic(shell, "agent").text


def test_compacting_a_short_conversation_changes_nothing(shell, capsys):
    magic(shell, "agent", "", "One.\n")
    before = loaded(shell).session.conversation
    magic(shell, "agent", "compact")
    assert "nothing could be won" in capsys.readouterr().out
    assert loaded(shell).session.conversation == before


def test_testing_without_a_model_says_how_to_connect_one(shell, capsys):
    magic(shell, "agent", "test")
    assert "OPENAI_API_KEY" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "cell"),
    [(n, None) for n in NAMES] + [("agent", "x\n")],
)
def test_every_magic_takes_h_and_shows_help_with_a_question_mark(shell, capsys, name, cell):
    shown = magic(shell, name, "-h", cell)
    said = capsys.readouterr().out + (shown.text if shown is not None else "")
    assert "%" in said
    kind = "line" if cell is None else "cell"
    function = shell.find_magic(name, kind)
    assert len(function.__doc__) > 40


def test_errors_render_as_one_line(shell):
    with pytest.raises(AgentMagicsError) as caught:
        magic(shell, "use", "nowhere")
    assert caught.value._render_traceback_() == [f"SkillError: {caught.value}"]


def test_a_comment_above_the_cell_works(shell, capsys):
    done = shell.run_cell("# why\n%%agent\nNobody recorded this.\n")
    assert done.success
    assert "not a model" in capsys.readouterr().out


def test_the_completer_offers_skills(shell):
    text = "%use expl"
    with provisionalcompleter():
        found = [c.text for c in shell.Completer.completions(text, len(text))]
    assert "explore" in found
