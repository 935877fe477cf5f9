"""Cards in a real kernel: a scripted page clicks while the cell runs."""

from __future__ import annotations

import json

import pytest

from tests.kernelkit import WIDGET_VIEW, Cell, FrontEnd

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel

ASK = """%%stage
return told(await p.approver.ask(question({arguments})))"""


def ask(page: FrontEnd, arguments: str = "", line: str = "") -> Cell:
    """Start a cell that asks, and wait for its card."""
    cell = page.run(ASK.format(arguments=arguments).replace("%%stage", f"%%stage {line}"))
    page.card(cell)
    return cell


def answer(page: FrontEnd, cell: Cell) -> list:
    """The cell's answer: allowed, by, reason, arguments, scope."""
    page.finish(cell)
    return json.loads(eval(cell.result))


def editor(page: FrontEnd) -> str:
    return page.wait(lambda: page.model("TextareaModel"), "an editor")


def test_a_click_answers_while_the_cell_runs(page):
    cell = ask(page)
    page.click("Approve")
    assert answer(page, cell) == [True, "click", "", None, ""]


def test_a_no_can_be_meant_for_the_calls_that_wait_behind(page):
    cell = ask(page, "following=2")
    page.click("Deny…")
    page.click("Deny it and the 2 behind it")
    assert answer(page, cell) == [False, "click", "", None, "", "rest"]


def test_what_stays_is_static_and_no_widget_is_left_anywhere(page):
    cell = ask(page, "scopes=['a', 'b']")
    page.click("Edit…")
    page.click("Back")
    page.click("Deny…")
    page.click("Deny")
    page.finish(cell)
    assert set(cell.displays[0]["data"]) == {"text/html", "text/plain"}
    facts = cell.displays[0]["metadata"]["agent_magics"]
    assert (facts["kind"], facts["allowed"], facts["by"]) == ("approval", False, "click")
    page.wait(lambda: not page.models, "the end of every widget, layout and style")


def test_a_card_that_waits_can_be_read_without_widgets(page):
    cell = ask(page, "'write a.txt'")
    text = cell.displays[0]["data"]["text/plain"]
    assert "write a.txt" in text
    assert "+new" in text
    assert "waiting for an answer" in text
    page.click("Approve")
    page.finish(cell)


def test_a_button_does_nothing_until_it_has_been_seen_for_a_while(page):
    cell = ask(page)
    too_early = page.press(page.model("ButtonModel", description="Approve"))
    page.wait(lambda: page.statuses.get(too_early) == ["busy", "idle"], "the click's end")
    page.click("Deny…")
    page.click("Deny")
    assert answer(page, cell)[:2] == [False, "click"]


def test_each_message_of_a_widget_is_confirmed_or_the_page_holds_back_the_next(page):
    cell = ask(page)
    box = page.card(cell)
    seen = page.set(box, _view_count=1)
    click = page.click("Approve")
    page.finish(cell)
    for message in (seen, click):
        page.wait(lambda m=message: page.statuses.get(m) == ["busy", "idle"], "busy, then idle")


def test_always_gives_the_scope_that_its_button_names(page):
    cell = ask(page, "scopes=['this file', 'this folder']")
    page.click("Always: this folder")
    assert answer(page, cell) == [True, "click", "", None, "this folder"]


def test_a_scope_too_long_for_a_button_is_written_out_whole(page):
    scope = "run_shell git log --oneline " + "<x>" * 40
    cell = ask(page, f"scopes=[{scope!r}]")
    button = page.button("Always (1)")
    values = "".join(m.get("value", "") for m in page.models.values() if "value" in m)
    assert scope.replace("<", "&lt;").replace(">", "&gt;") in values
    page.press(button)
    assert answer(page, cell)[4] == scope


