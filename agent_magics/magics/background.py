"""Small asynchronous work from a line magic: a kernel's own loop is already running."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the coroutine that `work` makes on a thread with its own loop, and wait for it.

    Raises:
        Whatever the work raises. An interrupt ends the wait at once; the work is left behind.
    """
    results: list[T] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(asyncio.run(work()))
        except BaseException as error:  # noqa: BLE001  # handed on to the thread that waits
            failures.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)  # in slices, so that an interrupt gets through
    if failures:
        raise failures[0]
    return results[0]
