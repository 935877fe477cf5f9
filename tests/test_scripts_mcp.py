"""MCP servers in programs: what is asked for runs, asks nobody, and is gone when the program is."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

import agent_magics
from agent_magics.errors import UsageProblem
from tests.lab_endpoint import PATIENCE, Says
from tests.mapkit import input_of
from tests.mcpkit import HERE, needs_sdk, processes_of, until
from tests.shellkit import skill

pytest_plugins = ["tests.mapkit_fixtures"]
pytestmark = [
    needs_sdk,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]
GO = Says("", (("mcp__chatty__go", {}),))
DONE = Says("It is done.")
ALLOWED = ["allow mcp__chatty__*"]


def goes_once(request):
    """The answer of a model that makes one call, and is done with its result."""
    told = any(message["role"] == "tool" for message in request["messages"])
    return DONE if told else GO


def server(fault: str, **more: object) -> dict[str, object]:
    """A declaration; the folder at its end is a mark by which its processes are found."""
    words = [str(HERE / "mcp_faults.py"), fault] if fault != "tester" else [
        str(HERE / "mcp_server.py")
    ]  # fmt: skip
    return {"command": sys.executable, "args": [*words, str(Path.cwd())], **more}


def declare(*names: str, **more: dict[str, object]) -> None:
    servers = {name: server(name) for name in names} | more
    text = yaml.safe_dump({"mcp_servers": servers})
    Path(os.environ["AGENT_MAGICS_CONFIG"]).write_text(text, encoding="utf-8")


def processes() -> list[int]:
    """Those of this test's servers that live, and their guards."""
    return processes_of(Path.cwd())


def starts(name: str) -> int:
    log = Path(os.environ["AGENT_MAGICS_DATA"]) / "mcp" / f"{name}.log"
    return log.read_text(encoding="utf-8").count("starting: ") if log.is_file() else 0


def looking(endpoint, model, *says: Says) -> list[list[int]]:
    """Let the model say this; gives, for each request, which processes there were."""
    script, seen = iter(says), []

    def answer(_request):
        seen.append(processes())
        return next(script)

    endpoint.answering(model, answer)
    return seen


def offered(request) -> set[str]:
    return {tool["function"]["name"] for tool in request["tools"]}


# -- one prompt


def test_without_being_asked_for_no_server_is_started(program, endpoint, model):
    declare("chatty")
    seen = looking(endpoint, model, DONE, DONE)
    for said in ({}, {"mcp": False}):
        agent_magics.run("Go.", **said)
    assert seen == [[], []]
    assert starts("chatty") == 0
    assert not any(name.startswith("mcp") for name in offered(endpoint.requests(model)[0]))


