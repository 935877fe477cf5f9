"""The hooks of one turn: who is told what, in which order, and what becomes of their words.

A hook that fails, in whichever way, is a word with a `problem`; it never breaks the turn. Redaction
and the threads that functions run on are given.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_magics.hooks.command import run_command
from agent_magics.hooks.hook import Hook, HookCommand, Point
from agent_magics.hooks.said import (
    HookFailure,
    Said,
    bounded,
    said_by_command,
    said_by_function,
)
from agent_magics.hooks.told import Around, HookCall, HookTurn, call_after, call_before
from agent_magics.messages import ToolCall, ToolResult
from agent_magics.plain import visible
from agent_magics.policy import CallFacts, Verdict
from agent_magics.ports import HookWord
from agent_magics.result import TurnResult

OnThread: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a function where the person's code runs; cancelling the wait stops it where that can be."""
MAX_PROBLEM = 300
"""Characters of an exception's text that are shown."""


@dataclass(frozen=True, slots=True)
class TurnHooks:
    """Tells the hooks of a turn, one after the other.

    Args:
        hooks: In the order in which they are told.
        around: What all are told.
        on_thread: Runs functions.
        environment: The variables of commands: all but those named, if they look like secrets.
        redact: Takes secrets out of what hooks say.
    """

    hooks: tuple[Hook, ...]
    around: Around
    on_thread: OnThread
    environment: Callable[[Sequence[str]], Mapping[str, str]]
    redact: Callable[[str], str]

    async def before_call(
        self, call: ToolCall, facts: CallFacts, verdict: Verdict
    ) -> Sequence[HookWord]:
        """What they say of a call that may run; after a no, nobody else is told."""
        words: list[HookWord] = []
        for hook in self._at("before_call"):
            if hook.about(facts):
                told = call_before(call, facts, verdict, self.around)
                words.append(await self._word(hook, told))
                if words[-1].decision == "deny":
                    break
        return words

    async def after_call(
        self, call: ToolCall, facts: CallFacts, result: ToolResult, seconds: float
    ) -> Sequence[HookWord]:
        """What they say of a call that ran."""
        return [
            await self._word(hook, call_after(call, facts, result, seconds, self.around))
            for hook in self._at("after_call")
            if hook.about(facts)
        ]

    async def turn_start(
        self, prompt: str, skills: Sequence[str], *, first: bool
    ) -> Sequence[HookWord]:
        """What they want the model to read beside the prompt.

        Args:
            prompt: What was asked.
            skills: Names of the active skills.
            first: Whether the conversation begins with it.
        """
        around = self.around
        words: list[HookWord] = []
        points: tuple[Point, ...] = ("session_start", "turn_start") if first else ("turn_start",)
        for point in points:
            told = HookTurn(
                point, prompt, around.session, around.folder, around.model, tuple(skills)
            )
            words += [await self._word(hook, told) for hook in self._at(point)]
        return words

    async def turn_end(self, result: TurnResult) -> Sequence[HookWord]:
        """Tell them what the turn brought; their notes are for the person."""
        around = self.around
        names = tuple(name for name, _ in result.skills)
        told = HookTurn(
            "turn_end", result.prompt, around.session, around.folder, result.model, names, result
        )
        return [await self._word(hook, told) for hook in self._at("turn_end")]

    def _at(self, point: Point) -> tuple[Hook, ...]:
        return tuple(hook for hook in self.hooks if hook.point == point)

    async def _word(self, hook: Hook, told: HookCall | HookTurn) -> HookWord:
        try:
            said = bounded(await self._said(hook, told), self.redact)
        except HookFailure as failure:
            return HookWord(hook.shown, problem=self.redact(str(failure)))
        except Exception as error:  # noqa: BLE001  # a person's code may raise anything
            return HookWord(hook.shown, problem=self.redact(_shown(error)))
        return HookWord(hook.shown, said.decision, said.reason, said.note)

    async def _said(self, hook: Hook, told: HookCall | HookTurn) -> Said:
        action = hook.action
        if isinstance(action, HookCommand):
            variables = self.environment(action.variables)
            ended = await run_command(
                action, told.json(hook), variables, self.around.folder, hook.timeout
            )
            output, errors = self.redact(ended.output), self.redact(ended.errors)
            return said_by_command(ended.status, output, errors, hook.point)
        try:
            async with asyncio.timeout(hook.timeout) as clock:
                value = await self._called(action, told)
        except TimeoutError as error:
            if not clock.expired():
                raise
            raise HookFailure(f"it took longer than {hook.timeout:g} s") from error
        return said_by_function(value, hook.point)

    async def _called(self, action: Callable[[Any], Any], told: HookCall | HookTurn) -> object:
        """The function's result; a coroutine is awaited in the agent's own event loop."""
        if inspect.iscoroutinefunction(action):
            return await action(told)
        value = await self.on_thread(lambda: action(told))
        return await value if inspect.isawaitable(value) else value


def _shown(error: Exception) -> str:
    try:
        text = " ".join(visible(str(error)).split())[:MAX_PROBLEM]
    except Exception:  # noqa: BLE001  # an exception's own text can raise
        text = ""
    return f"{type(error).__name__}: {text}".removesuffix(": ")
