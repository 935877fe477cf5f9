"""The two threads of a cell: where work runs, how interrupts end it, what comes out."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent_magics.errors import AgentMagicsError
from agent_magics.frontends.runner import AgentInterrupted, Runner


def run(main: Callable[[Runner[Any]], Awaitable[Any]], **options: Any) -> Any:
    runner: Runner[Any] = Runner(lambda: main(runner), **options)
    return runner.run()


def press() -> None:
    """Interrupt as a person would."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_the_agent_has_a_thread_and_a_loop_of_its_own_and_its_result_comes_back():
    async def main(_runner):
        asyncio.get_running_loop()
        return threading.current_thread()

    assert run(main) is not threading.current_thread()


def test_what_the_agent_raises_is_raised_in_the_cell():
    async def main(_runner):
        raise AgentMagicsError("no model")

    with pytest.raises(AgentMagicsError, match="no model"):
        run(main)


def test_the_context_of_the_cell_is_the_context_of_the_agent():
    variable = contextvars.ContextVar("variable", default="")
    variable.set("of the cell")

    async def main(_runner):
        return variable.get()

    assert run(main) == "of the cell"


def test_an_errand_runs_on_the_thread_of_the_cell():
    async def main(runner):
        return await runner.on_main(threading.current_thread)

    assert run(main) is threading.current_thread()


def test_several_errands_run_in_the_order_in_which_they_were_sent():
    order = []

    async def main(runner):
        await asyncio.gather(*(runner.on_main(lambda n=n: order.append(n)) for n in range(5)))

    run(main)
    assert order == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("odd"), ValueError),
        (SystemExit(3), AgentMagicsError),
        (StopIteration(1), AgentMagicsError),
        (KeyboardInterrupt(), AgentMagicsError),
    ],
)
def test_what_an_errand_raises_reaches_the_agent_in_a_form_it_can_take(error, expected):
    async def main(runner):
        def fails():
            raise error

        with pytest.raises(expected):
            await runner.on_main(fails)
        return "went on"

    assert run(main) == "went on"


def test_messages_are_polled_for_while_the_cell_waits():
    polled = threading.Event()

    async def main(_runner):
        await asyncio.to_thread(polled.wait)
        return "polled"

    assert run(main, poll=polled.set) == "polled"


def test_an_interrupt_cancels_the_turn_which_ends_its_own_business_first():
    log = []

    async def main(_runner):
        try:
            press()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            log.append("closed")

    with pytest.raises(AgentInterrupted, match="the next cell can go on") as raised:
        run(main)
    assert log == ["closed"]
    assert "winding down" not in str(raised.value)


def test_an_interrupt_is_shown_in_one_line():
    async def main(_runner):
        press()
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt) as raised:
        run(main)
    (line,) = raised.value._render_traceback_()
    assert "AgentInterrupted" in line
    assert "\n" not in line


def test_an_interrupt_counts_even_when_the_turn_made_something_of_it():
    async def main(_runner):
        try:
            press()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "an answer all the same"

    with pytest.raises(AgentInterrupted):
        run(main)


def test_an_interrupt_stops_the_errand_and_then_the_turn():
    log = []

    def endless():
        try:
            press()
            threading.Event().wait()
        except KeyboardInterrupt:
            log.append("errand stopped")
            raise

    async def main(runner):
        try:
            await runner.on_main(endless)
            log.append("went on")
        except asyncio.CancelledError:
            log.append("turn stopped")
            raise

    with pytest.raises(AgentInterrupted):
        run(main)
    assert log == ["errand stopped", "turn stopped"]


def test_an_interrupt_that_the_errand_swallows_ends_the_turn_all_the_same():
    def stubborn():
        try:
            press()
            threading.Event().wait()
        except KeyboardInterrupt:
            return "swallowed"

    log = []

    async def main(runner):
        log.append(await runner.on_main(stubborn))

    for _ in range(50):
        with pytest.raises(AgentInterrupted):
            run(main)
    assert log == []


def test_an_errand_sent_after_an_interrupt_is_not_run():
    ran = []

    async def main(runner):
        try:
            press()
            await asyncio.Event().wait()
        finally:
            with pytest.raises(AgentMagicsError, match="interrupted"):
                await runner.on_main(lambda: ran.append(1))

    with pytest.raises(AgentInterrupted):
        run(main)
    assert ran == []


def test_the_second_interrupt_ends_the_cell_at_once_though_a_tool_blocks():
    let_go, ended = threading.Event(), threading.Event()

    async def main(runner):
        press()
        while not runner.presses:
            pass
        press()
        let_go.wait()
        ended.set()

    with pytest.raises(AgentInterrupted, match="still winding down"):
        run(main)
    assert not ended.is_set()
    let_go.set()
    assert ended.wait(30)


def test_a_tool_that_blocks_after_one_interrupt_is_waited_for_and_then_left():
    let_go = threading.Event()

    async def main(_runner):
        press()
        let_go.wait()

    with pytest.raises(AgentInterrupted, match="still winding down"):
        run(main, grace=0.2)
    let_go.set()


def test_a_worker_thread_that_a_tool_left_blocked_does_not_hold_up_the_cell():
    let_go = threading.Event()

    async def main(_runner):
        press()
        await asyncio.to_thread(let_go.wait)

    with pytest.raises(AgentInterrupted) as raised:
        run(main)
    let_go.set()
    assert "winding down" not in str(raised.value)


def test_giving_up_on_an_errand_stops_it_and_the_turn_goes_on():
    started, log = threading.Event(), []

    def endless():
        started.set()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            log.append("stopped")
            raise

    async def main(runner):
        waiting = asyncio.ensure_future(runner.on_main(endless))
        await asyncio.to_thread(started.wait)
        waiting.cancel()
        log.append(await runner.on_main(lambda: "next"))

    run(main)
    assert log == ["stopped", "next"]


def test_giving_up_on_an_errand_before_its_turn_means_that_it_never_runs():
    release, log = threading.Event(), []

    async def main(runner):
        first = asyncio.ensure_future(runner.on_main(release.wait))
        second = asyncio.ensure_future(runner.on_main(lambda: log.append("ran")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        release.set()
        await first
        await runner.on_main(lambda: None)

    run(main)
    assert log == []


def test_the_handler_of_interrupts_is_put_back_however_the_cell_ends():
    before = signal.getsignal(signal.SIGINT)

    async def fails(_runner):
        raise ValueError

    async def pressed(_runner):
        press()
        await asyncio.Event().wait()

    for main, error in ((fails, ValueError), (pressed, AgentInterrupted)):
        with pytest.raises(error):
            run(main)
        assert signal.getsignal(signal.SIGINT) is before


def test_a_cell_of_another_thread_works_but_for_interrupts():
    results = []

    async def main(runner):
        return await runner.on_main(threading.current_thread)

    thread = threading.Thread(target=lambda: results.append(run(main)))
    thread.start()
    thread.join(30)
    assert results == [thread]


def test_a_turn_that_cancels_itself_ends_like_an_interrupt():
    async def main(_runner):
        raise asyncio.CancelledError

    with pytest.raises(AgentInterrupted, match="cancelled"):
        run(main)
