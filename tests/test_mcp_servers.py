"""Local MCP servers: started when needed, and with every fault a tool error that says so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.messages import Assistant
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.skill import Skill
from agent_magics.tool import effective_tools
from agent_magics.tools.mcp.logfile import LARGEST, LogFile
from agent_magics.tools.mcp.specs import server_spec
from tests.mcpkit import Listed, alive, faulty, honest, needs_sdk, running, until, with_servers
from tests.turns import Person, Scene, Spy, call, calls

pytestmark = needs_sdk


# -- what works


def test_a_servers_tools_are_called_and_answer(tmp_path):
    async def work(rig):
        assert rig.told == ["starting MCP servers: tester"]
        assert rig.tools["mcp__tester__add"].parameters["required"] == ["a", "b"]
        added = await rig.call("mcp__tester__add", a=1, b=2)
        failed = await rig.call("mcp__tester__fail")
        picture = await rig.call("mcp__tester__picture")
        pieces = await rig.call("mcp__tester__pieces")
        measured = await rig.call("mcp__tester__measured")
        return added, failed, picture, pieces, measured

    added, failed, picture, pieces, measured = with_servers(tmp_path, work, honest())
    assert "the sum is 3" in added.text
    assert added.ok
    assert not failed.ok
    assert [image.media_type for image in picture.images] == ["image/png"]
    assert "an embedded note" in pieces.text
    assert "audio/wav" in pieces.text
    assert "file:///log.txt" in pieces.text
    assert '"height": 7' in measured.text


def test_nothing_is_started_before_a_cell_needs_it(tmp_path):
    with running(tmp_path, honest()) as rig:
        assert rig.tools == {}
        assert rig.servers.state("tester").word == "not started"
    assert not (tmp_path / "logs").exists()


def test_a_server_that_is_switched_off_is_not_started_and_one_that_runs_is_ended(tmp_path):
    async def work(rig):
        rig.listed.disabled.add("tester")
        await rig.ready()
        return rig.tools

    assert with_servers(tmp_path, work, honest()) == {}


def test_a_changed_declaration_replaces_the_server(tmp_path):
    async def work(rig):
        before = await rig.call("mcp__tester__environment")
        rig.listed.specs[0] = honest(env={"EXTRA": "1"})
        await rig.ready()
        return before.text, (await rig.call("mcp__tester__environment")).text

    before, after = with_servers(tmp_path, work, honest())
    assert "EXTRA" not in before
    assert "EXTRA" in after


def test_progress_is_shown_and_an_interrupt_is_told_to_the_server(tmp_path):
    async def work(rig):
        log = rig.servers.log("tester")
        task = asyncio.create_task(rig.call("mcp__tester__slow", seconds=600))
        await until(lambda: "slow: begun" in log.tail() and rig.reported)
        task.cancel()
        await asyncio.wait([task])
        await until(lambda: "slow: cancelled" in log.tail())
        return await rig.call("mcp__tester__add", a=2, b=2)

    rig_output = with_servers(tmp_path, work, honest())
    assert "the sum is 4" in rig_output.text


def test_a_list_that_changes_is_read_again(tmp_path):
    async def work(rig):
        assert "mcp__tester__grown" not in rig.tools
        await rig.call("mcp__tester__grow")
        await until(lambda: "mcp__tester__grown" in rig.tools)
        return await rig.call("mcp__tester__grown")

    assert "grown" in with_servers(tmp_path, work, honest()).text


def test_resources_are_listed_and_read_with_one_tool(tmp_path):
    async def work(rig):
        listing = await rig.call("mcp_read_resource", server="tester")
        return listing, await rig.call("mcp_read_resource", server="tester", uri="note://today")

    listing, note = with_servers(tmp_path, work, honest())
    assert "note://today" in listing.text
    assert "feed the cat" in note.text


def test_prompts_are_offered_with_their_arguments(tmp_path):
    async def work(rig):
        listed = await rig.servers.prompts("tester")
        return listed, await rig.servers.prompt("tester", "review", {"path": "a.py"})

    listed, reply = with_servers(tmp_path, work, honest())
    assert [(item.name, item.arguments) for item in listed] == [("review", (("path", True),))]
    assert reply.parts[0].text == "Please review a.py."


def test_a_server_gets_little_of_the_environment_and_what_it_names(tmp_path):
    variables = {**os.environ, "OPENAI_API_KEY": "sk-secret", "MINE": "told-value"}
    spec = honest(env={"TOLD_TOKEN": "${MINE}"})

    async def work(rig):
        answer = await rig.call("mcp__tester__environment")
        return answer, rig.servers.secrets()

    answer, secrets = with_servers(tmp_path, work, spec, variables=variables)
    assert "OPENAI_API_KEY" not in answer.text
    assert "TOLD=told-value" in answer.text
    assert secrets == ("TOLD_TOKEN=told-value",)


def test_a_tool_that_is_called_like_a_built_in_one_does_not_replace_it(tmp_path):
    async def work(rig):
        return effective_tools([Spy("write", "write").tool, *rig.tools.values()], ())

    tools = {tool.name: tool for tool in with_servers(tmp_path, work, honest())}
    assert tools["write"].effect == "write"
    assert tools["mcp__tester__write"].effect == "mcp"


# -- policy and skills


def test_a_call_of_a_server_asks_and_shows_who_gets_it(tmp_path):
    async def work(rig):
        scene = Scene(
            [calls(call("mcp__tester__add", a=1, b=2)), Assistant("Done.")],
            tuple(rig.tools.values()),
            [Answer(True)],
        )
        await scene.asking()
        return scene

    scene = with_servers(tmp_path, work, honest())
    (question,) = scene.person.asked
    assert question.origin == "MCP server tester"
    assert "only reads. Nothing vouches for that" in question.preview[0].text
    assert question.title == 'mcp__tester__add {"a": 1, "b": 2}'
    assert "the sum is 3" in scene.session.last.calls[0].result


def test_a_whitelist_of_a_skill_hides_servers_like_every_other_tool(tmp_path):
    async def work(rig):
        tools = tuple(rig.tools.values())
        reader = Skill("reader", tools=("read",))
        one = Skill("one", tools=("mcp__tester__add",))
        denied = Policy((Rule("mcp__tester__*", "deny"),))
        return (
            effective_tools(tools, (reader,)),
            [tool.name for tool in effective_tools(tools, (one,))],
            [tool.name for tool in effective_tools(tools, (), policy=denied)],
        )

    hidden, one, denied = with_servers(tmp_path, work, honest())
    assert hidden == ()
    assert one == ["mcp__tester__add"]
    assert denied == ["mcp_read_resource"]


def test_a_projects_skill_shows_with_a_glob_what_is_there_and_nothing_that_it_may_not(tmp_path):
    async def work(rig):
        tools = (Spy("read").tool, Spy("write", "write").tool, *rig.tools.values())
        wish = Skill("wish", tools=("read", "mcp__*"), origin="project")
        narrow = Skill("narrow", tools=("mcp__tester__*",))
        denied = Policy((Rule("mcp__tester__die", "deny", source="user"),))
        scene = Scene(
            [calls(call("mcp__tester__add", a=1, b=2)), Assistant("Done.")],
            effective_tools(tools, (wish,)),
            skills=(wish,),
        )
        await scene.asking()
        return (
            {tool.name for tool in effective_tools(tools, (wish,))},
            {tool.name for tool in effective_tools(tools, (wish, narrow))},
            {tool.name for tool in effective_tools(tools, (wish,), policy=denied)},
            {tool.name for tool in effective_tools(tools, (wish,), disabled=["mcp__tester__add"])},
            [question.call.name for question in scene.person.asked],
            set(rig.tools) - {"mcp_read_resource"},
        )

    wish, both, denied, disabled, asked, served = with_servers(tmp_path, work, honest())
    assert wish == {"read"} | served
    assert both == served
    assert denied == wish - {"mcp__tester__die"}
    assert disabled == wish - {"mcp__tester__add"}
    assert asked == ["mcp__tester__add"]


# -- questions of a server


def answer_of(output):
    return json.loads(output.text.split("\n")[1])


def test_a_question_of_a_server_goes_to_the_person_with_its_fields(tmp_path):
    async def work(rig):
        rig.approver = Person([Answer(True, arguments='{"name": "Ada", "age": "36"}')])
        return rig.approver, await rig.call("mcp__asks__go")

    person, output = with_servers(tmp_path, work, faulty("asks"))
    (question,) = person.asked
    assert "The MCP server asks asks:\nYour name?" in question.preview[0].text
    assert json.loads(question.call.arguments) == {"name": ""}
    assert question.outside  # neither an option nor a reviewer model answers it
    assert answer_of(output) == {"action": "accept", "content": {"name": "Ada", "age": 36}}


@pytest.mark.parametrize(
    ("answers", "action"),
    [
        ([Answer(False)], "decline"),
        ([Answer(False, "nobody")], "cancel"),
        ([Answer(True, arguments='{"age": "x"}'), Answer(False)], "decline"),
        ([Answer(True, arguments='{"age": "x"}')] * 9, "cancel"),
    ],
)
def test_a_question_that_is_not_answered_is_declined(tmp_path, answers, action):
    async def work(rig):
        rig.approver = Person(list(answers))
        return await rig.call("mcp__asks__go")

    assert answer_of(with_servers(tmp_path, work, faulty("asks"))) == {"action": action}


def test_without_anybody_to_ask_a_question_is_declined(tmp_path):
    async def work(rig):
        return await rig.call("mcp__asks__go")

    assert answer_of(with_servers(tmp_path, work, faulty("asks"))) == {"action": "decline"}


def test_the_time_in_which_the_person_is_asked_does_not_count_as_the_servers(tmp_path):
    class Slow:
        async def ask(self, question):
            await asyncio.sleep(1.5)  # longer than the call's time-out: that is what is tested
            return Answer(True, arguments='{"name": "Ada"}')

    async def work(rig):
        rig.approver = Slow()
        return await rig.call("mcp__asks__go")

    output = with_servers(tmp_path, work, faulty("asks", timeout=1))
    assert answer_of(output)["action"] == "accept"


def test_an_interrupt_takes_an_open_question_back(tmp_path):
    class Waiting:
        def __init__(self):
            self.asked = asyncio.Event()
            self.gone = asyncio.Event()

        async def ask(self, question):
            self.asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.gone.set()

    async def work(rig):
        rig.approver = Waiting()
        task = asyncio.create_task(rig.call("mcp__asks__go"))
        await rig.approver.asked.wait()
        task.cancel()
        await asyncio.wait([task])
        await asyncio.wait_for(rig.approver.gone.wait(), 10)

    with_servers(tmp_path, work, faulty("asks"))


def test_a_server_may_not_ask_our_model(tmp_path):
    async def work(rig):
        return await rig.call("mcp__samples__go")

    assert "Sampling not supported" in with_servers(tmp_path, work, faulty("samples")).text


def test_an_interrupt_while_servers_start_leaves_them_starting(tmp_path):
    async def main(rig):
        waiting = asyncio.create_task(rig.ready())
        await until(lambda: rig.servers.state("late").word == "starting")
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        await rig.ready()
        return sorted(rig.tools)

    with running(tmp_path, faulty("late", "2")) as rig:
        assert asyncio.run(main(rig)) == ["mcp__late__go"]


# -- faults


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("dead", "its process ended (exit status 7)"),
        ("silent", "it did not answer within 2 s"),
        ("babbles", "of text where only messages may stand"),
        ("old", "Unsupported protocol version"),
    ],
)
def test_a_server_that_does_not_come_up_says_why_and_the_others_do(tmp_path, fault, words):
    seconds = 2 if fault == "silent" else 30

    async def work(rig):
        return rig.told, sorted(rig.tools)

    specs = (faulty(fault, startup_timeout=seconds), faulty("chatty"))
    told, tools = with_servers(tmp_path, work, *specs)
    assert any(words in line for line in told), told
    assert tools == ["mcp__chatty__go"]


def test_a_program_that_is_not_there_is_said_before_anything_is_waited_for(tmp_path):
    spec = server_spec("x", {"command": "no-such-program-anywhere"}, "user")
    elsewhere = server_spec("y", {"command": sys.executable, "cwd": "gone"}, "user")

    async def work(rig):
        return rig.told

    told = "\n".join(with_servers(tmp_path, work, spec, elsewhere))
    assert "no program 'no-such-program-anywhere' on the PATH" in told
    assert "does not exist" in told


def test_a_failed_server_is_not_tried_again_with_each_cell(tmp_path):
    async def work(rig):
        rig.told.clear()
        await rig.ready()
        return rig.told

    assert with_servers(tmp_path, work, faulty("dead")) == []


def test_what_a_server_writes_beside_its_messages_is_logged_and_harms_nothing(tmp_path):
    async def work(rig):
        output = await rig.call("mcp__floods__go")
        return output, (await rig.call("mcp__chatty__go")), rig.servers

    output, chatty, servers = with_servers(tmp_path, work, faulty("floods"), faulty("chatty"))
    assert "gone" in output.text
    assert "gone" in chatty.text
    assert "[stdout] Welcome to this server!" in servers.log("chatty").tail()
    sizes = [path.stat().st_size for path in (tmp_path / "logs").iterdir()]
    assert max(sizes) <= LARGEST
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "logs").iterdir()} == {0o600}


def test_a_server_that_dies_in_a_call_is_started_once_more(tmp_path):
    async def work(rig):
        with pytest.raises(ToolError, match=r"exit status 3.*effects is not known.*again with"):
            await rig.call("mcp__tester__die")
        assert "the sum is 3" in (await rig.call("mcp__tester__add", a=1, b=2)).text
        with pytest.raises(ToolError, match="again with the next call"):
            await rig.call("mcp__tester__die")
        with pytest.raises(ToolError, match="not started again by itself"):
            await rig.call("mcp__tester__die")
        with pytest.raises(ToolError, match=r"is not there.*%agent mcp restart tester"):
            await rig.call("mcp__tester__add", a=1, b=2)
        await rig.servers.restart("tester")
        return await rig.call("mcp__tester__add", a=3, b=3)

    assert "the sum is 6" in with_servers(tmp_path, work, honest()).text


def test_a_turn_goes_on_when_a_server_dies(tmp_path):
    async def work(rig):
        scene = Scene(
            [calls(call("mcp__tester__die")), Assistant("I go on without it.")],
            tuple(rig.tools.values()),
            policy=Policy((Rule("mcp__tester__*", "allow"),)),
        )
        return await scene.asking()

    result = with_servers(tmp_path, work, honest())
    assert result.text == "I go on without it."
    assert result.calls[0].outcome == "failed"


def test_a_call_that_takes_too_long_is_cancelled(tmp_path):
    async def work(rig):
        with pytest.raises(ToolError, match=r"did not answer within 1 s; the call was cancelled"):
            await rig.call("mcp__hangs__go")

    with_servers(tmp_path, work, faulty("hangs", timeout=1))


def test_a_giant_answer_is_passed_over_and_the_server_goes_on(tmp_path):
    async def work(rig):
        with pytest.raises(ToolError, match=r"too long: 100\.0 MB, at most 20\.0 MB"):
            await rig.call("mcp__tester__giant", megabytes=100)
        return await rig.call("mcp__tester__giant", megabytes=5)

    output = with_servers(tmp_path, work, honest())
    assert "5,000,000 characters" in output.text


def test_an_answer_that_breaks_the_protocol_is_an_error(tmp_path):
    async def work(rig):
        with pytest.raises(ToolError, match="breaks the protocol"):
            await rig.call("mcp__malformed__go")

    with_servers(tmp_path, work, faulty("malformed"))


def test_bad_schemas_and_names_cost_only_what_cannot_be_mended(tmp_path):
    async def work(rig):
        return rig.tools

    tools = with_servers(tmp_path, work, faulty("bad"))
    assert {"mcp__bad__fine", "mcp__bad__untyped", "mcp__bad__refers"} <= set(tools)
    assert len(tools) == 9
    assert all(len(name) <= 64 for name in tools)


def test_three_hundred_tools_are_all_there_for_find_tools(tmp_path):
    async def work(rig):
        return rig.tools

    assert len(with_servers(tmp_path, work, faulty("many"))) == 300


# -- the end


def test_closing_ends_the_processes_of_all_servers(tmp_path):
    pids: list[int] = []
    others = _children()

    async def work(rig):
        pids.extend(pid for pid in _children() if pid not in others)

    with_servers(tmp_path, work, honest(), faulty("hangs"))
    assert len(pids) >= 2
    assert not [pid for pid in pids if alive(pid)]


def test_what_was_ended_is_not_started_again(tmp_path):
    async def work(rig):
        go = rig.tools["mcp__chatty__go"]
        await asyncio.to_thread(rig.servers.close)
        with pytest.raises(ToolError, match="servers were ended"):
            await rig.ready()
        with pytest.raises(ToolError, match="not there any more"):
            await go.run({}, rig.reported.append)

    with_servers(tmp_path, work, faulty("chatty"))


def _children(parent: int | None = None) -> list[int]:
    parent = parent or os.getpid()
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_no_server_outlives_a_kernel_that_is_killed(tmp_path):
    program = f"""
import asyncio, os, pathlib, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from tests.mcpkit import faulty, running
with running(pathlib.Path({str(tmp_path)!r}), faulty("hangs"), faulty("deaf")) as rig:
    asyncio.run(rig.ready())
    print("ready", flush=True)
    sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    guards = _children(process.pid)
    servers = [pid for guard in guards for pid in _children(guard)]
    assert len(servers) == 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    asyncio.run(until(lambda: not any(alive(pid) for pid in (*guards, *servers))))
    process.stdin.close()
    process.stdout.close()


def test_a_log_has_a_bound_and_keeps_its_end(tmp_path):
    log = LogFile(tmp_path / "x.log", lambda: 0.0)
    for number in range(300):
        log.write(f"{number} {'x' * 9000}\n".encode())
    assert log.path.stat().st_size <= LARGEST
    assert log.older.stat().st_size <= LARGEST
    log.note("the end")
    assert log.tail().endswith("the end\n")
    assert Listed([]).declared().specs == ()
