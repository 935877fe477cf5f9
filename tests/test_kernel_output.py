"""What a cell shows: at a bounded rate, whole at the end, in the right cell."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_magics.events import (
    ApprovalAsked,
    CallFinished,
    CallProposed,
    CallStarted,
    MessageAdded,
    Notice,
    Question,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.frontends.notebook import NotebookRenderer
from agent_magics.messages import Assistant, Display, ToolCall, ToolResult, Usage

pytest_plugins = ("tests.kernelkit_fixtures",)


class Outputs:
    """An output area that notes what it is sent, and when."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slots: dict[str, Any] = {}
        self.sent: list[tuple[float, str]] = []
        self.broken = False

    def show(self, bundle, metadata=None, *, slot=""):
        slot = slot or f"slot-{len(self.slots)}"
        self.replace(slot, bundle, metadata)
        return slot

    def replace(self, slot, bundle, metadata=None):
        if self.broken:
            raise OSError("the page is gone")
        self.sent.append((self.now, slot))
        self.slots[slot] = (dict(bundle), metadata)

    @property
    def text(self) -> str:
        return "\n".join(bundle["text/plain"] for bundle, _ in self.slots.values())


def renderer(outputs: Outputs, **options: Any) -> NotebookRenderer:
    return NotebookRenderer(outputs, clock=lambda: outputs.now, **options)


def call_events() -> list[Any]:
    call = ToolCall("1", "write", '{"path": "a.txt"}')
    result = ToolResult("1", "written", display=(Display("text", "written"),))
    return [
        MessageAdded(Assistant("I write.", (call,))),
        CallProposed(call, "write a.txt"),
        CallStarted(call),
        CallFinished(call, result, 0.1, "done"),
        MessageAdded(result),
    ]


def test_updates_come_at_most_ten_times_a_second_and_the_last_state_lands():
    outputs = Outputs()
    shown = renderer(outputs)
    for n in range(1000):
        shown.show(TextDelta(f"word{n} "))
        outputs.now += 0.01
    shown.close()
    assert len(outputs.sent) <= 10 * 10 + 2
    assert "word999" in outputs.text


def test_what_is_held_back_is_shown_when_the_stream_stalls():
    outputs = Outputs()

    async def stall():
        shown = renderer(outputs)
        shown.show(TextDelta("first "))
        shown.show(TextDelta("second"))
        while "second" not in outputs.text:
            outputs.now += 0.05
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(stall(), 20))
    assert "first second" in outputs.text


def test_a_question_comes_after_everything_that_led_to_it():
    outputs = Outputs()
    shown = renderer(outputs)
    call = ToolCall("1", "write")
    shown.show(TextDelta("I am going to "))
    shown.show(TextDelta("write."))
    shown.show(ApprovalAsked(Question(call, "write a.txt")))
    assert "I am going to write." in outputs.text


def test_outputs_carry_html_text_and_their_facts():
    outputs = Outputs()
    shown = renderer(outputs)
    for event in (TurnStarted("hi", "m"), TextDelta("*so*"), TurnEnded("answered", Usage(), 1, 1)):
        shown.show(event)
    shown.close()
    for bundle, metadata in outputs.slots.values():
        assert set(bundle) == {"text/html", "text/plain"}
        assert "kind" in metadata["agent_magics"]


def test_a_bundle_of_the_users_own_code_is_published_as_it_is():
    outputs = Outputs()
    shown = renderer(outputs)
    call = ToolCall("1", "python", '{"code": "fig"}')
    picture = Display("bundle", data={"image/png": "AAAA", "text/plain": "<Figure>"})
    shown.show(CallProposed(call, "python fig"))
    shown.show(CallStarted(call))
    shown.show(CallFinished(call, ToolResult("1", "ok", display=(picture,)), 0.1, "done"))
    shown.close()
    assert any(bundle.get("image/png") == "AAAA" for bundle, _ in outputs.slots.values())


def test_a_broken_display_breaks_no_turn_and_what_comes_later_is_shown():
    outputs = Outputs()
    shown = renderer(outputs)
    outputs.broken = True
    shown.show(TextDelta("lost"))
    outputs.broken = False
    outputs.now += 1
    shown.show(Notice("still here", "warning"))
    shown.close()
    assert "still here" in outputs.text


