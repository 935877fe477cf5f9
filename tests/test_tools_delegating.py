"""Sub-agents: a conversation of their own, never more than the main agent's rights."""

from __future__ import annotations

import asyncio

import pytest

from agent_magics.calls import Limits
from agent_magics.errors import ModelError
from agent_magics.events import CallProgress, PolicyChanged
from agent_magics.messages import Assistant, Usage, User
from agent_magics.policy import Answer, Policy, Rule, Scope
from agent_magics.tools.delegating import REQUESTS, Delegation, delegate_tool
from agent_magics.tools.workspace import Workspace
from tests.turns import Scene, Spy, call, calls


class Play:
    """A main agent that delegates; replies come in the order in which the model is asked."""

    def __init__(self, tmp_path, replies, tools=(), answers=(), **options):
        self.granted = []
        self.delegation = Delegation()
        tool = delegate_tool(Workspace(lambda: tmp_path), self.delegation)
        self.scene = Scene(replies, [*tools, tool], answers, **options)
        self.delegation.policy = lambda: self.scene.session.policy
        self.delegation.granted = self.granted.append

    def ask(self):
        async def asking():
            turn = self.scene.turn()
            self.delegation.turn = turn
            return await self.scene.session.ask("Main prompt.", turn, self.scene.log)

        return asyncio.run(asking())


def task(text="Find the cause.", ident="d1", **more):
    return calls(call("delegate", ident, task=text, **more))


def test_only_the_final_answer_comes_back_and_the_sub_agent_sees_only_its_task(tmp_path):
    spy = Spy()
    replies = [task(), calls(call("look", n=1), text="Looking."), Assistant("Line 3."), "end"]
    replies[-1] = Assistant("It is line 3.")
    play = Play(tmp_path, replies, [spy.tool])
    result = play.ask()
    assert result.text == "It is line 3."
    assert result.calls[0].result == "Line 3."
    assert spy.ran == [{"n": 1}]
    inner = play.scene.model.requests[1]
    assert inner.conversation == (User("Find the cause."),)
    assert "sub-agent" in inner.system
    assert "Be exact." not in inner.system
    assert [tool.name for tool in inner.tools] == ["look"]


def test_what_it_does_is_shown_while_it_works_and_kept_for_the_person(tmp_path):
    replies = [task(), calls(call("look", n=1)), Assistant("Found."), Assistant("Done.")]
    play = Play(tmp_path, replies, [Spy().tool])
    play.ask()
    progress = "".join(event.text for event in play.scene.log.of(CallProgress))
    assert "… look 1" in progress
    assert "✓ look 1" in progress


def test_its_tokens_count_as_the_turns(tmp_path):
    used = Usage(10, 5, requests=1)
    replies = [
        task(),
        Assistant("Found.", usage=used),
        Assistant("Done.", usage=used),
    ]
    result = Play(tmp_path, replies).ask()
    assert result.usage.input >= 20
    assert result.usage.output >= 10


def test_its_calls_are_judged_and_asked_about_like_any_other(tmp_path):
    spy = Spy(effect="write")
    replies = [task(), calls(call("look", n=1)), Assistant("No."), Assistant("Done.")]
    play = Play(tmp_path, replies, [spy.tool], [Answer(False, reason="not that")])
    play.ask()
    assert spy.ran == []
    assert "for a sub-agent" in play.scene.person.asked[0].reason
    told = play.scene.model.requests[2].conversation[-1]
    assert "not that" in told.text


def test_a_denied_tool_stays_denied(tmp_path):
    spy = Spy(effect="write")
    replies = [task(), calls(call("look", n=1)), Assistant("No."), Assistant("Done.")]
    play = Play(tmp_path, replies, [spy.tool], policy=Policy((Rule("look", "deny"),)))
    play.ask()
    assert spy.ran == []
    assert play.scene.person.asked == []


