"""Calling a function of a skill: in a thread or awaited, its result and its errors as text."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.library.signatures import Signature
from agent_magics.skill.naming import shown
from agent_magics.tool import Arguments, Report, ToolOutput

Outcome: TypeAlias = tuple[Any, BaseException | None]
"""What a call returned, and what it raised."""

MAX_ERROR = 500
"""Characters of an exception's text that the model reads."""


@dataclass(frozen=True, slots=True)
class Call:
    """How one of the skill's functions is called."""

    function: Callable[..., Any]
    signature: Signature
    workspace: Callable[[], Path]
    root: Path

    async def run(self, arguments: Arguments, report: Report) -> ToolOutput:
        """Call the function; a synchronous one in a thread, so that the kernel stays responsive."""
        named = dict(arguments)
        if self.signature.wants_workspace:
            named["workspace"] = self.workspace()
        makers, positional = self.signature.makers, self.signature.positional

        def work() -> Any:
            made = {k: makers[k](v) if k in makers else v for k, v in named.items()}
            placed = [made.pop(name) for name in positional if name in made]
            return self.function(*placed, **made)

        result, error = await self._outcome(work)
        if isinstance(error, ToolError):
            raise error
        if error is not None:
            raise ToolError(said(error, self.root)) from error
        return result if isinstance(result, ToolOutput) else ToolOutput(_text(result))

    async def _outcome(self, work: Callable[[], Any]) -> Outcome:
        """What the function returned or raised; being cancelled is neither."""
        if inspect.iscoroutinefunction(self.function):
            return await _awaited(work)
        result, error = await _in_thread(work)
        if error is None and inspect.isawaitable(result):
            return await _awaited(lambda: result)
        return result, error


async def _awaited(work: Callable[[], Any]) -> Outcome:
    try:
        return await work(), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - for the model to read
        return None, error


async def _in_thread(work: Callable[[], Any]) -> Outcome:
    """What the work returned or raised in a thread of its own.

    Not asyncio's pool: an interrupted call must not keep the loop, or the kernel's end, waiting.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: Outcome) -> None:
        if not done.done():
            done.set_result(outcome)

    def body() -> None:
        try:
            outcome: Outcome = (context.run(work), None)
        except BaseException as raised:  # noqa: BLE001 - in a thread, no person pressed a key
            outcome = (None, raised)
        with contextlib.suppress(RuntimeError):  # the loop is gone, and nobody waits any more
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=body, name="skill tool", daemon=True).start()
    return await done


def _text(result: object) -> str:
    if isinstance(result, str):
        # Half characters, as file names can have them, cannot be sent.
        return result.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        return _text(json.dumps(result, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"the tool's result cannot be written as JSON: {error}") from error


def said(error: BaseException, root: Path) -> str:
    """An exception in one line, with the place in the skill's files that it came from."""
    try:
        text = shown(str(error), MAX_ERROR)
    except Exception:  # noqa: BLE001 - an exception's own text can raise
        text = ""
    return f"{type(error).__name__}: {text}".removesuffix(": ") + place(error, root)


def place(error: BaseException, root: Path) -> str:
    """` (tools.py:12)`, for the innermost frame in the skill's folder."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = relative_name(frame.f_code.co_filename, root)
        found = f" ({name}:{line})" if name else found
    return found


def relative_name(file: str | None, root: Path) -> str:
    """A file's name below the skill's folder; empty for files elsewhere."""
    if not file or not Path(file).is_relative_to(root):
        return ""
    return Path(file).relative_to(root).as_posix()
