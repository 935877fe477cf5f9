"""`agent_magics.run` and `arun`: one prompt of a program, with nobody there to ask."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import ModelError, SkillError, UsageProblem
from agent_magics.importing import alone, installed_only
from agent_magics.policy import Answer, Rule
from tests.lab_endpoint import PATIENCE, Says
from tests.mapkit import prompt_of
from tests.shellkit import skill

pytest_plugins = ["tests.mapkit_fixtures"]

WRITES = Says("", (("write", {"path": "a.txt", "content": "x\n"}),))
DONE = Says("It is done.")


def test_a_program_gets_the_turns_result_and_nothing_is_printed(program, endpoint, model, capfd):
    endpoint.script(model, Says("Forty-two."))
    result = agent_magics.run("What is the answer? {x} $y %s")
    assert (result.text, result.model, result.reason) == ("Forty-two.", model, "answered")
    (request,) = endpoint.requests(model)
    assert prompt_of(request) == "What is the answer? {x} $y %s"
    assert "does not come from a cell but from a program" in request["messages"][0]["content"]
    assert capfd.readouterr() == ("", "")


def test_what_asks_is_refused_and_the_program_sees_it(program, endpoint, model):
    endpoint.script(model, WRITES, DONE)
    result = agent_magics.run("Write it.")
    assert not Path("a.txt").exists()
    (refused,) = result.refused
    assert (refused.name, refused.by) == ("write", "nobody")
    assert "policy=['allow write']" in endpoint.told(model)[0]


@pytest.mark.parametrize("rule", ["allow write a.*", Rule("write", "allow", source="user")])
def test_a_rule_of_the_program_lets_a_call_run(program, endpoint, model, rule):
    endpoint.script(model, WRITES, DONE)
    result = agent_magics.run("Write it.", policy=[rule])
    assert Path("a.txt").read_text(encoding="utf-8") == "x\n"
    assert not result.refused


def test_a_denial_of_the_projects_file_wins_over_the_program(program, endpoint, model):
    Path(".agent_magics").mkdir()
    text = "policy: {deny: [write a.txt]}\n"
    Path(".agent_magics/config.yaml").write_text(text, encoding="utf-8")
    endpoint.script(model, WRITES, DONE)
    result = agent_magics.run("Write it.", policy=["allow write"])
    assert [call.outcome for call in result.refused] == ["denied"]
    assert not Path("a.txt").exists()


def test_the_users_file_gives_the_model_the_mode_and_the_rules(program, endpoint, model):
    config = "model: other-model\nmode: accept-edits\n"
    Path(os.environ["AGENT_MAGICS_CONFIG"]).write_text(config, encoding="utf-8")
    endpoint.script("other-model", WRITES, DONE)
    assert agent_magics.run("Write it.").model == "other-model"
    assert Path("a.txt").exists()


def test_a_function_may_answer_in_place_of_a_person_on_the_programs_own_thread(
    program, endpoint, model
):
    asked = []

    def approve(question):
        asked.append((question.call.name, threading.current_thread()))
        return Answer(False, reason="not today") if len(asked) == 1 else True

    endpoint.script(model, WRITES, WRITES, DONE)
    result = agent_magics.run("Write it.", approve=approve)
    assert asked == [("write", threading.current_thread())] * 2
    assert [call.outcome for call in result.calls] == ["refused", "done"]
    assert "not today" in json.dumps(endpoint.requests(model)[1]["messages"])
    assert Path("a.txt").exists()


def test_an_answer_that_is_none_is_not_taken_for_a_yes(program, endpoint, model):
    endpoint.script(model, WRITES, DONE)
    with pytest.raises(UsageProblem, match="True, False or an Answer"):
        agent_magics.run("Write it.", approve=lambda question: print("ok") or 1)
    assert not Path("a.txt").exists()


def test_what_the_function_raises_reaches_the_program(program, endpoint, model):
    endpoint.script(model, WRITES, DONE)
    with pytest.raises(ZeroDivisionError):
        agent_magics.run("Write it.", approve=lambda question: 1 / 0)


def test_it_works_in_a_running_event_loop_and_so_does_arun(program, endpoint, model):
    endpoint.script(model, Says("one"), WRITES, Says("two"))

    async def yes(question):
        await asyncio.sleep(0)
        return True

    async def main():
        first = agent_magics.run("First.")
        second = await agent_magics.arun("Second.", approve=yes)
        return first.text, second.text

    assert asyncio.run(main()) == ("one", "two")
    assert Path("a.txt").exists()


def test_cancelling_arun_ends_the_turn_and_hangs_up(program, endpoint, model):
    endpoint.script(model, Says("never", hold=True))

    async def main():
        task = asyncio.create_task(agent_magics.arun("Go."))
        await asyncio.to_thread(endpoint.requests, model, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert endpoint.hung_up(model)


def test_an_interrupt_ends_it_and_hangs_up(program, endpoint, model):
    endpoint.script(model, Says("never", hold=True))

    def press():
        endpoint.requests(model, 1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        agent_magics.run("Go.")
    assert endpoint.hung_up(model)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_provider_that_fails_is_one_clear_error(program, endpoint, model):
    endpoint.script(model, Says("no such thing", status=404))
    with pytest.raises(ModelError, match="no such thing"):
        agent_magics.run("Go.")


@pytest.mark.parametrize(
    ("prompt", "options", "said"),
    [
        ("", {}, "empty"),
        (7, {}, "a text, not int"),
        ("x", {"cwd": "nowhere"}, "not a folder"),
        ("x", {"cwd": 3}, "a path"),
        ("x", {"cwd": "a\0b"}, "cwd"),
        ("x", {"policy": "allow write"}, "takes a list"),
        ("x", {"policy": ["permit write"]}, "is no rule"),
        ("x", {"policy": ["allow"]}, "is no rule"),
        ("x", {"policy": [None]}, "texts and Rules"),
        ("x", {"mode": "yolo"}, "mode is one of"),
        ("x", {"approve": "yes"}, "a function"),
        ("x", {"tools": ["python"]}, "no tool python for programs"),
        ("x", {"tools": [3]}, "names, functions and Tools"),
        ("x", {"tools": [lambda a: a]}, "cannot be a tool's name"),
        ("x", {"skills": [3]}, "skills is a text"),
        ("x", {"model": 3}, "model is a text"),
        ("x", {"budget": -1}, "budget is a number"),
        ("x", {"max_seconds": float("nan")}, "max_seconds"),
        ("x", {"prices": {"in": 1}}, "prices has"),
    ],
)
def test_an_option_that_is_off_is_said_before_anything_is_sent(
    program, endpoint, model, prompt, options, said
):
    with pytest.raises(UsageProblem, match=said):
        agent_magics.run(prompt, **options)
    assert endpoint.requests(model) == []


def test_an_argument_that_does_not_exist_is_a_type_error_with_the_near_one(program):
    with pytest.raises(TypeError, match="did you mean 'skills'"):
        agent_magics.run("x", skill="explore")


def test_skills_are_loaded_and_narrow_the_tools(program, endpoint, model):
    endpoint.script(model, DONE)
    result = agent_magics.run("Look.", skills="explore")
    assert [name for name, _ in result.skills] == ["explore"]
    (request,) = endpoint.requests(model)
    assert [t["function"]["name"] for t in request["tools"]] == ["glob", "ls", "read"]
    with pytest.raises(SkillError, match="exploer"):
        agent_magics.run("Look.", skills=["exploer"])


def test_a_projects_skill_needs_trust_that_no_program_can_give(program, endpoint, model):
    skill(program / ".agents" / "skills", "local")
    with pytest.raises(SkillError, match="not trusted"):
        agent_magics.run("Go.", skills="local", approve=lambda question: True, mode="auto")


def test_without_a_live_kernel_there_is_no_python_tool(program, endpoint, model):
    endpoint.script(model, DONE)
    agent_magics.run("Go.")
    names = {t["function"]["name"] for t in endpoint.requests(model)[0]["tools"]}
    assert "python" not in names
    assert {"read", "write", "run_shell"} <= names


def test_a_function_of_the_program_is_a_tool_under_the_same_policy(program, endpoint, model):
    counted = []

    def count(workspace: Path, word: str) -> int:
        """Count a word."""
        counted.append((workspace, word))
        return 3

    calls = Says("", (("count", {"word": "tea"}),))
    endpoint.script(model, calls, DONE, calls, DONE)
    refused = agent_magics.run("Go.", tools=["read", count])
    assert [call.name for call in refused.refused] == ["count"]
    ran = agent_magics.run("Go.", tools=["read", count], policy=["allow count"])
    assert (counted, ran.calls[0].result) == ([(program, "tea")], "3")
    names = [t["function"]["name"] for t in endpoint.requests(model)[0]["tools"]]
    assert names == ["count", "read"]
    with pytest.raises(UsageProblem, match="Two tools would be named count"):
        agent_magics.run("Go.", tools=[count, count])


def test_the_folder_is_the_programs_choice(program, endpoint, model, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "here.txt").write_text("words", encoding="utf-8")
    endpoint.script(model, Says("", (("read", {"path": "here.txt"}),)), DONE)
    result = agent_magics.run("Read it.", cwd=other)
    assert "words" in result.calls[0].result


def test_a_configuration_that_is_off_is_a_warning_and_nothing_is_allowed(program, endpoint, model):
    Path(os.environ["AGENT_MAGICS_CONFIG"]).write_text("modle: x\n", encoding="utf-8")
    endpoint.script(model, WRITES, DONE)
    with pytest.warns(UserWarning, match="unknown key 'modle'"):
        result = agent_magics.run("Go.")
    assert len(result.refused) == 1


def test_with_show_the_turn_is_shown_on_the_terminal(program, endpoint, model, capfd):
    endpoint.script(model, WRITES, DONE)
    agent_magics.run("Go.", show=True)
    out = capfd.readouterr().out
    assert "It is done." in out
    assert "write a.txt" in out


def test_bounds_hold(program, endpoint, model):
    endpoint.script(model, *[Says("", (("ls", {"path": f"{i}"}),)) for i in range(9)])
    result = agent_magics.run("Go.", max_turns=3)
    assert result.reason == "limit"


def test_a_script_needs_no_ipython_shell_and_the_import_stays_light(program, endpoint, model):
    endpoint.script(model, Says("from a script"))
    code = (
        "import agent_magics, sys\n"
        "assert not [m for m in sys.modules if m.startswith(('agent_magics.', 'IPython'))]\n"
        "from agent_magics import run\n"
        "print(run('Go.').text)\n"
        "from IPython import get_ipython\n"
        "assert get_ipython() is None\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("from a script\n", "", 0)


def test_the_package_has_no_other_names(program):
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        _ = agent_magics.rum
    with pytest.raises(ImportError):
        exec("from agent_magics import rum")


def test_threads_that_import_at_once_give_the_path_back(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    before = list(sys.path)
    inside = threading.Barrier(2)
    left = threading.Event()

    def first():
        with installed_only():
            inside.wait(PATIENCE)
        left.set()

    def second():
        with installed_only():
            inside.wait(PATIENCE)
            left.wait(PATIENCE)
            seen.append("" in sys.path)

    seen: list[bool] = []
    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert seen == [False]
    assert sys.path == before


def test_work_that_changes_the_process_is_alone_and_may_import_itself(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    before = list(sys.path)
    closed, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def importing():
        with installed_only():
            closed.set()
            assert leave.wait(PATIENCE)
            order.append("imported")

    def changing():
        assert closed.wait(PATIENCE)
        leave.set()
        with alone(), installed_only(), alone():
            order.append("" if "" in sys.path else "alone")

    threads = [threading.Thread(target=work) for work in (importing, changing)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["imported", "alone"]
    assert sys.path == before