@pytest.mark.parametrize("wanted", ["chatty", ["chatty"], True])
def test_a_program_calls_a_server_that_it_asks_for_and_leaves_no_process(
    program, endpoint, model, wanted, capfd
):
    declare("chatty")
    seen = looking(endpoint, model, GO, DONE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = agent_magics.run("Go.", mcp=wanted, policy=ALLOWED)
    (record,) = result.calls
    assert (record.name, record.outcome, record.by) == ("mcp__chatty__go", "done", "policy")
    assert "gone" in record.result
    assert '<mcp_result server="chatty"' in record.result  # fenced, as in cells
    assert len(seen[0]) == 2  # the server and its guard
    assert processes() == []
    assert capfd.readouterr() == ("", "")


def test_only_the_named_servers_are_started(program, endpoint, model):
    declare("chatty", "bad")
    endpoint.script(model, DONE)
    agent_magics.run("Go.", mcp="chatty")
    assert (starts("chatty"), starts("bad")) == (1, 0)


@pytest.mark.parametrize("mode", ["ask", "accept-edits", "auto", "plan"])
def test_what_no_rule_allows_is_refused_in_every_mode(program, endpoint, model, mode):
    declare("chatty")
    endpoint.script(model, GO, DONE)
    result = agent_magics.run("Go.", mcp="chatty", mode=mode)
    (refused,) = result.refused
    assert (refused.name, refused.by) == ("mcp__chatty__go", "nobody")
    assert "policy=['allow mcp__chatty__go']" in endpoint.told(model)[0]


def test_in_the_mode_plan_no_rule_opens_a_server(program, endpoint, model):
    declare("chatty")
    endpoint.script(model, GO, DONE)
    result = agent_magics.run("Go.", mcp="chatty", mode="plan", policy=ALLOWED)
    assert [call.by for call in result.refused] == ["nobody"]


def test_a_rule_for_one_server_allows_no_other(program, endpoint, model):
    declare("chatty", "bad")
    endpoint.script(model, Says("", (("mcp__bad__fine", {}),)), DONE)
    result = agent_magics.run("Go.", mcp=True, policy=ALLOWED)
    assert [call.name for call in result.refused] == ["mcp__bad__fine"]


def test_the_programs_function_is_asked_and_sees_which_server_it_is(program, endpoint, model):
    declare("chatty")
    endpoint.script(model, GO, DONE)
    asked = []
    result = agent_magics.run("Go.", mcp="chatty", approve=lambda q: asked.append(q) or True)
    assert [question.origin for question in asked] == ["MCP server chatty"]
    assert not result.refused


def test_a_question_of_a_server_is_declined_whoever_would_answer(program, endpoint, model):
    declare("asks")
    endpoint.script(model, Says("", (("mcp__asks__go", {}),)), DONE)
    asked = []
    result = agent_magics.run("Go.", mcp="asks", approve=lambda q: asked.append(q) or True)
    assert '"action": "decline"' in result.calls[0].result
    assert [question.call.name for question in asked] == ["mcp__asks__go"]


def test_a_skills_glob_shows_a_servers_tools_and_neither_starts_nor_allows_any(
    program, endpoint, model
):
    declare("chatty")
    skill(Path(os.environ["HOME"]) / ".agents" / "skills", "wish", tools="tools: [read, 'mcp__*']")
    endpoint.script(model, DONE, GO, DONE)
    agent_magics.run("Go.", skills="wish")
    assert starts("chatty") == 0
    result = agent_magics.run("Go.", skills="wish", mcp="chatty")
    requests = endpoint.requests(model)
    assert offered(requests[0]) == {"read"}
    assert offered(requests[1]) == {"read", "mcp__chatty__go"}
    assert [call.name for call in result.refused] == ["mcp__chatty__go"]


# -- what is off, before anything is sent


def refused(said: str, **options: object) -> None:
    with pytest.raises(UsageProblem, match=said):
        agent_magics.run("Go.", **options)
    with pytest.raises(UsageProblem, match=said):
        agent_magics.map("Go.", ["x"], **options)
    assert processes() == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("gti", "There is no MCP server gti; declared: bad, chatty"),
        (["chatty", "gti"], "no MCP server gti"),
        ("", "an empty name"),
        ("\u202e", r"no MCP server \\u202e;"),
        (3, "mcp takes a list, not int"),
        ([3], "mcp is a text, not int"),
        ({"git": {"command": "x"}}, "mcp takes names"),
    ],
)
def test_a_name_that_is_off_is_said_with_those_that_there_are(
    program, endpoint, model, wanted, said
):
    declare("chatty", "bad")
    refused(said, mcp=wanted)
    assert starts("chatty") == 0
    assert endpoint.requests(model) == []


def test_without_any_declaration_a_name_says_so_and_true_is_nothing(program, endpoint, model):
    refused("There is no MCP server git; none is declared", mcp="git")
    endpoint.script(model, DONE)
    assert agent_magics.run("Go.", mcp=True).text == "It is done."


def test_one_that_is_switched_off_is_not_started_by_its_name_or_by_true(program, endpoint, model):
    declare("bad", chatty=server("chatty", disabled=True))
    refused("chatty is switched off", mcp="chatty")
    endpoint.script(model, DONE)
    agent_magics.run("Go.", mcp=True)
    assert (starts("chatty"), starts("bad")) == (0, 1)


def test_a_projects_server_needs_trust_that_no_program_can_give(program, endpoint, model):
    file = Path(".mcp.json")
    file.write_text(json.dumps({"mcpServers": {"chatty": server("chatty")}}), encoding="utf-8")
    options = {"policy": ALLOWED, "approve": lambda question: True, "mode": "auto"}
    refused("names MCP servers .chatty., which are not started: %agent mcp trust", mcp="chatty")
    endpoint.script(model, DONE)
    with pytest.warns(UserWarning, match="names MCP servers .chatty."):
        agent_magics.run("Go.", mcp=True, **options)
    assert starts("chatty") == 0
    assert not any(name.startswith("mcp") for name in offered(endpoint.requests(model)[0]))


