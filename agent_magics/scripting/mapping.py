"""The same prompt over many inputs: begins items, takes what comes back, keeps the order.

Owns how many are under way, when no more are begun, and that nothing that was read or answered is
lost, however it ends. What runs the items is an executor, and what an item is, the worker's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agent_magics.errors import AgentMagicsError, UsageProblem
from agent_magics.frontends.runner import GRACE
from agent_magics.messages import Usage
from agent_magics.scripting.bounds import Bounds
from agent_magics.scripting.inputs import Prompts
from agent_magics.scripting.items import InputsFailed, Item, MapInterrupted, MapResult, tokens
from agent_magics.scripting.jobs import Done, Runners
from agent_magics.scripting.saving import Redact, SaveFile

TICK = 0.5
"""Seconds after which an interrupt is seen at the latest, where waiting hides it."""
AGAIN = 0.1
"""Seconds between words to turns that shall end; one that is just beginning may miss the first."""


class Progress(Protocol):
    """Shows how far it is."""

    def show(self, finished: int, total: int | None, words: str) -> None:
        """Show it; never raises."""

    def close(self, words: str = "") -> None:
        """Leave these words."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """What is done with each input.

    Args:
        work: Does one item: takes what is `fixed`, the prompt, a name, and who may end it.
        fixed: Travels with each item.
        prompts: Makes the prompts.
        bounds: Of all items.
        redact: Takes secrets out of a text.
        file: Of answers; None: none is kept.
    """

    work: Callable[..., Done]
    fixed: tuple[Any, ...]
    prompts: Prompts
    bounds: Bounds
    redact: Redact
    file: SaveFile | None = None

    def over(self, inputs: Iterable[Any], executor: Executor | None, shown: Progress) -> MapResult:
        """Do all items.

        Args:
            inputs: Read as they are needed.
            executor: Runs them; None: threads of our own.
            shown: Told how far it is.

        Raises:
            InputsFailed: The iterable raised.
            MapInterrupted: Somebody stopped it.
        """
        _check_inputs(inputs)
        total = len(inputs) if isinstance(inputs, Sized) else None
        if executor is not None:
            if not callable(getattr(executor, "submit", None)):
                raise UsageProblem(
                    f"executor has a method submit(), as those of concurrent.futures; "
                    f"{_kind(executor)} has none."
                )
            most = self.bounds.workers * 2
            return _Run(self, iter(inputs), total, executor, most, shown).whole()
        own = ThreadPoolExecutor(self.bounds.workers, "agent_magics.map")
        try:
            return _Run(self, iter(inputs), total, own, self.bounds.workers, shown).whole()
        finally:
            # What an interrupt left is ended already, or ends by itself.
            own.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class _Run:
    """One pass over the inputs."""

    mapping: Mapping
    source: Iterator[Any]
    total: int | None
    executor: Executor
    most: int
    shown: Progress
    items: list[Item] = field(default_factory=list)
    waiting: dict[Future[Done], int] = field(default_factory=dict)
    runners: Runners | None = None
    usage: Usage = Usage()
    stopped: str = ""
    exhausted: bool = False
    unread: bool = False
    failure: Exception | None = None
    notes: list[str] = field(default_factory=list)
    finished: int = 0
    failures: int = 0
    name: str = field(default_factory=lambda: os.urandom(6).hex())

    def whole(self) -> MapResult:
        """Do everything."""
        if isinstance(self.executor, ThreadPoolExecutor):
            self.runners = Runners()
        try:
            self._go()
        except KeyboardInterrupt:
            self._interrupted()
            raise MapInterrupted(self._result()) from None
        if self.failure is not None:
            raise InputsFailed(self.failure, self._result()) from self.failure
        return self._result()

    def _go(self) -> None:
        while True:
            while not self.exhausted and len(self.waiting) < self.most:
                self._next()
            if not self.waiting:
                return
            ready, _ = wait(self.waiting, timeout=TICK, return_when=FIRST_COMPLETED)
            for future in ready:
                self._take(future)
            self._show()

    # -- beginning --------------------------------------------------------------------------

    def _next(self) -> None:
        """Read one more input, and begin its item if that is to be done."""
        if self.stopped and self.total is None:
            # Such inputs may have no end.
            self.exhausted = self.unread = True
            return
        try:
            value = next(self.source)
        except StopIteration:
            self.exhausted = True
            return
        except Exception as error:  # noqa: BLE001  # whatever it is, the answers are kept
            self.failure, self.exhausted = error, True
            return
        item = Item(len(self.items), value)
        self.items.append(item)
        try:
            text = self.mapping.prompts.text(value)
        except Exception as error:  # noqa: BLE001  # one input's failure must not end the others
            self._settle(replace(item, status="failed", error=self._said(error)))
            return
        item = replace(item, key=self.mapping.prompts.key(text))
        self.items[item.index] = item
        file = self.mapping.file
        saved = file.found(item) if file is not None else None
        if saved is not None:
            self._settle(saved)
        elif self.stopped:
            self._settle(replace(item, error=self.stopped))
        else:
            self._begin(item, text)

    def _begin(self, item: Item, text: str) -> None:
        mapping = self.mapping
        name = f"{self.name}-{item.index}"
        try:
            future = self.executor.submit(mapping.work, *mapping.fixed, text, name, self.runners)
        except Exception as error:  # noqa: BLE001  # an executor that is closed or broken, of any kind
            self.stopped = f"the executor takes no more items ({self._said(error)})"
            self._settle(replace(item, error=self.stopped))
            return
        self.waiting[future] = item.index

    # -- ending -----------------------------------------------------------------------------

    def _take(self, future: Future[Done]) -> None:
        """Settle what an item came to.

        It waits until it is settled: an interrupt in between takes it once more, and its answer
        is not lost.
        """
        self._end(future, self.items[self.waiting[future]])
        del self.waiting[future]

    def _end(self, future: Future[Done], item: Item) -> None:
        try:
            failure = future.exception()
        except CancelledError:
            self._settle(replace(item, error=self.stopped or "the executor cancelled it"))
            return
        if failure is None:
            self._settle(self._answered(item, future.result()))
        elif not isinstance(failure, Exception):
            self._settle(replace(item, error="interrupted"))
        else:
            gone = "its worker ended abruptly: " if isinstance(failure, BrokenExecutor) else ""
            self._settle(replace(item, status="failed", error=gone + self._said(failure)))

    def _answered(self, item: Item, done: Done) -> Item:
        self.usage += done.usage
        self.stopped = self.stopped or self.mapping.bounds.reached(self.usage)
        item = replace(item, usage=done.usage, seconds=done.seconds)
        result = done.result
        if result is None:
            return replace(item, status="failed", error=done.error)
        item = replace(
            item,
            status="done",
            text=result.text,
            reason=result.reason,
            findings=result.findings,
            result=result,
        )
        # One that ended early may end better with other bounds, and is tried again.
        if result.reason == "answered":
            self._save(item)
        return item

    def _save(self, item: Item) -> None:
        if self.mapping.file is None or self.notes:
            return
        try:
            self.mapping.file.add(item)
        except UsageProblem as problem:
            self.notes.append(f"Not all answers are saved: {problem}")

    def _settle(self, item: Item) -> None:
        self.items[item.index] = item
        self.finished += item.status != "not run"
        self.failures += item.status == "failed"

    def _interrupted(self) -> None:
        """End what runs in threads, give up the rest, and take what is done."""
        self.unread, self.stopped = not self.exhausted, "interrupted"
        with suppress(KeyboardInterrupt):  # a second one does not wait for the turns
            for future in self.waiting:
                future.cancel()
            until = time.monotonic() + GRACE
            while self.runners is not None and time.monotonic() < until:
                self.runners.stop()
                if not wait(self.waiting, timeout=AGAIN).not_done:
                    break
        for future in [future for future in self.waiting if future.done()]:
            self._take(future)
        for index in self.waiting.values():
            self.items[index] = replace(self.items[index], error="interrupted")

    def _result(self) -> MapResult:
        result = MapResult(tuple(self.items), self.unread, tuple(self.notes))
        self.shown.close(result.summary())
        return result

    def _show(self) -> None:
        words = [f"{self.failures} failed"] if self.failures else []
        self.shown.show(self.finished, self.total, " · ".join([*words, tokens(self.usage)]))

    def _said(self, error: Exception) -> str:
        told = str(error) if isinstance(error, AgentMagicsError) else ""
        return self.mapping.redact(told or f"{type(error).__name__}: {error}")


def _check_inputs(inputs: object) -> None:
    """What can be iterated over, but not by what a person means, is refused, too."""
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        raise UsageProblem(f"inputs is a list or another iterable, not {_kind(inputs)}.")
    if isinstance(inputs, dict):
        raise UsageProblem("inputs is a dict; say which: its .values(), or list(its .items()).")
    if hasattr(inputs, "columns") and hasattr(inputs, "shape"):
        raise UsageProblem(
            "inputs is a data frame; for one item a row: df.to_dict('records') of pandas, "
            "df.to_dicts() of polars."
        )


def _kind(value: object) -> str:
    return type(value).__name__