def test_nothing_is_shown_after_the_end():
    outputs = Outputs()
    shown = renderer(outputs)
    shown.show(TextDelta("in time"))
    shown.close()
    sent = len(outputs.sent)
    shown.show(TextDelta("too late"))
    shown.close()
    assert len(outputs.sent) == sent


def test_without_updates_each_output_is_shown_once_finished_and_in_order():
    outputs = Outputs()
    shown = renderer(outputs, updates=False)
    for event in (TurnStarted("hi", "m"), *call_events(), TextDelta("Done.")):
        shown.show(event)
        outputs.now += 1
    shown.show(MessageAdded(Assistant("Done.")))
    shown.show(TurnEnded("answered", Usage(), 1, 1))
    shown.close()
    assert len(outputs.sent) == len(outputs.slots)
    order = [outputs.text.find(word) for word in ("I write.", "write", "Done.")]
    assert -1 not in order
    assert order == sorted(order)


# In a real kernel -------------------------------------------------------------------------------

STREAM = """%%stage
p.renderer.show(TurnStarted('hi', 'model'))
for n in range(30):
    p.renderer.show(TextDelta(f'word{n} '))
    await asyncio.sleep(0.01)
return 'end'"""


@pytest.mark.kernel
def test_a_stream_is_one_output_that_grows_and_all_of_it_belongs_to_its_cell(page):
    cell = page.do(STREAM)
    assert "word0 word1" in cell.text
    assert "word29" in cell.text
    for output in cell.displays:
        assert set(output.get("parents", [])) <= {cell.id}
    assert len([o for o in cell.displays if o["type"] == "display_data"]) <= 2


@pytest.mark.kernel
def test_what_was_printed_before_comes_before(page):
    cell = page.do(
        "print('first')\n"
        "get_ipython().run_cell_magic('stage', '', \"p.renderer.show(Notice('second'))\")\n"
        "print('third')"
    )
    assert [word for word in ("first", "second", "third") if word in cell.text] == [
        "first",
        "second",
        "third",
    ]
    assert cell.text.index("first") < cell.text.index("second") < cell.text.index("third")


@pytest.mark.kernel
def test_a_failed_turn_keeps_what_it_showed_and_its_error_is_one_line(page):
    cell = page.do(
        "%%stage\np.renderer.show(TextDelta('half an ans'))\n"
        "from agent_magics.errors import ModelError\nraise ModelError('the server is gone')"
    )
    assert "half an ans" in cell.text
    assert cell.error == "ModelError"
    assert cell.reply["traceback"] == ["ModelError: the server is gone"]


@pytest.mark.kernel
def test_a_file_name_that_is_no_text_reaches_the_page_in_a_readable_form(page):
    cell = page.do("%%stage\np.renderer.show(Notice('caf\\udce9.py'))\nreturn 1")
    assert "udce9" in cell.text or "\\xe9" in cell.text
    assert cell.result == "1"


@pytest.mark.kernel
def test_cells_of_two_subshells_that_overlap_each_get_their_own_outputs_and_clicks(kernel):
    with kernel.page() as page:
        subshell = page.new_subshell()
        if not subshell:
            pytest.skip("this ipykernel has no subshells")
        body = (
            "%%stage\np.renderer.show(Notice('{name} asks'))\n"
            "answer = await p.approver.ask(question('write {name}.txt'))\n"
            'out = await p.kernel.run_code(\'"{name}" + "!"\')\n'
            "p.renderer.show(Notice('{name} ends'))\nreturn [answer.by, out.value]"
        )
        main = page.run(body.format(name="main"))
        page.card(main)
        side = page.run(body.format(name="side"), subshell=subshell)
        page.card(side)
        for _ in range(2):
            page.click("Approve")
            page.wait(lambda: main.done or side.done, "an end")
        page.finish(main)
        page.finish(side)
        for cell, name in ((main, "main"), (side, "side")):
            assert cell.result == str(["click", f"'{name}!'"])
            assert f"{name} asks" in cell.text
            assert f"{name} ends" in cell.text
        assert "side" not in main.text
        assert "main" not in side.text
        state = eval(page.do("%stage_state").result)
        assert state["tap"] == "working"
