"""The owner of retries, and the bound on silence, without any connection."""

from __future__ import annotations

import asyncio
import email.utils
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.events import AnswerRestarted, Notice, ReasoningDelta, Retrying, TextDelta
from agent_magics.messages import Assistant, Usage, User
from agent_magics.ports import Request, Streamed
from agent_magics.providers.endpoint import Patience
from agent_magics.providers.faults import Fault
from agent_magics.providers.retrying import Persistent, retry_after
from agent_magics.providers.watch import Silent, Watch

REQUEST = Request("", (User("x"),))
GOOD = Assistant("fine", usage=Usage(input=5, output=2, requests=1))
ERROR = ModelError("it broke.\nDo this.", status=500)


def lost(**fields: Any) -> Fault:
    return Fault("it broke", ERROR, **fields)


class Script:
    """Tries that end as written; each is (deltas…, answer or fault)."""

    def __init__(self, *tries: Sequence[Any]) -> None:
        self.tries = list(tries)
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> AsyncIterator[Streamed]:
        self.requests.append(request)
        *deltas, end = self.tries.pop(0)
        for delta in deltas:
            yield delta
        if isinstance(end, Fault):
            raise end
        yield end


def run(script: Script, waits: list[float] | None = None, **patience: Any) -> list[Streamed]:
    """Play the tries; `waits` gets what was slept between each two of them."""
    slept: dict[int, float] = {}

    async def sleep(seconds: float) -> None:
        tries = len(script.requests)
        slept[tries] = slept.get(tries, 0) + seconds

    async def main() -> list[Streamed]:
        persistent = Persistent(script.ask, Patience(**patience), sleep=sleep, rng=lambda: 1.0)
        return [item async for item in persistent.stream(REQUEST)]

    items = asyncio.run(main())
    if waits is not None:
        waits.extend(slept.values())
    return items


def test_a_good_answer_passes_as_it_is() -> None:
    assert run(Script([TextDelta("fi"), GOOD])) == [TextDelta("fi"), GOOD]


def test_what_was_shown_is_void_before_the_next_try_is_announced() -> None:
    items = run(Script([TextDelta("fi"), lost()], [GOOD]))
    assert items[:3] == [
        TextDelta("fi"),
        AnswerRestarted("it broke"),
        Retrying("it broke", 1.0, 2, 5),
    ]
    assert items[3].usage.requests == 2


def test_nothing_is_void_when_nothing_was_shown() -> None:
    items = run(Script([Notice("by the way"), lost()], [GOOD]))
    assert [type(item) for item in items] == [Notice, Retrying, Assistant]


def test_waits_double_up_to_half_a_minute() -> None:
    waits: list[float] = []
    run(Script(*[[lost()]] * 9, [GOOD]), waits, tries=10)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30, 30]


def test_a_wait_that_the_server_asks_for_is_kept_exactly() -> None:
    waits: list[float] = []
    run(Script([lost(wait=17.5)], [lost(wait=0)], [GOOD]), waits)
    assert waits == [17.5, 2.0]


def test_a_long_wait_is_counted_down_second_by_second() -> None:
    items = run(Script([lost(wait=7.5)], [GOOD]))
    told = [item.seconds for item in items if isinstance(item, Retrying)]
    assert told == [7.5, 6.5, 5.5, 4.5]


def test_a_longer_wait_than_allowed_is_reported_at_once() -> None:
    waits: list[float] = []
    with pytest.raises(ModelError, match="it broke"):
        run(Script([lost(wait=121)]), waits)
    assert waits == []


def test_what_cannot_help_is_not_repeated() -> None:
    script = Script([lost(again=False)], [GOOD])
    with pytest.raises(ModelError):
        run(script)
    assert len(script.requests) == 1


def test_after_the_last_try_the_error_says_how_many_there_were() -> None:
    with pytest.raises(ModelError) as caught:
        run(Script(*[[lost()]] * 5))
    assert str(caught.value) == "it broke. (tried 5 times)\nDo this."
    assert caught.value.status == 500


def test_an_overflow_keeps_its_class() -> None:
    overflow = Fault("too long", ContextOverflow("too long"), again=False)
    with pytest.raises(ContextOverflow):
        run(Script([overflow]))