def test_a_trusted_projects_server_runs_until_its_file_changes(program, endpoint, model):
    from agent_magics.extension.scripts import ScriptOwner, make_services, read_environment

    file = Path(".mcp.json")
    file.write_text(json.dumps({"mcpServers": {"chatty": server("chatty")}}), encoding="utf-8")
    shell = object()  # services as a notebook has them
    owner = ScriptOwner(str(program))
    services = make_services(shell, owner, read_environment(os.environ), os.environ)  # type: ignore[arg-type]
    services.mcp.sources.trust(services.mcp.sources.declared().untrusted)
    endpoint.script(model, GO, DONE)
    assert not agent_magics.run("Go.", mcp="chatty", policy=ALLOWED).refused
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    refused("which are not started", mcp="chatty")


def test_a_named_server_that_does_not_start_is_an_error_and_nothing_is_sent(
    program, endpoint, model
):
    declare("dead", "chatty", gone={"command": "no-such-program"})
    refused("server dead did not start: its process ended .exit status 7.. What it wrote: .*log",
            mcp=["chatty", "dead"])  # fmt: skip
    refused("server gone did not start: there is no program 'no-such-program'", mcp="gone")
    assert endpoint.requests(model) == []


def test_with_true_one_that_does_not_start_is_a_warning_at_the_programs_line(
    program, endpoint, model
):
    declare("dead", "chatty")
    endpoint.script(model, GO, DONE, GO, DONE)
    with pytest.warns(UserWarning, match="server dead is not there: its process ended") as caught:
        result = agent_magics.run("Go.", mcp=True, policy=ALLOWED)
    assert not result.refused
    assert [warning.filename for warning in caught] == [__file__]

    async def main():
        return await agent_magics.arun("Go.", mcp=True, policy=ALLOWED)

    with pytest.warns(UserWarning, match="dead is not there") as caught:
        assert not asyncio.run(main()).refused
    assert [warning.filename for warning in caught] == [__file__]
    assert processes() == []


def test_without_the_sdk_the_message_says_what_to_install(program, endpoint, model, monkeypatch):
    declare("chatty")
    monkeypatch.setitem(sys.modules, "mcp", None)
    refused(r"needs? the package mcp.*pip install 'agent_magics\[mcp\]'", mcp="chatty")
    endpoint.script(model, DONE)
    with pytest.warns(UserWarning, match="pip install"):
        assert agent_magics.run("Go.", mcp=True).text == "It is done."


# -- endings


def test_an_error_in_the_turn_ends_the_servers(program, endpoint, model):
    declare("chatty")
    seen = looking(endpoint, model, GO)
    with pytest.raises(ZeroDivisionError):
        agent_magics.run("Go.", mcp="chatty", approve=lambda question: 1 / 0)
    assert seen[0]
    assert processes() == []


def pressing(when) -> threading.Thread:
    """Press Ctrl-C when something has come true."""

    def press():
        asyncio.run(until(when))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


@pytest.mark.parametrize("name", ["silent", "chatty"])
def test_an_interrupt_ends_the_servers_while_they_start_and_later(program, endpoint, model, name):
    declare(name)
    endpoint.script(model, Says("never", hold=True))
    thread = pressing(processes if name == "silent" else lambda: endpoint.requests(model))
    with pytest.raises(KeyboardInterrupt):
        agent_magics.run("Go.", mcp=name)
    assert processes() == []
    thread.join(PATIENCE)


@pytest.mark.parametrize("name", ["silent", "chatty"])
def test_in_an_event_loop_others_go_on_and_cancelling_ends_the_servers(
    program, endpoint, model, name
):
    declare(name)
    endpoint.script(model, Says("never", hold=True))

    async def main():
        task = asyncio.create_task(agent_magics.arun("Go.", mcp=name))
        # The loop goes on while the server starts: one of them never answers.
        await until(processes if name == "silent" else lambda: endpoint.requests(model))
        seen = processes()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen, processes()

    seen, left = asyncio.run(main())
    assert seen
    assert left == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_server_outlives_a_program_that_a_signal_ends(program, endpoint, model, number):
    declare("chatty", "deaf")
    endpoint.script(model, Says("never", hold=True))
    text = "import agent_magics\nagent_magics.run('Go.', mcp=['chatty', 'deaf'])\n"
    started = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE)
    assert endpoint.requests(model, 1)
    assert len(processes()) == 4
    started.send_signal(number)
    started.communicate(timeout=PATIENCE)
    asyncio.run(until(lambda: not processes()))


def test_two_at_once_have_servers_of_their_own(program, endpoint, model):
    declare("chatty")

    endpoint.answering(model, goes_once)

    async def main():
        both = [agent_magics.arun("Go.", mcp="chatty", policy=ALLOWED) for _ in range(2)]
        return await asyncio.gather(*both)

    assert [result.refused for result in asyncio.run(main())] == [(), ()]
    assert starts("chatty") == 2
    assert processes() == []


