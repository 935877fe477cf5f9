"""Approvals in a running cell, by a person's hands: JupyterLab in Chromium, on each ipykernel."""

from __future__ import annotations

import json

import pytest

from tests.environments import KERNELS, NEWEST
from tests.lab_endpoint import Says

pytestmark = [pytest.mark.browser, pytest.mark.kernel]
each_kernel = pytest.mark.parametrize("version", KERNELS)
newest = pytest.mark.parametrize("version", [NEWEST])

ASK = "%%agent\nCompute the answer."
CELLS_AFTER = "print('NEXT', globals().get('answer'))"
OWN_WIDGET = """\
import ipywidgets
mine = ipywidgets.Button(description="My own")
mine.on_click(lambda _: setattr(mine, "description", "heard"))
mine"""


def python(code: str) -> tuple[str, dict[str, str]]:
    return ("python", {"code": code})


SETS = Says("I compute it.", (python("answer = 6 * 7"),))
DONE = Says("The turn is over.")


@each_kernel
def test_a_click_approves_a_call_while_its_cell_runs_and_run_all_keeps_its_order(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, DONE], [ASK, CELLS_AFTER, OWN_WIDGET])
    page.run(1, 2, 3)
    page.armed(1, "Approve")
    assert [page.prompt(cell) for cell in (1, 2, 3)] == ["[*]:"] * 3
    assert page.text(2) == ""
    assert "answer = 6 * 7" in page.text(1)
    page.screenshot(f"card-{version}")
    page.click(1, "Approve")
    page.wait_idle(1, 2, 3)
    assert "The turn is over." in page.text(1)
    assert page.wait_text(2, "NEXT").strip() == "NEXT 42"
    # The notebook's own widgets are heard as before.
    page.click(3, "My own")
    page.wait_text(3, "heard")
    assert page.dialogs == []


@each_kernel
def test_edited_arguments_are_what_runs_and_both_versions_stay_on_record(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, DONE], [ASK, CELLS_AFTER])
    page.run(1, 2)
    page.click(1, "Edit…")
    editor = page.output(1).locator("textarea")
    assert json.loads(editor.input_value()) == {"code": "answer = 6 * 7"}
    editor.fill('{"code": "answer = 7 * 7"}')
    page.click(1, "Run edited")
    page.wait_idle(1, 2)
    assert page.wait_text(2, "NEXT").strip() == "NEXT 49"
    assert "answer = 7 * 7" in endpoint.told(model)[0]
    page.output(1).get_by_text("approved, edited").wait_for()
    record = json.dumps(page.save().cells[1].outputs)
    assert "answer = 6 * 7" in record
    assert "answer = 7 * 7" in record


@newest
def test_edited_arguments_that_are_no_json_are_said_so_and_can_be_mended(
    talk, endpoint, model, version
):
    page = talk(version, [SETS, DONE], [ASK, CELLS_AFTER])
    page.run(1, 2)
    page.click(1, "Edit…")
    editor = page.output(1).locator("textarea")
    editor.fill('{"code": ')
    page.click(1, "Run edited")
    page.output(1).get_by_role("alert").wait_for()
    assert page.prompt(1) == "[*]:"
    editor.fill('{"code": "answer = 1"}')
    page.click(1, "Run edited")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "NEXT 1"


@each_kernel
def test_a_denied_call_does_not_run_and_the_model_reads_the_reason(talk, endpoint, model, version):
    page = talk(version, [SETS, DONE], [ASK, CELLS_AFTER])
    page.run(1, 2)
    page.click(1, "Deny…")
    page.output(1).get_by_role("textbox").fill("use <the> other variable")
    page.click(1, "Deny")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "NEXT None"
    assert "use <the> other variable" in endpoint.told(model)[0]
    assert "use <the> other variable" in page.text(1)


@newest
def test_the_enter_key_in_the_field_for_a_reason_denies(talk, endpoint, model, version):
    page = talk(version, [SETS, DONE], [ASK, CELLS_AFTER])
    page.run(1, 2)
    page.click(1, "Deny…")
    page.armed(1, "Deny")
    field = page.output(1).get_by_role("textbox")
    field.fill("no thanks")
    field.press("Enter")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "NEXT None"
    assert "no thanks" in endpoint.told(model)[0]


