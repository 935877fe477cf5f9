"""What breaks in on a running cell: interrupts, a restart, a reload. The next cell always works."""

from __future__ import annotations

import pytest

from tests.environments import KERNELS
from tests.lab_endpoint import Says

pytestmark = [pytest.mark.browser, pytest.mark.kernel]
each_kernel = pytest.mark.parametrize("version", KERNELS)

ASK = "%%agent\nCompute the answer."
AGAIN = "%%agent\nGo on."
AFTER = "print('AFTER', globals().get('answer'))"
SETS = Says("I compute it.", (("python", {"code": "answer = 6 * 7"}),))
DONE = Says("The turn is over.")


def ran(page, cell: int) -> bool:
    """Whether a cell has run; runs it until it has: what is queued goes with an interrupt."""
    if page.prompt(cell) == "[ ]:":
        page.run(cell)
    return page.prompt(cell) not in ("[ ]:", "[*]:")


@each_kernel
def test_an_interrupt_with_a_card_open_ends_the_cell_and_the_talk_goes_on(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, DONE], [ASK, "print('QUEUED')", AFTER, AGAIN])
    page.run(1, 2)
    page.armed(1, "Approve")
    page.select(1)
    page.press("i i")
    page.wait_text(1, "AgentInterrupted")
    assert page.button(1, "Approve").count() == 0
    page.done(3, 4)
    assert "QUEUED" not in page.text(2), "Run All goes on behind an interrupted cell"
    assert page.text(3).strip() == "AFTER None"
    assert "The turn is over." in page.text(4)
    messages = endpoint.requests(model, 2)[-1]["messages"]
    assert [m["role"] for m in messages if m["role"] != "system"][:4] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@each_kernel
def test_an_interrupt_while_the_answer_streams_hangs_up_and_keeps_what_came(
    talk, endpoint, model, version
):
    words = "These words come first. And these would follow later on."
    page = talk(version, [Says(words, hold=True), DONE], [ASK, AGAIN])
    page.run(1)
    page.wait_text(1, "These words come first.")
    page.select(1)
    page.press("i i")
    page.wait_text(1, "AgentInterrupted")
    assert endpoint.hung_up(model)
    assert "These words come first." in page.text(1)
    page.done(2)
    assert "The turn is over." in page.text(2)
    said = endpoint.requests(model, 2)[-1]["messages"]
    assert any("These words come first." in str(message["content"]) for message in said)


@each_kernel
def test_an_interrupt_stops_code_that_the_agent_runs_in_the_kernel(talk, endpoint, model, version):
    forever = Says(calls=(("python", {"code": "print('ROUND')\nwhile True: pass"}),))
    page = talk(version, [forever, DONE], ["%agent allow python", ASK, AFTER, AGAIN])
    page.done(1)
    page.run(2)
    page.wait_text(2, "running")
    page.select(2)
    page.press("i i")
    page.wait_text(2, "AgentInterrupted")
    page.done(3, 4)
    assert "The turn is over." in page.text(4)


@each_kernel
def test_a_kernel_restart_with_a_card_open_leaves_a_notebook_that_works_again(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, SETS, DONE], [ASK, AFTER])
    page.run(1)
    page.armed(1, "Approve")
    page.restart()
    page.done(0)
    page.run(1, 2)
    page.click(1, "Approve")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "AFTER 42"


@each_kernel
def test_a_page_that_was_reloaded_with_a_card_open_can_interrupt_and_go_on(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, SETS, DONE], [ASK, AFTER], own_page=True)
    page.run(1)
    page.armed(1, "Approve")
    page.save()
    page.reload()
    page.screenshot(f"reloaded-{version}")
    page.command("notebook:interrupt-kernel")
    page.until(lambda: ran(page, 2), lambda: f"cell 2 to run, not {page.prompt(2)}")
    assert page.text(2).strip() == "AFTER None"
    page.run(1, 2)
    page.click(1, "Approve")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "AFTER 42"


@each_kernel
def test_a_card_that_was_saved_is_back_after_a_reload_and_its_click_counts(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, DONE], [ASK, AFTER], own_page=True)
    page.run(1)
    page.armed(1, "Approve")
    page.save()
    page.reload()
    page.click(1, "Approve")
    page.done(2)
    assert page.text(2).strip() == "AFTER 42"
