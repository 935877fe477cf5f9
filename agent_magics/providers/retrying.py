"""The one owner of retries: asks until there is an answer, or a reason to stop.

Owns how often, how long to wait, and what the reader of the stream is told about it. A try is
any function that gives deltas and an answer or raises `Fault`; nothing of a try was executed
before its answer is whole, so a broken one can always be made again. Knows no client.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.events import AnswerRestarted, Notice, Retrying
from agent_magics.messages import Assistant, Usage
from agent_magics.ports import Clock, Request, Sleep, Streamed
from agent_magics.providers.endpoint import Patience
from agent_magics.providers.faults import Fault

FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""Seconds; the n-th wait is drawn evenly from zero to the first delay times 2 to the n ("full
jitter", which keeps many clients from coming back at the same moment)."""

COUNTED = 5.0
"""Seconds of a wait from which on it is counted down before the person's eyes."""
NUDGE = "Your last message was empty. Go on: answer, or call a tool."

Try: TypeAlias = Callable[[Request], AsyncIterator[Streamed]]
Random: TypeAlias = Callable[[], float]


@dataclass(slots=True)
class _State:
    """What one answer has cost so far."""

    failed: int = 0
    cut: int = 0
    empty: int = 0
    asked: int = 0
    usage: Usage = Usage()


class Persistent:
    """Asks until there is an answer.

    Args:
        ask: One try.
        patience: How long.
        sleep: Waits; cancelling it ends the wait at once.
        rng: Numbers from 0 to 1.
    """

    __slots__ = ("_ask", "_patience", "_rng", "_sleep")

    def __init__(self, ask: Try, patience: Patience, *, sleep: Sleep, rng: Random) -> None:
        self._ask = ask
        self._patience = patience
        self._sleep = sleep
        self._rng = rng

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """The deltas and the answer; what was shown of a failed try is declared void.

        Raises:
            ModelError: There is no answer; the message says why.
        """
        state = _State()
        nudge = request.nudge
        while True:
            shown = False
            state.asked += 1
            try:
                tried = self._ask(replace(request, nudge=nudge))
                async with aclosing(tried) as answer:  # type: ignore[type-var]  # it is a generator
                    async for item in answer:
                        if isinstance(item, Assistant):
                            yield _counted(item, state)
                            return
                        shown = shown or not isinstance(item, Notice)
                        yield item
                raise AssertionError("a try ends with an answer or a fault")
            except Fault as failed:
                fault = failed
            state.usage += fault.usage
            final = self._final(fault, state)
            if isinstance(final, ModelError):
                raise final
            if final is not None:
                yield Notice(str(fault.error), "warning")
                yield _counted(final, state)
                return
            if shown:
                yield AnswerRestarted(fault.reason)
            if fault.kind == "empty":
                # The first time silently with the same request, then with a word about it.
                nudge = f"{request.nudge}\n{NUDGE}".strip() if state.empty > 1 else request.nudge
                continue
            seconds = self._delay(fault, state)
            async for event in self._countdown(fault.reason, seconds, state.failed + 1):
                yield event

    async def _countdown(
        self, reason: str, seconds: float, attempt: int
    ) -> AsyncIterator[Retrying]:
        """Wait, and say each second how long still."""
        yield Retrying(reason, seconds, attempt, self._patience.tries)
        while seconds > COUNTED:
            await self._sleep(1.0)
            seconds -= 1.0
            yield Retrying(reason, seconds, attempt, self._patience.tries)
        if seconds > 0:
            await self._sleep(seconds)

    def _final(self, fault: Fault, state: _State) -> ModelError | Assistant | None:
        """How it ends after a fault; None: it does not, ask again."""
        if fault.kind == "empty":
            return self._final_of_empty(fault, state)
        state.failed += 1
        state.cut += fault.kind == "cut"
        partial = fault.partial
        if not fault.again or (fault.wait or 0) > self._patience.longest_wait:
            return fault.error
        if state.failed < self._patience.tries and state.cut < self._patience.cut:
            return None
        if partial is not None and partial.text and not partial.calls:
            return replace(partial, stop="cut", usage=Usage())  # counted with its fault
        return _tried(fault.error, state.failed)

    def _final_of_empty(self, fault: Fault, state: _State) -> ModelError | Assistant | None:
        state.empty += 1
        if fault.partial is not None and state.empty > 1:  # withheld by a filter, twice
            return fault.partial
        return None if state.empty < 3 and self._patience.tries > 1 else fault.error

    def _delay(self, fault: Fault, state: _State) -> float:
        if fault.wait is not None and fault.wait > 0:
            return fault.wait
        return self._rng() * min(LONGEST_DELAY, FIRST_DELAY * 2.0**state.failed)


def _tried(error: ModelError, times: int) -> ModelError:
    """The error with the number of tries, after what happened and before the advice."""
    if times < 2 or isinstance(error, ContextOverflow):
        return error
    happened, _, advised = str(error).partition("\n")
    return ModelError(
        f"{happened} (tried {times} times)\n{advised}".rstrip(),
        status=error.status,
        retry_after=error.retry_after,
    )


def _counted(message: Assistant, state: _State) -> Assistant:
    """The message with the tokens and the number of requests that it took, failed ones too."""
    usage = message.usage + state.usage
    return replace(message, usage=replace(usage, requests=state.asked))


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Seconds that a server asks to wait, in any of the three forms; None if it does not.

    Args:
        headers: With lower-case names: `retry-after-ms`, or `retry-after` in seconds or as a date.
        clock: Seconds since the epoch, for dates.
    """
    import email.utils  # takes longer than the rest of this package, for a rare header

    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, moment.timestamp() - clock())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
