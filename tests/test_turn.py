"""Whole turns through `Session` with a scripted model; conversations compared by equality."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace

import pytest

from agent_magics.calls import Limits
from agent_magics.errors import ModelError, ToolError
from agent_magics.events import (
    CallFinished,
    CallJudged,
    CallProgress,
    Notice,
    PolicyChanged,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.messages import Assistant, ToolCall, ToolResult, Usage, User, unanswered
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.skill import Skill
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from tests.turns import NUMBER, Scene, Spy, call, calls


def test_a_plain_answer_is_one_request_and_two_messages():
    scene = Scene([Assistant("Hello.")])
    result = scene.ask("Hi")
    assert scene.session.conversation == (
        User("Hi"),
        Assistant("Hello.", model=scene.model.name),
    )
    assert (result.text, result.reason, result.requests) == ("Hello.", "answered", 1)


def test_a_call_runs_and_its_result_goes_back_before_the_answer():
    spy = Spy()
    scene = Scene([calls(call("look", n=7)), Assistant("It is 7.")], [spy.tool])
    scene.ask()
    assert spy.ran == [{"n": 7}]
    prompt, asked, result, answer = scene.session.conversation
    assert (prompt, result) == (User("Go."), ToolResult("c1", "seen 7"))
    assert isinstance(asked, Assistant)
    assert answer == Assistant("It is 7.", model=scene.model.name)
    assert scene.model.requests[1].conversation == scene.session.conversation[:3]


def test_several_calls_of_one_message_are_answered_in_their_order():
    spy = Spy()
    wanted = calls(call("look", "a", n=1), call("nowhere", "b"), call("look", "c", n=3))
    scene = Scene([wanted, Assistant("Done.")], [spy.tool])
    scene.ask()
    results = [m for m in scene.session.conversation if isinstance(m, ToolResult)]
    assert [r.call_id for r in results] == ["a", "b", "c"]
    assert [r.ok for r in results] == [True, False, True]


def test_live_output_of_a_tool_is_an_event():
    scene = Scene([calls(call("look", n=1)), Assistant("Done.")], [Spy().tool])
    scene.ask()
    assert scene.log.of(CallProgress) == [CallProgress("c1", "working\n")]


def test_the_first_event_names_model_and_skills_and_the_last_one_ends_the_turn():
    skill = Skill("explore", digest="abc")
    scene = Scene([Assistant("Hi.", usage=Usage(10, 2))], skills=(skill,))
    scene.ask("Hello")
    assert scene.log.events[0] == TurnStarted("Hello", scene.model.name, (("explore", "abc"),))
    ended = scene.log.events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.reason, ended.usage) == ("answered", Usage(10, 2))


def test_an_unknown_tool_is_answered_with_near_names_and_the_model_goes_on():
    scene = Scene([calls(call("lok", n=1)), Assistant("Sorry.")], [Spy().tool])
    scene.ask()
    result = scene.session.conversation[2]
    assert isinstance(result, ToolResult)
    assert "not available" in result.text
    assert "Did you mean look?" in result.text


def test_a_tool_that_the_skill_hides_is_not_run_and_the_answer_names_the_skill():
    hidden, spy = Spy("write", "write"), Spy()
    skill = Skill("explore", tools=("look",))
    scene = Scene([calls(call("write", n=1)), Assistant("Ok.")], [spy.tool], skills=(skill,))
    scene.ask()
    result = scene.session.conversation[2]
    assert isinstance(result, ToolResult)
    assert result.text.startswith("Tool 'write' is not available with skill explore.")
    assert hidden.ran == []


def test_a_number_written_as_text_is_taken_for_the_number():
    spy = Spy()
    scene = Scene([calls(call("look", n="7")), Assistant("Ok.")], [spy.tool])
    scene.ask()
    assert spy.ran == [{"n": 7}]


@pytest.mark.parametrize("arguments", [{}, {"n": "seven"}, {"n": 1, "m": 2}])
def test_arguments_that_do_not_fit_are_answered_before_anyone_is_asked(arguments):
    spy = Spy("change", "write")
    scene = Scene([calls(call("change", **arguments)), Assistant("Ok.")], [spy.tool])
    scene.ask()
    assert spy.ran == []
    assert scene.person.asked == []
    assert scene.log.of(CallFinished)[0].outcome == "invalid"


def test_a_call_with_a_problem_is_not_run_and_the_problem_is_its_result():
    spy = Spy()
    cut = ToolCall("c1", "look", "{}", problem="Your message was cut.")
    scene = Scene([calls(cut), Assistant("Again.")], [spy.tool])
    scene.ask()
    assert spy.ran == []
    assert scene.session.conversation[2] == ToolResult("c1", "Your message was cut.", ok=False)


def test_a_call_that_asks_runs_after_a_yes():
    spy = Spy("change", "write")
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], [Answer(True)])
    scene.ask()
    assert spy.ran == [{"n": 1}]
    assert [q.title for q in scene.person.asked] == ["change 1"]


def test_a_refused_call_does_not_run_and_the_model_is_told_why():
    spy = Spy("change", "write")
    answers = [Answer(False, reason="not on a Monday")]
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers)
    result = scene.ask()
    assert spy.ran == []
    told = scene.session.conversation[2]
    assert told == ToolResult(
        "c1", "The person refused this call of change: not on a Monday. It was not run.", ok=False
    )
    assert [c.outcome for c in result.refused] == ["refused"]


def test_edited_arguments_are_what_runs_and_both_versions_are_recorded():
    spy = Spy("change", "write")
    answers = [Answer(True, arguments='{"n": 99}')]
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers)
    result = scene.ask()
    assert spy.ran == [{"n": 99}]
    assert (result.calls[0].asked, result.calls[0].ran) == ({"n": 1}, {"n": 99})
    told = scene.session.conversation[2]
    assert isinstance(told, ToolResult)
    assert '{"n": 99}' in told.text


def test_edited_arguments_that_do_not_fit_are_asked_about_again():
    spy = Spy("change", "write")
    answers = [Answer(True, arguments='{"n": "many"}'), Answer(True, arguments='{"n": 5}')]
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers)
    scene.ask()
    assert spy.ran == [{"n": 5}]
    assert "do not fit" in scene.person.asked[1].reason
    assert scene.person.asked[1].call.arguments == '{"n": "many"}'


def test_edited_arguments_that_never_fit_run_nothing():
    spy = Spy("change", "write")
    answers = [Answer(True, arguments='{"n": "many"}')] * 9
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers)
    scene.ask()
    assert spy.ran == []
    assert len(scene.person.asked) == 5


def test_edited_arguments_that_do_not_fit_run_nothing():
    spy = Spy("change", "write")
    answers = [Answer(True, arguments='{"n": "many"}')]
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers)
    scene.ask()
    assert spy.ran == []


def test_editing_cannot_reach_what_a_rule_denies():
    spy = Spy("change", "write")
    policy = Policy((Rule("change", "deny", "99", "user"),))
    answers = [Answer(True, arguments='{"n": 99}')]
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], answers, (), policy)
    scene.ask()
    assert spy.ran == []


def test_always_holds_for_the_rest_of_the_turn_and_for_the_next_turn():
    spy = Spy("change", "write")
    scope = spy.tool.scopes({"n": 1})[0]
    replies = [
        calls(call("change", "a", n=1)),
        calls(call("change", "b", n=2)),
        Assistant("Ok."),
        calls(call("change", "c", n=3)),
        Assistant("Ok."),
    ]
    scene = Scene(replies, [spy.tool], [Answer(True, scope=scope)])
    scene.ask()
    scene.ask()
    assert spy.ran == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert len(scene.person.asked) == 1
    assert scene.log.of(PolicyChanged) == [PolicyChanged(scope.rule)]


def test_a_denied_call_is_not_asked_and_not_run():
    spy = Spy("change", "write")
    policy = Policy((Rule("change", "deny", "", "user"),))
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], (), (), policy)
    scene.ask()
    assert spy.ran == []
    assert scene.person.asked == []
    assert scene.log.of(CallJudged)[0].verdict.decision == "deny"


def test_a_preview_that_cannot_work_is_answered_without_a_question():
    def preview(_: Arguments):
        raise ToolError("no such file: x")

    spy = Spy("change", "write", extra={"preview": preview})
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool], [Answer(True)])
    scene.ask()
    assert scene.person.asked == []
    assert scene.session.conversation[2] == ToolResult("c1", "no such file: x", ok=False)


def test_whatever_a_tool_raises_is_a_result_and_not_the_end():
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        raise ZeroDivisionError("by zero")

    tool = Tool("look", "Look.", NUMBER, "read", run)
    scene = Scene([calls(call("look", n=1)), Assistant("Ok.")], [tool])
    scene.ask()
    assert scene.session.conversation[2] == ToolResult(
        "c1", "look failed: ZeroDivisionError: by zero", ok=False
    )


def test_a_long_result_is_cut_in_the_middle_and_says_so():
    spy = Spy(answer=lambda _: "a" * 500 + "END")
    scene = Scene(
        [calls(call("look", n=1)), Assistant("Ok.")], [spy.tool], limits=Limits(result=100)
    )
    scene.ask()
    told = scene.session.conversation[2]
    assert isinstance(told, ToolResult)
    assert "403 characters left out" in told.text
    assert told.text.endswith("END")


def test_the_limit_on_requests_brings_one_last_request_without_tools_that_sums_up():
    replies = [calls(call("look", f"c{i}", n=i)) for i in range(3)] + [Assistant("So far: 3.")]
    scene = Scene(replies, [Spy().tool], limits=Limits(requests=3))
    result = scene.ask()
    last = scene.model.requests[-1]
    assert (last.tools, last.tool_choice) == ((), "none")
    assert "3 requests" in last.nudge
    assert (result.reason, result.text, result.requests) == ("limit", "So far: 3.", 4)
    assert all("3 requests" not in getattr(m, "text", "") for m in scene.session.conversation)


def test_a_model_that_calls_a_tool_in_its_last_word_is_not_given_one():
    spy = Spy()
    replies = [calls(call("look", "a", n=1)), calls(call("look", "b", n=2))]
    scene = Scene(replies, [spy.tool], limits=Limits(requests=1))
    result = scene.ask()
    assert spy.ran == [{"n": 1}]
    assert result.text.startswith("(No summary came")
    assert unanswered(scene.session.conversation) == ()


def test_the_token_budget_ends_the_turn():
    replies = [
        Assistant("", (call("look", "a", n=1),), "calls", Usage(900, 200)),
        Assistant("Summary."),
    ]
    scene = Scene(replies, [Spy().tool], limits=Limits(tokens=1000))
    assert scene.ask().reason == "limit"


def test_the_budget_of_money_ends_the_turn():
    replies = [
        Assistant("", (call("look", "a", n=1),), "calls", Usage(1_000_000, 100_000, 500_000)),
        Assistant("Summary."),
    ]
    limits = Limits(cost=2.0, prices=(2.0, 10.0, 0.2))
    scene = Scene(replies, [Spy().tool], limits=limits)
    assert limits.cost_of(Usage(1_000_000, 100_000, 500_000)) == pytest.approx(2.1)
    assert scene.ask().reason == "limit"


def test_the_budget_of_time_ends_the_turn():
    seconds = iter([0.0, 0.0, 0.0, 0.0, 99.0])
    scene = Scene([calls(call("look", n=1)), Assistant("Summary.")], [Spy().tool])
    turn = replace(scene.turn(), clock=lambda: next(seconds, 99.0), limits=Limits(seconds=60))
    result = asyncio.run(scene.session.ask("Go.", turn, scene.log))
    assert result.reason == "limit"
    assert "60 seconds" in scene.model.requests[-1].nudge


def test_the_third_identical_call_with_the_same_result_brings_a_nudge_for_one_request_only():
    replies = [calls(call("look", f"c{i}", n=1)) for i in range(3)] + [Assistant("Ok.")]
    scene = Scene(replies, [Spy().tool])
    scene.ask()
    assert [bool(r.nudge) for r in scene.model.requests] == [False, False, False, True]


def test_the_fourth_identical_call_asks_the_person_and_a_no_ends_with_a_summary():
    replies = [calls(call("look", f"c{i}", n=1)) for i in range(4)] + [Assistant("Stuck.")]
    scene = Scene(replies, [Spy().tool], [Answer(False)])
    result = scene.ask()
    assert (result.reason, result.text) == ("stopped", "Stuck.")
    assert scene.log.of(Notice)


def test_a_yes_to_going_on_starts_a_new_count():
    replies = [calls(call("look", f"c{i}", n=1)) for i in range(5)] + [Assistant("Ok.")]
    scene = Scene(replies, [Spy().tool], [Answer(True)])
    assert scene.ask().reason == "answered"


def test_a_call_whose_result_changes_is_no_repetition():
    results = iter(range(100))
    spy = Spy(answer=lambda _: f"{next(results)}% done")
    replies = [calls(call("look", f"c{i}", n=1)) for i in range(8)] + [Assistant("Done.")]
    scene = Scene(replies, [spy.tool])
    scene.ask()
    assert scene.person.asked == []


def test_a_failing_provider_leaves_a_conversation_that_the_next_turn_can_use():
    scene = Scene([ModelError("no answer"), Assistant("Hello again.")], [Spy().tool])
    with pytest.raises(ModelError, match="no answer"):
        scene.ask("First")
    assert scene.session.last is not None
    assert scene.session.last.reason == "failed"
    scene.ask("Second")
    kinds = [type(m).__name__ for m in scene.session.conversation]
    assert kinds == ["User", "Assistant", "User", "Assistant"]


def test_a_failure_after_a_call_keeps_the_result():
    scene = Scene([calls(call("look", n=1)), ModelError("gone"), Assistant("Ok.")], [Spy().tool])
    with pytest.raises(ModelError):
        scene.ask()
    assert ToolResult("c1", "seen 1") in scene.session.conversation
    scene.ask("Go on.")
    assert unanswered(scene.session.conversation) == ()


class Hangs:
    """A model that says a little and then nothing more."""

    name = "hangs"

    def __init__(self, then: Exception | None = None) -> None:
        self.said = asyncio.Event()
        self.then = then

    async def stream(self, request):
        yield TextDelta("Half ")
        yield TextDelta("a word")
        self.said.set()
        if self.then is not None:
            raise self.then
        await asyncio.sleep(60)


def test_an_interrupt_in_an_answer_keeps_what_was_said():
    scene = Scene([])
    scene.model = Hangs()

    async def interrupted() -> None:
        scene.model.said = asyncio.Event()
        task = asyncio.ensure_future(scene.asking())
        await scene.model.said.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert scene.session.conversation == (
        User("Go."),
        Assistant("Half a word\n\n(interrupted by the person)", stop="cut"),
    )


def test_a_failure_in_an_answer_keeps_what_was_said():
    scene = Scene([])
    scene.model = Hangs(ModelError("gone"))
    with pytest.raises(ModelError):
        scene.ask()
    assert scene.session.conversation[-1].text.startswith("Half a word\n\n(the turn failed: gone")


def test_an_empty_answer_is_an_error_and_never_enters_the_history():
    scene = Scene([Assistant("")])
    with pytest.raises(ModelError, match="empty answer"):
        scene.ask()
    assert all(getattr(m, "text", "x") for m in scene.session.conversation)


def test_repeated_and_missing_ids_become_unique():
    wanted = calls(call("look", "same", n=1), call("look", "same", n=2), call("look", "", n=3))
    scene = Scene([wanted, calls(call("look", "same", n=4)), Assistant("Ok.")], [Spy().tool])
    scene.ask()
    ids = [m.call_id for m in scene.session.conversation if isinstance(m, ToolResult)]
    assert len(set(ids)) == len(ids) == 4
    assert all(ids)


def test_an_interrupt_in_a_tool_answers_the_open_calls_and_the_next_turn_works():
    started = asyncio.Event()
    cleaned: list[bool] = []

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(True)
        raise AssertionError

    tool = Tool("look", "Look.", NUMBER, "read", run)
    wanted = calls(call("look", "a", n=1), call("look", "b", n=2))
    scene = Scene([wanted, Assistant("Ok.")], [tool])

    async def interrupted() -> None:
        task = asyncio.ensure_future(scene.asking())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await scene.asking("Go on.")

    asyncio.run(interrupted())
    assert cleaned == [True]
    assert unanswered(scene.session.conversation) == ()
    texts = [m.text for m in scene.session.conversation if isinstance(m, ToolResult)]
    assert len(texts) == 2
    assert all("interrupted by the person" in text for text in texts)
    ended = [e.reason for e in scene.log.of(TurnEnded)]
    assert ended == ["interrupted", "answered"]


def test_an_interrupt_while_a_person_is_asked_refuses_nothing_and_runs_nothing():
    spy = Spy("change", "write")
    scene = Scene([calls(call("change", n=1)), Assistant("Ok.")], [spy.tool])
    asked = asyncio.Event()

    class Waits:
        async def ask(self, question: object) -> Answer:
            asked.set()
            await asyncio.sleep(60)
            raise AssertionError

    scene.person = Waits()  # type: ignore[assignment]

    async def interrupted() -> None:
        task = asyncio.ensure_future(scene.asking())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert spy.ran == []
    assert scene.session.last is not None
    assert [c.outcome for c in scene.session.last.calls] == ["interrupted"]


def test_a_cut_answer_is_gone_on_with_and_becomes_one_message():
    first = Assistant("Half an ans", stop="length", usage=Usage(5, 5))
    scene = Scene([first, Assistant("wer.", usage=Usage(7, 2))])
    result = scene.ask()
    assert (result.reason, result.text) == ("answered", "Half an answer.")
    whole = Assistant("Half an answer.", usage=Usage(12, 7), model=scene.model.name)
    assert scene.session.conversation == (User("Go."), whole)
    assert "Go on exactly where it stopped" in scene.model.requests[1].nudge


def test_an_answer_that_is_cut_again_and_again_says_how_to_go_on():
    scene = Scene([Assistant("la ", stop="length")] * 3)
    result = scene.ask()
    assert (result.reason, result.text) == ("cut", "la la la ")
    assert "continue" in scene.log.of(TurnEnded)[0].text


@pytest.mark.parametrize("stop", ["refusal", "filter"])
def test_a_refusal_of_the_model_is_an_ending_of_its_own(stop):
    scene = Scene([Assistant("I cannot help with that.", stop=stop)])
    assert scene.ask().reason == "refused"


def test_a_reset_forgets_the_conversation_and_keeps_the_rules():
    scene = Scene([Assistant("Hi.")], policy=Policy((Rule("look", "deny"),)))
    scene.ask()
    scene.session.reset()
    assert scene.session.conversation == ()
    assert scene.session.policy == Policy((Rule("look", "deny"),))


def test_the_record_of_a_turn_is_json_ready():
    scene = Scene([calls(call("look", n=1)), Assistant("Ok.")], [Spy().tool])
    result = scene.ask()
    assert json.loads(json.dumps([c.asked for c in result.calls])) == [{"n": 1}]
    assert str(result) == "Ok."


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        (Assistant("Done.", usage=Usage(1_000_000, 500_000, 200_000)), 3.8),
        (ModelError("gone"), 0.0),
    ],
)
def test_a_turn_says_what_it_cost_however_it_ended(reply, cost):
    scene = Scene([reply], limits=Limits(prices=(2, 4, 1)))
    with contextlib.suppress(ModelError):
        scene.ask()
    assert scene.session.last.cost == cost
    assert scene.log.of(TurnEnded)[0].cost == cost


def test_a_turn_without_prices_costs_nothing_that_is_known():
    assert Scene([Assistant("Done.", usage=Usage(5, 5))]).ask().cost is None