@each_kernel
def test_always_is_said_in_full_on_its_button_and_holds_until_it_is_taken_back(
    talk, endpoint, model, version
):
    calls = [Says(calls=(python(f"answer = {number}"),)) for number in (1, 2, 3)]
    answers = [calls[0], calls[1], DONE, calls[2], DONE]
    cells = [ASK, CELLS_AFTER, "%agent policy", "%agent ask python", ASK, CELLS_AFTER]
    page = talk(version, answers, cells)
    page.run(1)
    assert page.armed(1, "Always: python, this cell").is_visible()
    always = page.armed(1, "Always: python, this session")
    assert always.inner_text() == "Always: python, this session"
    always.click()
    page.wait_idle(1)
    page.done(2, 3)
    assert page.text(2).strip() == "NEXT 2"
    assert "allow" in page.text(3)
    assert "python" in page.text(3)
    page.done(4)
    page.run(5, 6)
    page.click(5, "Approve")
    page.wait_idle(5, 6)
    assert page.text(6).strip() == "NEXT 3"


WATCH = """() => {
  window.firstSeen = [];
  new MutationObserver(changes => {
    for (const change of changes) for (const node of change.addedNodes) {
      const buttons = [node, ...(node.querySelectorAll?.('*') ?? [])];
      for (const button of buttons.filter(b => b.matches?.('button.jupyter-button'))) {
        window.firstSeen.push([button.innerText, button.disabled]);
        button.click();
      }
    }
  }).observe(document.body, {childList: true, subtree: true});
}"""


@newest
def test_buttons_are_dead_when_they_appear_and_a_double_click_counts_once(
    talk, endpoint, model, version
):
    twice = Says(calls=(python("answer = 1"), python("answer = 2")))
    page = talk(version, [twice, DONE], [ASK, CELLS_AFTER])
    page.page.evaluate(WATCH)
    page.run(1, 2)
    page.armed(1, "Approve").dblclick()
    page.output(1).get_by_text("answer = 2").first.wait_for()
    page.click(1, "Deny…")
    page.click(1, "Deny")
    page.wait_idle(1, 2)
    assert page.text(2).strip() == "NEXT 1"
    assert "not run" in endpoint.told(model)[1]
    seen = page.page.evaluate("() => window.firstSeen")
    assert ["Approve", True] in seen
    assert all(disabled for _, disabled in seen), seen


LISTEN = """\
kernel, heard = get_ipython().kernel, []
handler = kernel.shell_handlers["comm_msg"]
def listening(stream, ident, message, **more):
    heard.append(message["content"])
    return handler(stream, ident, message, **more)
kernel.shell_handlers["comm_msg"] = listening"""


@each_kernel
def test_a_card_that_is_gone_says_nothing_more_to_the_kernel(talk, endpoint, model, version):
    """Such a message can meet a subshell on its way out, and asyncio complains in some later cell.

    Lab gives widgets a subshell and ends it with the last of them.
    """
    page = talk(version, [SETS, DONE], [LISTEN, ASK, "print(heard)"])
    page.done(1)
    page.run(2)
    page.click(2, "Approve")
    page.wait_idle(2)
    page.until(lambda: page.button(2, "Approve").count() == 0, lambda: "the card to go")
    page.done(3)
    assert page.text(3).strip() == "[]"


@newest
def test_a_question_that_nobody_answers_in_time_is_a_no(talk, endpoint, model, version):
    page = talk(
        version, [SETS, DONE], ["%config AgentMagics.approval_timeout = 1", ASK, CELLS_AFTER]
    )
    page.done(1, 2, 3)
    assert page.text(3).strip() == "NEXT None"
    assert "nobody answered" in endpoint.told(model)[0]
    assert page.button(2, "Approve").count() == 0


@pytest.mark.parametrize("version", ["6.31.0", NEWEST])
def test_typed_answers_work_in_the_cells_input_box(talk, endpoint, model, version):
    page = talk(
        version,
        [SETS, DONE],
        ["%config AgentMagics.approvals = 'prompt'", ASK, CELLS_AFTER, "%agent"],
    )
    page.run(1, 2, 3, 4)
    box = page.output(2).locator("input.jp-Stdin-input")
    box.fill("perhaps")
    box.press("Enter")
    page.wait_text(2, "Type one of")
    # The first box is on its way out while the second stands there already.
    box.last.fill("y")
    box.last.press("Enter")
    page.wait_idle(2, 3, 4)
    assert page.text(3).strip() == "NEXT 42"
    assert "typed answers" in page.text(4)