# -- many inputs


@pytest.mark.parametrize("pool", [False, True])
def test_all_items_share_servers_that_start_once_and_each_gets_its_own_answer(
    program, endpoint, model, pool
):
    declare("tester")
    seen: set[int] = set()

    def answer(request):
        seen.update(processes())
        told = [m["content"] for m in request["messages"] if m["role"] == "tool"]
        number = int(input_of(request))
        call = ("mcp__tester__add", {"a": number, "b": 1000})
        return Says(str(told[0])) if told else Says("", (call,))

    endpoint.answering(model, answer)
    options = {"mcp": "tester", "policy": ["allow mcp__tester__add"], "workers": 6}
    with ThreadPoolExecutor(6) as threads:
        more = {"executor": threads} if pool else {}
        result = agent_magics.map("Add.", range(24), **options, **more)
    assert not result.failed
    assert not result.refused
    for item in result:
        assert f"the sum is {1000 + item.input}" in item.text
    assert len(seen) == 2
    assert starts("tester") == 1
    assert processes() == []


def test_in_each_item_what_no_rule_allows_is_refused(program, endpoint, model):
    declare("chatty")

    endpoint.answering(model, goes_once)
    result = agent_magics.map("Go.", range(3), mcp=True)
    assert [call.by for call in result.refused] == ["nobody"] * 3


def test_an_item_without_a_server_that_it_needs_fails_before_it_asks(program, endpoint, model):
    # It dies in the first call, and cannot start again.
    once = "import os, sys; os.path.exists('no') and sys.exit(7); open('no', 'w').close()"
    words = ["-c", f"{once}; sys.argv[1:1] = ['-']; del sys.argv[1]\n"
             f"exec(open({str(HERE / 'mcp_server.py')!r}).read())", str(Path.cwd())]  # fmt: skip
    declare(tester={"command": sys.executable, "args": words})

    def answer(request):
        told = any(message["role"] == "tool" for message in request["messages"])
        return DONE if told else Says("", (("mcp__tester__die", {}),))

    endpoint.answering(model, answer)
    options = {"mcp": "tester", "policy": ["allow mcp__tester__die"], "workers": 1}
    result = agent_magics.map("Go.", range(3), **options)
    assert [item.status for item in result] == ["done", "failed", "failed"]
    assert "The MCP server tester did not start: its process ended" in result[1].error
    assert len(endpoint.requests(model)) == 2
    assert processes() == []


def test_an_interrupt_of_a_map_keeps_what_is_done_and_ends_the_servers(program, endpoint, model):
    declare("chatty")
    held = threading.Event()

    def answer(request):
        if input_of(request) == "0":
            return DONE
        held.set()
        return Says("never", hold=True)

    endpoint.answering(model, answer)
    thread = pressing(held.is_set)
    with pytest.raises(KeyboardInterrupt) as caught:
        agent_magics.map("Go.", range(4), mcp="chatty", workers=1)
    assert caught.value.result[0].text == "It is done."
    assert processes() == []
    thread.join(PATIENCE)


def test_workers_of_other_processes_have_no_servers_and_that_is_said(program, endpoint, model):
    declare("chatty")
    with ProcessPoolExecutor(1) as pool, pytest.raises(UsageProblem, match="goes with threads"):
        agent_magics.map("Go.", ["x"], executor=pool, mcp="chatty")
    assert starts("chatty") == 0


def test_what_a_server_is_told_in_secret_is_not_saved(program, endpoint, model, monkeypatch):
    monkeypatch.setenv("TOLD", "hunter22-hunter22")
    declare(tester=server("tester", env={"TOLD_TOKEN": "${TOLD}"}))

    def answer(request):
        told = any(message["role"] == "tool" for message in request["messages"])
        call = ("mcp__tester__environment", {})
        return Says("It is hunter22-hunter22.") if told else Says("", (call,))

    endpoint.answering(model, answer)
    options = {"mcp": "tester", "policy": ["allow mcp__tester__*"], "save": "answers.jsonl"}
    result = agent_magics.map("Go.", ["x"], **options)
    assert "TOLD=" in str(endpoint.told(model))
    assert "hunter22" not in str(endpoint.told(model))
    assert "hunter22" not in Path("answers.jsonl").read_text(encoding="utf-8")
    assert result[0].status == "done"
