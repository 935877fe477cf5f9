"""MCP servers in a real IPython: configuration, `%agent mcp`, trust, and whole cells."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from agent_magics.errors import ConfigError, UsageProblem
from agent_magics.extension import loaded
from agent_magics.extension.config import read_configuration
from agent_magics.magics.completion import Words, candidates
from agent_magics.magics.mcp_commands import COMMANDS
from agent_magics.magics.mcp_words import prompt_words
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Assistant, ToolResult
from agent_magics.policy import Answer
from agent_magics.providers.scripted import ScriptedModel
from tests.mcpkit import HERE, needs_sdk
from tests.shellkit import magic, skill
from tests.turns import call, calls

pytest_plugins = ["tests.shellkit_fixtures"]
SERVER = {"command": sys.executable, "args": [str(HERE / "mcp_server.py")]}
QUICK = {"command": sys.executable, "args": [str(HERE / "mcp_faults.py"), "chatty"]}


@pytest.fixture
def questions(shell):
    """What was asked; the answer is the last one in the list `say`."""
    asked, say = [], [Answer(True)]

    def answer(question):
        asked.append(question)
        return say[-1]

    magics = loaded(shell)
    magics.services = replace(magics.services, preapproved=answer)
    return asked, say


def declare(home: Path, key: str = "mcp_servers", **servers: object) -> None:
    (home / "config.yaml").write_text(yaml.safe_dump({key: servers}), encoding="utf-8")


def project(**servers: object) -> Path:
    path = Path(".mcp.json")
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def script(shell, *replies):
    """Let this script answer in the cells of the shell; gives the model."""
    model = ScriptedModel(list(replies))
    magics = loaded(shell)
    choice = ModelChoice("scripted", "here", "a test", lambda: model)
    magics.services = replace(magics.services, choose=lambda _: choice)
    return model


def results(shell):
    messages = loaded(shell).session.conversation
    return [m.text for m in messages if isinstance(m, ToolResult)]


# -- without a server that runs


def test_without_servers_the_command_says_how_to_have_some(shell, home):
    text = magic(shell, "agent", "mcp").text
    assert "No MCP server is declared" in text
    assert str(home / "config.yaml") in text


@pytest.mark.parametrize("key", ["mcp_servers", "mcpServers"])
def test_servers_of_the_configuration_are_listed_before_they_run(shell, home, key):
    declare(home, key, git={"command": "uvx", "args": ["x"], "env": {"GIT_KEY": "hunter22"}})
    view = magic(shell, "agent", "mcp")
    assert "git" in view.text
    assert "not started" in view.text
    assert "uvx x" in view.text
    assert "hunter22" not in view.text + view.html


def test_what_is_off_in_a_declaration_is_said_with_its_line_and_nothing_runs(shell, home):
    text = "mcp_servers:\n  git:\n    command: uvx\n  bad:\n    comand: x\n"
    (home / "config.yaml").write_text(text, encoding="utf-8")
    config = read_configuration(home / "config.yaml", Path.cwd())
    assert "config.yaml, line 5: MCP server bad: unknown key 'comand'" in config.problems[0]
    assert config.mcp_servers == ()


def test_the_projects_configuration_may_not_name_servers(shell, home):
    folder = Path(".agent_magics")
    folder.mkdir()
    (folder / "config.yaml").write_text("mcp_servers: {x: {command: evil}}", encoding="utf-8")
    config = read_configuration(home / "config.yaml", Path.cwd())
    assert config.mcp_servers == ()
    assert "unknown key 'mcp_servers'" in config.problems[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mcp nothing", "has no 'nothing'"),
        ("mcp tols", "Did you mean tools"),
        ("mcp restart", "Which server"),
        ("mcp restart gti", "Did you mean git"),
        ("mcp log \u202e", r"no MCP server .\\u202e"),
        ("mcp trust", "no .mcp.json here"),
        ("mcp trust x", "takes no words"),
        ("mcp import", "needs a JSON file"),
        ("mcp import nowhere.json", "There is no file"),
        ("mcp prompts", "No such MCP server runs"),
        ("mcp prompt git", "Usage"),
        ("mcp prompt git 'x", "not closed"),
        ("mcp remove git", "was not imported"),
    ],
)
def test_wrong_words_are_answered_with_what_there_is(shell, home, words, said):
    declare(home, git={"command": "uvx"})
    with pytest.raises(UsageProblem, match=said):
        magic(shell, "agent", words)


def test_the_words_of_a_prompt_are_read():
    words = prompt_words("srv 'my prompt' a=1 b='x y'")
    assert words == ("srv", "my prompt", {"a": "1", "b": "x y"})
    with pytest.raises(UsageProblem, match="is not NAME=VALUE"):
        prompt_words("srv p alone")


def test_the_commands_and_the_servers_are_completed():
    words = Words(lambda: [], lambda: [], lambda: [], servers=lambda: ["git", "docs"])
    assert "restart" in candidates("%agent mcp re", words)
    assert candidates("%agent mcp log ", words) == ["docs", "git"]


def test_switching_a_server_off_lasts_and_on_again(shell, home):
    declare(home, git={"command": "uvx"}, off={"command": "x", "disabled": True})
    assert "disabled" in magic(shell, "agent", "mcp").text
    magic(shell, "agent", "mcp disable git")
    assert json.loads((home / "disabled-mcp.json").read_text(encoding="utf-8")) == ["git"]
    assert magic(shell, "agent", "mcp").text.count("disabled") == 2
    magic(shell, "agent", "mcp enable git")
    assert magic(shell, "agent", "mcp").text.count("disabled") == 1
    with pytest.raises(UsageProblem, match="switched off where it is declared"):
        magic(shell, "agent", "mcp enable off")


def test_a_file_of_another_agent_is_imported_into_a_private_one(shell, home, capsys):
    entry = {"command": "uvx", "args": ["a"], "env": {"KEY": "hunter22"}, "alwaysAllow": ["x"]}
    Path("theirs.json").write_text(json.dumps({"mcpServers": {"git": entry}}), encoding="utf-8")
    magic(shell, "agent", "mcp import theirs.json")
    said = capsys.readouterr().out
    assert "git: uvx a" in said
    assert "hunter22" not in said
    assert "imported" in magic(shell, "agent", "mcp").text
    assert (home / "mcp-servers.json").stat().st_mode & 0o777 == 0o600
    magic(shell, "agent", "mcp remove git")
    assert "No MCP server" in magic(shell, "agent", "mcp").text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be"),
        ('{"mcpServers": {"x": {}}}', "x: needs either command"),
        ('{"mcpServers": 1}', "must be"),
        ("\ufffe", "must be|not valid|cannot be read"),
    ],
)
def test_a_file_that_is_off_is_not_imported_at_all(shell, home, text, said):
    Path("theirs.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        magic(shell, "agent", "mcp import theirs.json")
    assert not (home / "mcp-servers.json").exists()


# -- the project's servers


def test_a_projects_servers_wait_for_trust_and_the_card_shows_everything(shell, home, questions):
    asked, _ = questions
    ran = Path("ran")
    project(
        evil={
            "command": "touch",
            "args": [str(ran), "<b>\u202e"],
            "env": {"T": "${MY_TOKEN}"},
        },
        web={"url": "https://host/${MY_TOKEN}?k=1", "headers": {"X-Key": "v4lue"}},
    )
    assert "Not trusted: evil, web" in magic(shell, "agent", "mcp").text
    script(shell, Assistant("Hello."))
    magic(shell, "agent", "", "Hi.\n")
    assert not ran.exists()
    magic(shell, "agent", "mcp trust")
    (question,) = asked
    text = question.preview[0].text
    for part in ("touch", "\\u202e", "https://host/${MY_TOKEN}?k=1", "X-Key", "MY_TOKEN"):
        assert part in text
    assert "v4lue" not in text
    assert not ran.exists()
    assert question.outside
    assert not question.editable


def test_a_no_trusts_nothing_and_a_yes_trusts_this_content_only(shell, home, questions):
    asked, say = questions
    project(quick=QUICK)
    say.append(Answer(False, reason="later"))
    magic(shell, "agent", "mcp trust")
    assert "Not trusted: quick" in magic(shell, "agent", "mcp").text
    say.append(Answer(True))
    magic(shell, "agent", "mcp trust")
    assert "this project" in magic(shell, "agent", "mcp").text
    project(quick=QUICK, more=QUICK)
    view = magic(shell, "agent", "mcp").text
    assert "Not trusted: quick, more" in view
    assert "this project" in view.split("Not trusted")[1]
    assert len(asked) == 2


def test_a_file_that_changes_while_the_person_reads_is_not_trusted(shell, home, questions):
    project(quick=QUICK)

    def answer(_question):
        project(quick={"command": "evil"})
        return Answer(True)

    magics = loaded(shell)
    magics.services = replace(magics.services, preapproved=answer)
    with pytest.raises(ConfigError, match="changed while you were asked"):
        magic(shell, "agent", "mcp trust")
    assert "Not trusted" in magic(shell, "agent", "mcp").text


def test_nobody_there_means_not_trusted(shell, home):
    project(quick=QUICK)
    magic(shell, "agent", "mcp trust")
    assert "Not trusted" in magic(shell, "agent", "mcp").text


def test_the_persons_own_server_goes_before_the_projects(shell, home, questions):
    declare(home, quick={"command": "mine"})
    project(quick=QUICK)
    magic(shell, "agent", "mcp trust")
    view = magic(shell, "agent", "mcp").text
    assert "mine" in view
    assert "your own MCP server quick goes before its" in view


def test_a_project_is_not_told_the_key_of_the_model(shell, home, questions, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-told")
    project(quick={**QUICK, "env": {"X": "${OPENAI_API_KEY}"}})
    magic(shell, "agent", "mcp trust")
    text = magic(shell, "agent", "mcp start").text
    assert "holds a key of yours" in text
    assert "sk-never-told" not in text


# -- with servers that run


@needs_sdk
def test_a_cell_uses_the_tools_of_a_server_after_a_yes(shell, home, questions, capsys):
    asked, _ = questions
    declare(home, tester=SERVER)
    model = script(shell, calls(call("mcp__tester__add", a=40, b=2)), Assistant("It is 42."))
    magic(shell, "agent", "", "Add 40 and 2.\n")
    assert "starting MCP servers: tester" in capsys.readouterr().out
    assert [question.origin for question in asked] == ["MCP server tester"]
    assert "the sum is 42" in results(shell)[0]
    names = [tool.name for tool in model.requests[0].tools]
    assert "mcp__tester__add" in names
    assert "read" in names


@needs_sdk
def test_nobody_there_means_that_no_call_of_a_server_runs(shell, home):
    declare(home, tester=SERVER)
    script(shell, calls(call("mcp__tester__add", a=40, b=2)), Assistant("I could not."))
    magic(shell, "agent", "", "Add.\n")
    assert "was not run" in results(shell)[0]


@needs_sdk
def test_a_rule_allows_the_tools_of_one_server_and_the_table_says_so(shell, home, capsys):
    declare(home, tester=SERVER)
    magic(shell, "agent", "mcp start")
    assert "ask" in magic(shell, "agent", "mcp tools tester").text
    magic(shell, "agent", "allow mcp__tester__add")
    magic(shell, "agent", "deny mcp__tester__die")
    assert "1 allow, 11 ask, 1 deny" in magic(shell, "agent", "mcp").text
    script(shell, calls(call("mcp__tester__add", a=1, b=2)), Assistant("Three."))
    magic(shell, "agent", "", "Add.\n")
    assert "the sum is 3" in results(shell)[0]


@needs_sdk
def test_a_skill_with_a_whitelist_hides_the_servers(shell, home):
    declare(home, tester=SERVER)
    skill(home / ".agents" / "skills", "reader", tools="tools: [read]")
    magic(shell, "use", "reader")
    model = script(shell, calls(call("mcp__tester__add", a=1, b=2)), Assistant("No."))
    magic(shell, "agent", "", "Add.\n")
    assert [tool.name for tool in model.requests[0].tools] == ["read"]
    assert "not available with skill reader" in results(shell)[0]


@needs_sdk
def test_a_skills_glob_shows_a_servers_tools_whose_calls_still_ask(shell, home, questions, capsys):
    asked, _ = questions
    declare(home, chatty=QUICK)
    skill(home / ".agents" / "skills", "wish", tools="tools: [read, 'mcp__*']")
    magic(shell, "use", "wish")
    said = "Loaded skill wish (built-in: read; when their MCP servers run: mcp__*)"
    assert said in capsys.readouterr().out
    model = script(shell, calls(call("mcp__chatty__go")), Assistant("Gone."))
    magic(shell, "agent", "", "Go.\n")
    assert [tool.name for tool in model.requests[0].tools] == ["mcp__chatty__go", "read"]
    assert [question.call.name for question in asked] == ["mcp__chatty__go"]
    magic(shell, "use", "wish")
    assert "(built-in: read, mcp__chatty__go)" in capsys.readouterr().out


@needs_sdk
def test_very_many_tools_are_found_with_find_tools(shell, home):
    args = [str(HERE / "mcp_faults.py"), "many"]
    declare(home, many={"command": sys.executable, "args": args})
    model = script(
        shell,
        calls(call("find_tools", query="tool_250")),
        calls(call("mcp__many__tool_250")),
        Assistant("Found."),
    )
    magic(shell, "agent", "", "Find tool 250.\n")
    first, second = ([tool.name for tool in r.tools] for r in model.requests[:2])
    assert "find_tools" in first
    assert not any(name.startswith("mcp__many") for name in first)
    assert "mcp__many__tool_250" in second


@needs_sdk
def test_a_secret_that_a_server_was_told_is_taken_out_of_results_and_logs(shell, home, questions):
    declare(home, tester={**SERVER, "env": {"TOLD_TOKEN": "q8Zr-hunter-77"}})
    script(
        shell,
        calls(call("mcp__tester__environment")),
        calls(call("mcp__tester__whisper", "c2")),
        Assistant("Done."),
    )
    magic(shell, "agent", "", "Tell me.\n")
    assert "hunter" not in "".join(results(shell))
    assert "TOLD_TOKEN" in results(shell)[0]


@needs_sdk
def test_the_log_a_restart_and_the_end(shell, home, capsys):
    declare(home, quick=QUICK)
    magic(shell, "agent", "mcp start")
    magic(shell, "agent", "mcp log quick")
    said = capsys.readouterr().out
    assert "Welcome to this server!" in said
    magic(shell, "agent", "mcp restart quick")
    assert "quick is running" in capsys.readouterr().out
    magic(shell, "agent", "mcp disable quick")
    assert loaded(shell).services.mcp.tools(lambda: None) == ()


@needs_sdk
def test_a_prompt_of_a_server_is_put_into_the_next_cell_to_be_read_first(shell, home, capsys):
    declare(home, tester=SERVER)
    magic(shell, "agent", "mcp start")
    assert "review" in magic(shell, "agent", "mcp prompts").text
    assert "note://today" in magic(shell, "agent", "mcp resources tester").text
    said = []
    shell.set_next_input = said.append
    magic(shell, "agent", "mcp prompt tester review path=a.py")
    assert said == ["%%agent\nPlease review a.py."]
    with pytest.raises(UsageProblem, match="has no prompt 'nope'"):
        magic(shell, "agent", "mcp prompt tester nope")


@needs_sdk
def test_unloading_ends_the_servers(home):
    from IPython.core.interactiveshell import InteractiveShell

    import agent_magics

    declare(home, quick=QUICK)
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    magic(shell, "agent", "mcp start")
    servers = loaded(shell).services.mcp
    assert servers.state("quick").word == "running"
    agent_magics.unload_ipython_extension(shell)
    assert servers.tools(lambda: None) == ()


def test_without_the_sdk_the_message_says_what_to_install(shell, home, monkeypatch):
    declare(home, quick=QUICK)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "%pip install 'agent_magics[mcp]'" in magic(shell, "agent", "mcp start").text


def test_loading_the_extension_imports_no_sdk():
    import subprocess

    program = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "import agent_magics\nagent_magics.load_ipython_extension(InteractiveShell())\n"
        "assert not {'mcp', 'anyio', 'mcp_types'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ}, capture_output=True
    )


# -- the page


PAGE = (HERE.parent / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_the_configurations_of_the_page_are_without_fault(home):
    for name in ("mcp.md", "configuration.md"):
        text = (HERE.parent / "docs" / name).read_text(encoding="utf-8")
        examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        assert examples
        for example in examples:
            (home / "config.yaml").write_text(example, encoding="utf-8")
            assert read_configuration(home / "config.yaml", Path.cwd()).problems == ()


def test_the_page_names_every_command():
    told = {word for line in re.findall(r"`%agent mcp ([^`]+)`", PAGE) for word in line.split()[:1]}
    assert set(COMMANDS) - told == {"disable", "remove"}  # which stand beside their opposites
    assert told <= set(COMMANDS)
