"""Interrupts in a real kernel, at every kind of moment: the cell ends, and the next one works."""

from __future__ import annotations

import json
import random

import pytest

from tests.kernelkit import FrontEnd

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


def test_an_interrupt_with_a_card_open_closes_the_card_and_keeps_a_record(page):
    cell = page.run("%%stage\nawait p.approver.ask(question())")
    page.card(cell)
    page.button("Approve")
    page.interrupt()
    page.finish(cell)
    assert cell.error == "AgentInterrupted"
    assert set(cell.displays[0]["data"]) == {"text/html", "text/plain"}
    assert cell.displays[0]["metadata"]["agent_magics"]["by"] == "interrupt"
    page.wait(lambda: not page.models, "the end of the widgets")
    assert works(page)


def test_the_error_is_one_line(page):
    cell = interrupted(page, "print('up', flush=True)\nawait asyncio.Event().wait()")
    (line,) = cell.reply["traceback"]
    assert "AgentInterrupted" in line
    assert "the next cell can go on" in line


def test_an_interrupt_stops_run_all(page):
    cell = page.run("%%stage\nprint('up', flush=True)\nawait asyncio.Event().wait()")
    behind = page.run("print('must not run')")
    page.wait(lambda: "up" in cell.text, "the start")
    page.interrupt()
    page.finish(cell)
    page.finish(behind)
    assert behind.reply["status"] in ("aborted", "error")
    assert behind.outputs == []
    assert works(page)


def test_an_interrupt_stops_user_code_and_the_turn(page):
    cell = interrupted(
        page,
        "await p.kernel.run_code(\"print('up', file=get_ipython().kernel._stdout, flush=True)"
        '\\nwhile True: pass")\n'
        "print('went on')",
    )
    assert "went on" not in cell.text
    assert works(page)


def test_an_interrupt_stops_awaited_user_code_and_the_turn(page):
    cell = interrupted(
        page,
        "code = 'import asyncio\\ntry:\\n"
        "    print(1, file=get_ipython().kernel._stdout, flush=True)\\n"
        "    await asyncio.sleep(1000)\\nfinally:\\n    cleaned = True'\n"
        "await p.kernel.run_code(code)\nprint('went on')",
        sign="1",
    )
    assert "went on" not in cell.text
    assert page.do("cleaned").result == "True"
    out = page.do("%%stage\nreturn (await p.kernel.run_code('await asyncio.sleep(0, 5)')).value")
    assert out.result == "'5'"


def test_an_interrupt_reaches_a_typed_question(page):
    cell = page.run("%%stage approvals='prompt'\nawait p.approver.ask(question())")
    page.wait(lambda: page.inputs, "an input box")
    page.interrupt()
    page.finish(cell)
    assert cell.error == "AgentInterrupted"
    assert cell.displays[0]["metadata"]["agent_magics"]["by"] == "interrupt"
    page.inputs.clear()
    assert works(page)


def test_a_blocked_tool_is_left_behind_and_the_next_agent_cell_says_so_until_it_ends(page):
    page.do("let_go = False")
    cell = interrupted(page, "print('up', flush=True)\nwhile not shell.user_ns['let_go']: pass")
    assert "winding down" in cell.reply["evalue"]
    assert page.do("1 + 1").result == "2"
    refused = page.do("%%stage\nreturn 1")
    assert refused.error == "AgentMagicsError"
    assert "winding down" in refused.reply["evalue"]
    page.do("let_go = True")
    assert works(page)


def test_what_was_shown_last_before_an_interrupt_stays(page):
    cell = interrupted(
        page,
        "p.renderer.show(TextDelta('a first part'))\n"
        "for n in range(50): p.renderer.show(TextDelta(f' word{n}'))\n"
        "print('up', flush=True)\nawait asyncio.Event().wait()",
    )
    assert "word49" in cell.text


def test_fifty_interrupts_at_random_moments_leave_a_kernel_that_works(page):
    """The seed is printed with a failure, so that it can be run again."""
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    script = (
        "%%stage\n"
        "print('up', flush=True)\n"
        "for n in range(1000):\n"
        "    p.renderer.show(TextDelta('text ' * 20))\n"
        "    await p.kernel.run_code('print(1); x = [0] * 1000; x[0]')\n"
        "    asking = asyncio.ensure_future(p.approver.ask(question()))\n"
        "    await asyncio.sleep(0.02)\n"
        "    asking.cancel()\n"
        "    await asyncio.wait([asking])\n"
    )
    for _ in range(50):
        cell = page.run(script)
        page.wait(lambda c=cell: "up" in c.text, "the start")
        page.take_for(chance.uniform(0, 0.3))
        page.interrupt()
        page.finish(cell)
        assert cell.error == "AgentInterrupted", (seed, cell.text)
        assert works(page), seed
    page.wait(lambda: not page.models, "the end of the widgets")


def interrupted(page: FrontEnd, body: str, sign: str = "up"):
    """Run a body, interrupt it when it has printed a sign, and wait for the end."""
    cell = page.run(f"%%stage\n{body}")
    page.wait(lambda: sign in cell.text or cell.done, "the start")
    page.interrupt()
    page.finish(cell)
    assert cell.error == "AgentInterrupted", cell.text
    return cell


def works(page: FrontEnd) -> bool:
    """Whether printing, values, input() and agent cells are as they should be."""
    checks = page.do(
        "import builtins, sys, json\nprint('printed')\n"
        "json.dumps([type(sys.stdout).__name__, type(sys.displayhook).__name__, "
        "builtins.input.__name__, 'showtraceback' in vars(get_ipython())])"
    )
    assert "printed" in checks.text
    assert json.loads(eval(checks.result)) == [
        "OutStream",
        "ZMQShellDisplayHook",
        "raw_input",
        False,
    ]
    return page.do("%%stage\nreturn (await p.kernel.run_code('6 * 7')).value").result == "'42'"