def test_an_empty_answer_is_asked_again_silently_then_with_a_nudge() -> None:
    empty = Fault("empty", ERROR, "empty", usage=Usage(input=9, requests=1))
    script = Script([ReasoningDelta("hm"), empty], [empty], [GOOD])
    items = run(script)
    assert [type(item) for item in items] == [ReasoningDelta, AnswerRestarted, Assistant]
    assert [bool(r.nudge) for r in script.requests] == [False, False, True]
    assert items[-1].usage == Usage(input=23, output=2, requests=3)


def test_three_empty_answers_are_an_error() -> None:
    empty = Fault("empty", ERROR, "empty")
    script = Script([empty], [empty], [empty], [GOOD])
    with pytest.raises(ModelError):
        run(script)
    assert len(script.requests) == 3


def test_an_answer_that_a_filter_withheld_twice_is_shown_as_that() -> None:
    withheld = Assistant("(withheld)", stop="filter")
    empty = Fault("empty", ERROR, "empty", partial=withheld)
    script = Script([empty], [empty], [GOOD])
    assert run(script)[-1].stop == "filter"
    assert len(script.requests) == 2


def test_a_stream_that_always_ends_too_early_keeps_its_text_marked_as_cut() -> None:
    half = Assistant("half", stop="cut", usage=Usage(output=4))
    cut = Fault("ended early", ERROR, "cut", partial=half, usage=Usage(output=4))
    script = Script(*[[TextDelta("half"), cut]] * 3)
    items = run(script)
    assert items[-2:] == [
        Notice(str(ERROR), "warning"),
        Assistant("half", stop="cut", usage=Usage(output=12, requests=3)),
    ]


def test_a_cut_answer_with_calls_is_an_error_since_nothing_of_it_can_run() -> None:
    from agent_magics.messages import ToolCall

    half = Assistant("half", (ToolCall("a", "get", problem="cut"),), stop="cut")
    with pytest.raises(ModelError):
        run(Script(*[[Fault("ended early", ERROR, "cut", partial=half)]] * 3))


def test_a_wait_ends_at_once_when_it_is_cancelled() -> None:
    async def main() -> None:
        persistent = Persistent(
            Script([lost(wait=100)]).ask, Patience(), sleep=asyncio.sleep, rng=lambda: 1.0
        )
        waiting = asyncio.Event()

        async def read() -> None:
            async for item in persistent.stream(REQUEST):
                if isinstance(item, Retrying):
                    waiting.set()

        task = asyncio.create_task(read())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), 30))


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": email.utils.formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_all_forms_of_retry_after_are_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, lambda: NOW) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_breaks_the_reading(text: str) -> None:
    seconds = retry_after({"retry-after": text}, lambda: NOW)
    assert seconds is None or seconds >= 0


# --- the watch ---------------------------------------------------------------------------------


def test_a_wait_that_is_too_long_ends_and_later_ones_are_bounded_again() -> None:
    async def main() -> None:
        watch = Watch(0.01)
        for _ in range(3):
            with pytest.raises(Silent):
                await watch.wait(asyncio.Event().wait())
            assert await watch.wait(asyncio.sleep(0, "in time")) == "in time"
        watch.stop()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_shorter_limit_holds_at_once_and_a_longer_one_too() -> None:
    async def main() -> None:
        watch = Watch(1000)
        await watch.wait(asyncio.sleep(0))
        watch.limit = 0.01
        with pytest.raises(Silent):
            await watch.wait(asyncio.Event().wait())
        watch.limit = 1000
        await watch.wait(asyncio.sleep(0.05))
        watch.stop()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_cancellation_from_elsewhere_stays_one() -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def read() -> None:
            watch = Watch(1000)
            begun.set()
            await watch.wait(asyncio.Event().wait())

        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_wait_that_breaks_while_it_is_ended_breaks_and_nothing_else() -> None:
    async def stubborn(end: str) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if end == "error":
                raise KeyError(end) from None
        return end

    async def main() -> None:
        watch = Watch(0.01)
        with pytest.raises(KeyError):
            await watch.wait(stubborn("error"))
        assert await watch.wait(stubborn("late")) == "late"
        await asyncio.sleep(0.03)  # the watch is looked at while nobody waits
        watch.stop()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    asyncio.run(asyncio.wait_for(main(), 30))


def test_errors_of_what_is_waited_for_pass() -> None:
    async def fail() -> None:
        raise KeyError("x")

    async def main() -> None:
        with pytest.raises(KeyError):
            await Watch(1000).wait(fail())

    asyncio.run(main())
