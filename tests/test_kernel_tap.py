"""The tap on a real kernel's shell channel: what it takes and lets pass, how it comes and goes."""

from __future__ import annotations

import pytest

from tests.kernelkit import FrontEnd, Kernel

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel

RECEIVER = "get_ipython().kernel.shell_stream._recv_callback.__self__"
FOREIGN_SLIDER = """
import ipywidgets
slider = ipywidgets.IntSlider(max=1000)
moves = []
slider.observe(lambda change: moves.append(change['new']), 'value')
"""


def state(page: FrontEnd) -> dict:
    return eval(page.do("%stage_state").result)


def receiver(page: FrontEnd) -> str:
    """What kind of object the shell stream's messages go to."""
    code = "type(getattr(get_ipython().kernel.shell_stream._recv_callback, '__self__', None))"
    return eval(page.do(f"{code}.__name__").result)


def test_it_works_from_the_moment_that_the_extension_is_loaded(page):
    assert state(page)["tap"] == "working"
    assert receiver(page) == "CommTap"


def test_a_second_installation_changes_nothing(page):
    before = page.do(f"id({RECEIVER})").result
    page.do("%stage_install")
    assert page.do(f"id({RECEIVER})").result == before
    assert page.do(f"{RECEIVER}.users").result == "1"


def test_two_extensions_share_one_tap_and_the_last_one_takes_it_away(page):
    page.do("from agent_magics.frontends.stage import Stage; other = Stage(get_ipython())")
    page.do("before = id(" + RECEIVER + "); other.install()")
    assert page.do(f"before == id({RECEIVER}), {RECEIVER}.users").result == "(True, 2)"
    page.do("other.close()")
    assert receiver(page) == "CommTap"
    page.do("%stage_close")
    assert receiver(page) != "CommTap"
    assert page.do("1 + 1").result == "2"
    page.do("%stage_install")
    assert receiver(page) == "CommTap"


def test_a_tap_of_another_copy_of_the_package_is_found(page):
    """As after a reload of the modules: the class is another one then."""
    code = f"""
import sys
kept = {{name: sys.modules.pop(name) for name in list(sys.modules) if 'agent_magics' in name}}
from agent_magics.frontends.tap import tapped, released
tap = tapped(get_ipython().kernel)
found = tap is {RECEIVER}
released(tap)
sys.modules.update(kept)
found, {RECEIVER}.users
"""
    assert page.do(code).result == "(True, 1)"


def test_clicks_work_again_after_a_reload_of_the_extension(page):
    page.do("%stage_close\n%stage_install")
    cell = page.run("%%stage\nreturn (await p.approver.ask(question())).by")
    page.card(cell)
    page.click("Approve")
    assert page.finish(cell).result == "'click'"


def test_a_tap_that_was_pushed_aside_puts_itself_back(page):
    page.do(
        "stream = get_ipython().kernel.shell_stream; ours = stream._recv_callback\n"
        "def pushed(frames): return ours(frames)\n"
        "stream._recv_callback = pushed"
    )
    cell = page.run("%%stage\nreturn (await p.approver.ask(question())).by")
    page.card(cell)
    page.click("Approve")
    assert page.finish(cell).result == "'click'"
    assert state(page)["tap"] == "working"
    page.do("%stage_close\nstream._recv_callback = ours.__self__._original or ours\n%stage_install")
    assert page.do("1 + 1").result == "2"


def test_messages_of_other_widgets_pass_in_order_and_wait_for_the_cell(page):
    page.do(FOREIGN_SLIDER)
    slider = page.wait(lambda: page.model("IntSliderModel"), "the user's slider")
    cell = page.run(
        "%%stage\nawait p.approver.ask(question())\nreturn list(shell.user_ns['moves'])"
    )
    page.card(cell)
    for value in range(1, 6):
        page.set(slider, value=value)
    behind = page.run("moves")
    for value in range(6, 11):
        page.set(slider, value=value)
    last = page.run("moves")
    page.click("Approve")
    for each in (cell, behind, last):
        page.finish(each)
    assert cell.result == "[]"
    assert behind.result == "[1, 2, 3, 4, 5]"
    assert last.result == "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    page.do("slider.close(); slider.layout.close(); slider.style.close()")


def test_queued_cells_run_after_the_cell_in_their_order_each_once(page):
    page.do("ran = []")
    cell = page.run(
        "%%stage\nawait p.approver.ask(question())\nshell.user_ns['ran'].append('cell')"
    )
    behind = [page.run(f"ran.append({n})") for n in range(8)]
    page.card(cell)
    page.click("Approve")
    for each in (cell, *behind):
        page.finish(each)
    assert page.do("ran").result == "['cell', 0, 1, 2, 3, 4, 5, 6, 7]"


def test_many_clicks_in_one_cell_all_arrive(page):
    cell = page.run(
        "%%stage\nanswers = [await p.approver.ask(question(f'write {n}')) for n in range(12)]\n"
        "return sum(a.allowed for a in answers)"
    )
    for number in range(12):
        page.wait(lambda n=number: f"write {n}\n" in cell.text, f"question {number}")
        page.click("Approve")
        page.wait(lambda n=number: f"write {n}\n" not in cell.text, f"the record of {number}")
    assert page.finish(cell).result == "12"


def test_a_message_with_a_false_signature_is_not_a_click(page):
    cell = page.run("%%stage\nreturn (await p.approver.ask(question())).allowed")
    page.card(cell)
    button = page.button("Approve")
    key, page.client.session.key = page.client.session.key, b"not the key"
    page.press(button)
    page.client.session.key = key
    page.click("Deny…")
    page.click("Deny")
    assert page.finish(cell).result == "False"


def test_an_extension_that_a_profile_loads_gets_its_tap_with_the_first_cell():
    kernel = Kernel(["--IPKernelApp.extra_extensions=kernelkit_extension"])
    try:
        with kernel.page() as page:
            cell = page.run("%%stage\nreturn (await p.approver.ask(question())).by")
            page.card(cell)
            page.click("Approve")
            assert page.finish(cell).result == "'click'"
    finally:
        kernel.close()


def test_a_page_that_loads_while_a_question_is_open_gets_the_card_and_its_click_counts(kernel):
    with kernel.page() as first:
        first.do(FOREIGN_SLIDER)
        cell = first.run("%%stage\nreturn (await p.approver.ask(question())).by")
        box = first.card(cell)
        first.button("Approve")
        second = FrontEnd(kernel)  # asks who the kernel is, and gets an answer
        try:
            assert box in second.known_comms()
            second.load_widgets()
            assert second.models[box]["_view_count"] == 1
            second.set(box, _view_count=2)
            second.press(second.model("ButtonModel", description="Approve"))
            assert first.finish(cell).result == "'click'"
            queued = second.run("1 + 1")
            assert second.finish(queued).result == "2"
        finally:
            second.close()
        first.do("slider.close(); slider.layout.close(); slider.style.close()")


def test_questions_of_a_page_wait_as_ever_while_a_cell_runs_without_a_card(page):
    cell = page.run(
        "%%stage\nprint('up', flush=True)\nwhile not shell.user_ns.get('go'):"
        " await asyncio.sleep(0.01)"
    )
    page.wait(lambda: "up" in cell.text, "the start")
    asked = page.ask("kernel_info_request", {})
    page.interrupt()
    page.finish(cell)
    page.wait(lambda: page.replies.get(asked), "the kernel's facts")
    kinds = [kind for kind, _ in page.log if kind in ("execute_reply", "kernel_info_reply")]
    assert kinds[-2:] == ["execute_reply", "kernel_info_reply"]
