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
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.library.signatures import Signature
from agent_magics.skill.naming import shown
from agent_magics.tool import Arguments, Report, ToolOutput

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
        placed = [named.pop(name) for name in self.signature.positional if name in named]
        try:
            if inspect.iscoroutinefunction(self.function):
                result = await self.function(*placed, **named)
            else:
                result = await _in_thread(lambda: self.function(*placed, **named))
                result = await result if inspect.isawaitable(result) else result
            return result if isinstance(result, ToolOutput) else ToolOutput(_text(result))
        except (ToolError, asyncio.CancelledError):
            raise
        except (Exception, SystemExit) as error:
            # Whatever a stranger's code raises is for the model to read, and ends this call only.
            raise ToolError(said(error, self.root)) from error


class _Stopped(Exception):
    """Something in a thread that is no `Exception`: there, no person has pressed a key."""


async def _in_thread(work: Callable[[], Any]) -> Any:
    """The work's result, from a thread of its own.

    Not asyncio's pool: an interrupted call must not keep the loop, or the kernel's end, waiting.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def body() -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = context.run(work)
        except StopIteration as raised:  # which a future does not take
            error = _Stopped("StopIteration").with_traceback(raised.__traceback__)
        except Exception as raised:  # noqa: BLE001 - carried to whoever awaits
            error = raised
        except BaseException as raised:  # noqa: BLE001 - SystemExit and the like end this call only
            name = type(raised).__name__
            error = _Stopped(f"{name}: {raised}").with_traceback(raised.__traceback__)
        with contextlib.suppress(RuntimeError):  # the loop is gone, and nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

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
    kind = "" if isinstance(error, _Stopped) else f"{type(error).__name__}: "
    try:
        text = shown(str(error), MAX_ERROR)
    except Exception:  # noqa: BLE001 - an exception's own text can raise
        text = ""
    return f"{kind}{text}".removesuffix(": ") + place(error, root)


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
