"""`@agent_magics.hook`: makes a function a hook of this shell, or of a program's `run(hooks=…)`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from agent_magics.extension import loaded
from agent_magics.hooks.hook import SECONDS, checked_hook, marked

F = TypeVar("F", bound=Callable[..., Any])


def hook(
    point: str, *, tools: str | Iterable[str] = (), name: str = "", timeout: float = SECONDS
) -> Callable[[F], F]:
    """Make a function a hook: it is told of calls or turns, and may tighten.

        @agent_magics.hook("before_call", tools="run_shell")
        def no_force(call):
            if "--force" in call.arguments["command"]:
                return call.deny("no --force from notebooks")

    In a shell with the extension loaded it is in force from the next cell on, and a cell that is
    run again replaces its own; `%agent hooks` lists and removes. Programs give it to
    `agent_magics.run(…, hooks=[no_force])`.

    Args:
        point: `session_start`, `turn_start`, `before_call`, `after_call` or `turn_end`.
        tools: For the points of a call: names of tools, `*` stands for any text; default: all.
        name: Default: the function's.
        timeout: Seconds, at most 600, after which the hook counts as failed.

    Raises:
        UsageProblem: A value cannot be taken.
        TypeError: What is below it is no function.
    """
    if callable(point):
        raise TypeError("@hook needs a point: @agent_magics.hook('before_call')")

    def mark(function: F) -> F:
        if isinstance(function, type) or not callable(function):
            raise TypeError("@hook goes above a function")
        called = name or str(getattr(function, "__name__", ""))
        made = checked_hook(point, called, function, tools, timeout)
        marked(function, made)
        # Only where IPython is at work already; to import it would cost a script a second.
        known = getattr(sys.modules.get("IPython"), "get_ipython", None)
        shell = known() if known is not None else None
        if shell is None:
            return function
        magics = loaded(shell)
        if magics is None:
            warnings.warn(
                f"the hook {made.name} is not in force for %%agent: %load_ext agent_magics, then "
                "run this again. agent_magics.run takes it with hooks=[…].",
                UserWarning,
                stacklevel=2,
            )
        else:
            magics.hooks.add(made)
        return function

    return mark
