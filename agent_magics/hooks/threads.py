"""A function of the person's on a thread of its own, where no thread of theirs waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from agent_magics.hooks.said import HookFailure


async def on_own_thread(job: Callable[[], Any]) -> Any:
    """Run a function and give its result; who stops waiting leaves it behind.

    Not in asyncio's pool: one that never ends must not keep the loop from closing.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: object, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)

    def body() -> None:
        result, failed = None, None
        try:
            result = context.run(job)
        except Exception as error:  # noqa: BLE001  # handed on to who waits
            failed = HookFailure("StopIteration") if isinstance(error, StopIteration) else error
        except BaseException as error:  # noqa: BLE001  # an exit in a thread ends nothing
            failed = HookFailure(f"{type(error).__name__}: {error}")
        with contextlib.suppress(RuntimeError):  # the loop is gone, and nobody waits any more
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=body, name="agent_magics hook", daemon=True).start()
    return await done
