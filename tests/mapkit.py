"""What tests of programs share: models that echo, and an executor without threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from tests.lab_endpoint import Says

INPUT = re.compile(r"<input>\n(.*)\n</input>\Z", re.DOTALL)


def prompt_of(request: dict[str, Any]) -> str:
    """The newest word of the person in a request."""
    return str(next(m for m in reversed(request["messages"]) if m["role"] == "user")["content"])


def input_of(request: dict[str, Any]) -> str:
    """The input in a request of `map`."""
    found = INPUT.search(prompt_of(request))
    assert found is not None, prompt_of(request)
    return found[1]


def echo(request: dict[str, Any]) -> Says:
    """A model that says what it was given."""
    return Says(f"echo {input_of(request)}")


class AtOnce(Executor):
    """Runs each job when it is submitted, on the thread of the caller."""

    def __init__(self, before: Callable[[int], None] = lambda _count: None) -> None:
        self.jobs = 0
        self._before = before

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[override]
        self._before(self.jobs)
        self.jobs += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  # as every executor does
            future.set_exception(error)
        return future