def test_edited_arguments_are_what_the_answer_carries(page):
    cell = ask(page, "arguments={'path': 'a.txt', 'n': 1}")
    page.click("Edit…")
    page.wait(lambda: page.model("TextareaModel"), "an editor")
    text = page.models[editor(page)]["value"]
    assert json.loads(text) == {"path": "a.txt", "n": 1}
    page.set(editor(page), value=text.replace("a.txt", "b.txt"))
    page.press(page.button("Run edited"))
    page.wait(lambda: page.show_views() or cell.done, "the end")
    allowed, by, _, arguments, _ = answer(page, cell)
    assert (allowed, by, json.loads(arguments)) == (True, "click", {"path": "b.txt", "n": 1})


def test_arguments_that_are_no_object_are_not_taken_and_the_card_says_why(page):
    cell = ask(page)
    page.click("Edit…")
    for text, why in (('{"path": ', "not JSON"), ("[1]", "JSON object"), ('{"a": NaN}', "NaN")):
        page.set(editor(page), value=text)
        page.click("Run edited")

        def complaint(why=why):
            page.show_views()
            return any(why in m.get("value", "") and "alert" in m["value"] for m in html(page))

        page.wait(complaint, why)
    page.set(editor(page), value='{"path": "c.txt"}')
    page.click("Run edited")
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert json.loads(answer(page, cell)[3]) == {"path": "c.txt"}


def html(page: FrontEnd) -> list[dict]:
    return [m for m in page.models.values() if m.get("_model_name") == "HTMLModel"]


def test_keystrokes_that_a_click_overtook_still_count(page):
    cell = ask(page)
    page.click("Edit…")
    box = editor(page)
    page.press(page.button("Run edited"))
    page.set(box, value='{"path": "typed last"}')
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert json.loads(answer(page, cell)[3]) == {"path": "typed last"}


def test_a_page_that_never_shows_the_status_line_runs_the_edit_all_the_same(page):
    cell = ask(page)
    page.click("Edit…")
    page.set(editor(page), value='{"path": "d.txt"}')
    page.press(page.button("Run edited"))
    assert json.loads(answer(page, cell)[3]) == {"path": "d.txt"}


def test_arguments_that_were_edited_back_are_an_ordinary_approval(page):
    cell = ask(page)
    page.click("Edit…")
    page.set(editor(page), value='{ "path":\n"a.txt"}')
    page.press(page.button("Run edited"))
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert answer(page, cell) == [True, "click", "", None, ""]


def test_what_was_typed_survives_going_back_and_the_choices_rest_meanwhile(page):
    cell = ask(page)
    page.click("Edit…")
    page.set(editor(page), value='{"path": "kept"}')
    page.button("Run edited")
    assert page.models[page.model("ButtonModel", description="Approve")]["disabled"]
    page.click("Back")
    page.button("Approve")
    page.click("Edit…")
    page.button("Run edited")
    assert page.models[editor(page)]["value"] == '{"path": "kept"}'
    page.click("Run edited")
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert json.loads(answer(page, cell)[3]) == {"path": "kept"}


@pytest.mark.parametrize("by_key", [False, True], ids=["by button", "by the enter key"])
def test_a_no_can_carry_a_reason(page, by_key):
    cell = ask(page)
    page.click("Deny…")
    button = page.button("Deny")
    field = page.model("TextModel")
    page.set(field, value=" not on a Friday ")
    if by_key:
        page.send_comm(field, {"method": "custom", "content": {"event": "submit"}})
    else:
        page.press(button)
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert answer(page, cell) == [False, "click", "not on a Friday", None, ""]


def test_hostile_words_are_text_on_the_card(page):
    evil = "<img src=x onerror=alert(1)>\u202e\x1b[2J"
    cell = ask(page, f"title={evil!r}, arguments={{'path': {evil!r}}}, scopes=[{evil!r}]")
    page.button("Approve")
    for model in html(page):
        assert "<img" not in model["value"]
        assert "\u202e" not in model["value"]
    labels = [m["description"] for m in page.models.values() if "button_style" in m]
    assert not any("\u202e" in label or "\x1b" in label for label in labels)
    page.click("Edit…")
    text = page.models[editor(page)]["value"]
    assert "\u202e" not in text
    assert json.loads(text) == {"path": evil}
    page.click("Run edited")
    page.wait(lambda: page.show_views() or cell.done, "the end")
    assert answer(page, cell)[3] is None