def test_an_always_that_a_person_said_there_is_passed_on(tmp_path):
    spy = Spy(effect="write")
    scope = Scope("look", Rule("look", "allow"))
    replies = [
        task(),
        calls(call("look", n=1)),
        calls(call("look", "c2", n=2)),
        Assistant("Found."),
        Assistant("Done."),
    ]
    play = Play(tmp_path, replies, [spy.tool], [Answer(True, scope=scope)])
    play.ask()
    assert len(spy.ran) == 2
    assert play.granted == [Rule("look", "allow")]
    assert play.scene.log.of(PolicyChanged) == []


def test_it_gets_a_part_of_the_tools_and_never_more(tmp_path):
    replies = [task(tools=["look"]), Assistant("Found."), Assistant("Done.")]
    play = Play(tmp_path, replies, [Spy().tool, Spy("other").tool])
    play.ask()
    assert [tool.name for tool in play.scene.model.requests[1].tools] == ["look"]


@pytest.mark.parametrize("name", ["delegate", "todo", "rm"])
def test_a_tool_that_cannot_be_passed_on_is_said(tmp_path, name):
    replies = [task(tools=[name]), Assistant("Done.")]
    result = Play(tmp_path, replies, [Spy().tool]).ask()
    assert name in result.calls[0].result
    assert "look" in result.calls[0].result
    assert result.calls[0].outcome == "failed"


def test_a_sub_agent_cannot_delegate_further(tmp_path):
    replies = [task(), task("Again."), Assistant("No."), Assistant("Done.")]
    play = Play(tmp_path, replies)
    play.ask()
    assert "not available" in play.scene.model.requests[2].conversation[-1].text


def test_it_ends_at_its_own_limit_and_the_main_agent_goes_on(tmp_path):
    spy = Spy(answer=lambda arguments: f"seen {arguments['n']}")
    work = [calls(call("look", f"c{n}", n=n)) for n in range(REQUESTS)]
    replies = [task(), *work, Assistant("So far."), Assistant("Done.")]
    result = Play(tmp_path, replies, [spy.tool]).ask()
    assert len(spy.ran) == REQUESTS
    assert result.calls[0].result.startswith("So far.")
    assert "limit" in result.calls[0].result or "requests" in result.calls[0].result
    assert result.text == "Done."


def test_half_of_the_budget_is_the_most_it_may_use(tmp_path):
    used = Usage(60, 0, requests=1)
    replies = [
        task(),
        replaced(calls(call("look", n=1)), used),
        replaced(Assistant("Sum."), used),
        Assistant("Done."),
    ]
    play = Play(tmp_path, replies, [Spy().tool], limits=Limits(tokens=100))
    result = play.ask()
    assert "budget of 50 tokens" in result.calls[0].result


def replaced(message, usage):
    from dataclasses import replace

    return replace(message, usage=usage)


def test_a_model_that_fails_in_it_is_a_failed_call_and_not_the_end_of_the_turn(tmp_path):
    replies = [task(), ModelError("the server is gone"), Assistant("Done.")]
    result = Play(tmp_path, replies).ask()
    assert "the server is gone" in result.calls[0].result
    assert result.calls[0].outcome == "failed"
    assert result.text == "Done."


def test_an_interrupt_ends_it_with_the_turn(tmp_path):
    async def asking():
        started = asyncio.Event()

        async def slow(arguments, report):
            started.set()
            await asyncio.Event().wait()

        from dataclasses import replace

        tool = replace(Spy().tool, run=slow)
        play = Play(tmp_path, [task(), calls(call("look", n=1))], [tool])
        turn = play.scene.turn()
        play.delegation.turn = turn
        running = asyncio.ensure_future(play.scene.session.ask("Go", turn, play.scene.log))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return play.scene.session

    session = asyncio.run(asking())
    assert isinstance(session.conversation[-1], Assistant)
    assert session.last.calls[0].outcome == "interrupted"


def test_an_empty_task_and_a_call_outside_of_a_cell_are_refused(tmp_path):
    result = Play(tmp_path, [task("  "), Assistant("Done.")]).ask()
    assert "empty" in result.calls[0].result
    scene = Scene(
        [task(), Assistant("Done.")],
        [delegate_tool(Workspace(lambda: tmp_path), Delegation())],
    )
    assert "No cell is running" in scene.ask("Go").calls[0].result
