"""What a hook is: a point in a turn, the calls it is about, and a function or a command.

Owns the names of the points, and how a function is marked as a hook. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from agent_magics.errors import UsageProblem
from agent_magics.policy import CallFacts, Rule

Point: TypeAlias = Literal["session_start", "turn_start", "before_call", "after_call", "turn_end"]
POINTS: tuple[Point, ...] = get_args(Point)
CALLS: tuple[Point, ...] = ("before_call", "after_call")
"""The points that are about a call."""
SECONDS = 10.0
"""How long a hook may take, unless it says."""
MAX_SECONDS = 600.0
"""How long it may ask for."""
LONGEST_NAME = 80

_NOTE = "__agent_magics_hooks__"


@dataclass(frozen=True, slots=True)
class HookCommand:
    """A program and its arguments; no shell reads them.

    Args:
        words: The program first, as an absolute path or a name to be found on PATH.
        folder: Where it runs; None: in the workspace.
        variables: Names of environment variables that it gets although they look like secrets.
    """

    words: tuple[str, ...]
    folder: Path | None = None
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook.

    Args:
        point: When it is told.
        name: What the person calls it.
        action: A function of one argument, synchronous or not; or a command.
        tools: Names of the tools it is about, `*` stands for any text; empty: all.
        timeout: Seconds after which it counts as failed.
    """

    point: Point
    name: str
    action: Callable[[Any], Any] | HookCommand
    tools: tuple[str, ...] = ()
    timeout: float = SECONDS

    @property
    def shown(self) -> str:
        """How it stands in verdicts, notices and records."""
        return f"hook {self.name}"

    def about(self, facts: CallFacts) -> bool:
        """Whether it wants to be told of this call."""
        return not self.tools or any(Rule(word, "ask").matches(facts) for word in self.tools)


def checked_hook(
    point: object,
    name: object,
    action: Callable[[Any], Any] | HookCommand,
    tools: str | Iterable[str] = (),
    timeout: object = SECONDS,
) -> Hook:
    """A hook, if that can be one.

    Args:
        point: One of `POINTS`.
        name: Not empty; shortened where it is long.
        action: As in `Hook`.
        tools: Names with blanks between them, or a list of names.
        timeout: Seconds, more than 0, at most `MAX_SECONDS`.

    Raises:
        UsageProblem: A value cannot be taken; the message says which and what could stand there.
    """
    found = next((known for known in POINTS if known == point), None)
    if found is None:
        raise UsageProblem(f"There is no hook point {point!r}; there are: {', '.join(POINTS)}.")
    words = _names(tools)
    if words and found not in CALLS:
        raise UsageProblem(f"{found} is not about calls, so tools= does not go with it.")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise UsageProblem(f"A hook's timeout is a number of seconds, not {timeout!r}.")
    if not 0 < timeout <= MAX_SECONDS:
        raise UsageProblem(
            f"A hook's timeout is more than 0 and at most {MAX_SECONDS:g} seconds, not {timeout!r}."
        )
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not text or not text.isprintable():
        raise UsageProblem(f"A hook needs a name that can be printed, not {name!r}.")
    return Hook(found, text[:LONGEST_NAME], action, words, float(timeout))


def _names(tools: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(tools, str):
        return tuple(tools.split())
    try:
        words = list(tools)
    except TypeError as error:
        raise UsageProblem(f"tools= takes names of tools, not {tools!r}.") from error
    if not all(isinstance(word, str) for word in words):
        raise UsageProblem(f"tools= takes names of tools, not {words!r}.")
    return tuple(words)


def marked(function: Callable[..., Any], hook: Hook) -> None:
    """Note on a function that it is a hook; for the same point, the newer note counts."""
    others = tuple(known for known in hooks_of(function) if known.point != hook.point)
    setattr(function, _NOTE, (*others, hook))


def hooks_of(function: object) -> tuple[Hook, ...]:
    """The hooks that a function is; none for one without the decorator."""
    found = getattr(function, _NOTE, ())
    return found if isinstance(found, tuple) else ()