def test_several_questions_come_one_after_the_other(page):
    cell = page.run(
        "%%stage\n"
        "names = [f'write {n}.txt' for n in range(3)]\n"
        "answers = await asyncio.gather(*(p.approver.ask(question(n)) for n in names))\n"
        "return [a.allowed for a in answers]"
    )
    for number in range(3):
        page.wait(lambda n=number: f"{n}.txt" in cell.text, f"question {number}")
        assert f"{number + 1}.txt" not in cell.text
        page.click("Approve")
    page.finish(cell)
    assert cell.result == "[True, True, True]"


def test_a_time_limit_is_a_no_and_the_record_says_so(page):
    cell = ask(page, line="approval_timeout=0.5")
    allowed, by, reason, *_ = answer(page, cell)
    assert (allowed, by) == (False, "timeout")
    assert "0.5 s" in reason
    assert cell.displays[0]["metadata"]["agent_magics"]["by"] == "timeout"
    page.wait(lambda: not page.models, "the end of the widgets")


def test_the_card_says_what_happens_when_nobody_answers(page):
    cell = ask(page, line="approval_timeout=33")
    page.button("Approve")
    assert any("33 s" in model["value"] for model in html(page))
    page.click("Approve")
    page.finish(cell)


def test_without_a_hello_the_question_is_typed_and_the_next_one_at_once(kernel):
    with kernel.page() as page:
        cell = page.run(
            "%%stage hello_timeout=0.3\n"
            "first = await p.approver.ask(question('write 1.txt'))\n"
            "second = await p.approver.ask(question('write 2.txt'))\n"
            "return [first.by, first.allowed, second.by, second.allowed]"
        )
        assert "approve?" in page.answer("y")
        assert "approve?" in page.answer("n")
        page.finish(cell)
        assert cell.result == "['typed', True, 'typed', False]"
        assert not any(WIDGET_VIEW in output["data"] for output in cell.displays)
        page.wait(lambda: not page.models, "the end of the widgets")
        state = eval(page.do("%stage_state").result)
        assert state["route"] == "prompt"
        assert "did not show" in state["detail"]


def test_a_page_without_widgets_says_so_and_the_question_is_typed_at_once(kernel):
    with kernel.page() as page:
        cell = ask(page, line="hello_timeout=600")
        page.send_comm(page.card(cell), {}, kind="comm_close")
        page.answer("y")
        assert answer(page, cell)[:2] == [True, "typed"]


def test_a_card_that_the_page_throws_away_is_followed_by_a_typed_question(page):
    cell = ask(page)
    page.button("Approve")
    page.send_comm(page.card(cell), {}, kind="comm_close")
    page.answer("n too late")
    assert answer(page, cell) == [False, "typed", "too late", None, ""]


def test_a_card_whose_output_was_cleared_comes_back(page):
    cell = ask(page)
    page.button("Approve")
    box = page.card(cell)
    cell.outputs.clear()
    page.set(box, _view_count=0)
    page.wait(lambda: cell.displays, "the card again")
    assert page.card(cell) == box
    page.set(box, _view_count=1)
    page.click("Approve")
    assert answer(page, cell)[:2] == [True, "click"]
    assert set(cell.displays[0]["data"]) == {"text/html", "text/plain"}


def test_another_page_of_the_same_kernel_still_gets_buttons(kernel):
    with kernel.page() as first:
        cell = ask(first, line="hello_timeout=0.2")
        first.answer("y")
        first.finish(cell)
    with kernel.page() as second:
        cell = ask(second)
        second.click("Approve")
        assert answer(second, cell)[:2] == [True, "click"]


def test_without_ipywidgets_the_question_is_typed(kernel):
    with kernel.page() as page:
        page.do(
            "import sys; kept = sys.modules.get('ipywidgets'); sys.modules['ipywidgets'] = None"
        )
        cell = page.run(ASK.format(arguments=""))
        page.answer("y")
        assert answer(page, cell)[:2] == [True, "typed"]
        page.do("sys.modules.pop('ipywidgets'); kept and sys.modules.update(ipywidgets=kept)")
