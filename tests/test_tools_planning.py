"""The plan: what the model may give, what it reads back, and one place in the cell for it."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_magics.errors import ToolError
from agent_magics.events import CallFinished, CallProposed, CallStarted, MessageAdded
from agent_magics.frontends.blocks import Transcript
from agent_magics.frontends.blocks_plan import plan_block
from agent_magics.messages import Assistant, Display, ToolCall, ToolResult
from agent_magics.tools.checking import check
from agent_magics.tools.planning import MAX_STEP, MAX_STEPS, todo_tool
from agent_magics.tools.workspace import Workspace
from tests.turns import Scene, call, calls


@pytest.fixture
def tool(tmp_path):
    return todo_tool(Workspace(lambda: tmp_path))


def plan(*steps):
    return {"plan": [{"step": step, "state": state} for step, state in steps]}


def ran(tool, arguments):
    return asyncio.run(tool.run(arguments, lambda text: None))


def test_the_model_reads_how_far_it_is_and_the_person_sees_every_step(tool):
    output = ran(tool, plan(("Look", "done"), ("Change", "active"), ("Test", "pending")))
    assert output.text == "The person sees the plan: 1 done, 2 to do."
    assert output.display == (Display("plan", "[x] Look\n[~] Change\n[ ] Test"),)


def test_a_step_without_a_state_is_to_do(tool):
    arguments = {"plan": [{"step": "Look"}]}
    assert check(tool.parameters, arguments) == ""
    assert ran(tool, arguments).display[0].text == "[ ] Look"


def test_two_active_steps_are_remarked_on(tool):
    assert "one at a time" in ran(tool, plan(("a", "active"), ("b", "active"))).text


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"plan": []},
        {"plan": "Look"},
        {"plan": [{"state": "done"}]},
        plan(("a", "finished")),
        plan(*[("a", "done")] * (MAX_STEPS + 1)),
    ],
)
def test_what_is_no_plan_is_refused(tool, arguments):
    assert check(tool.parameters, arguments)


def test_an_empty_step_is_refused_and_a_long_one_is_cut_to_a_line(tool):
    with pytest.raises(ToolError, match="empty"):
        ran(tool, plan((" \n ", "done")))
    (row,) = ran(tool, plan(("a\nb" + "x" * 1000, "done"))).display[0].text.split("\n")
    assert len(row) == MAX_STEP + 4


def test_the_call_needs_nobodys_word(tool):
    arguments = json.dumps(plan(("Look", "active")))
    scene = Scene(
        [calls(ToolCall("c1", "todo", arguments)), Assistant("Done.")],
        [tool],
    )
    result = scene.ask("Go")
    assert result.calls[0].outcome == "done"
    assert scene.person.asked == []


def fed(transcript, ident, text):
    wanted = ToolCall(ident, "todo", "{}")
    result = ToolResult(ident, "ok", display=(Display("plan", text),))
    events = [
        CallProposed(wanted, "todo"),
        CallStarted(wanted),
        CallFinished(wanted, result, 0.0, "done"),
        MessageAdded(result),
    ]
    return [block for event in events for block in transcript.feed(event)]


def test_the_plan_keeps_its_place_and_its_later_calls_leave_none():
    transcript = Transcript()
    first = fed(transcript, "c1", "[~] Look\n[ ] Test")
    second = fed(transcript, "c2", "[x] Look\n[~] Test")
    plans = [b for b in (*first, *second) if "Plan" in b.text]
    assert len({block.key for block in plans}) == 1
    assert plans[-1].text == "Plan · 1 of 2 done\n\n- [x] Look\n- [~] Test"
    keys = {block.key for block in (*first, *second)}
    last = {key: next(b for b in reversed((*first, *second)) if b.key == key) for key in keys}
    # All that is left beside the plan is one place that says what is going on.
    assert [b.live for b in last.values() if b.key != plans[0].key] == [True]


def test_a_quiet_cell_shows_no_plan():
    blocks = fed(Transcript(quiet=True), "c1", "[ ] Look")
    assert not any("Plan" in block.text for block in blocks)


def test_steps_are_shown_as_text():
    call_block = Transcript().feed(CallProposed(ToolCall("c", "todo"), "todo"))[0]
    block = plan_block("k", "[x] <b>bold</b> $x$\n[?] odd\nno mark", call_block)
    assert "<b>bold" not in block.html
    assert block.html.count('role="listitem"') == 3
    assert block.metadata["tool"] == "todo"


def test_a_call_that_was_refused_keeps_its_own_line():
    transcript = Transcript()
    wanted = call("todo")
    transcript.feed(CallProposed(wanted, "todo"))
    blocks = transcript.feed(CallFinished(wanted, ToolResult("c1", "no", ok=False), 0.0, "invalid"))
    assert "todo" in blocks[-1].text
