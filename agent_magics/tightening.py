"""What hooks do to a call: its verdict may get stricter, its result may get a note. Nothing else.

The one place that keeps the promise: whatever a hook says, a verdict never gets milder, arguments
stay, and an error stays an error. Knows no hook, only their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_magics.events import Notice
from agent_magics.fencing import fenced
from agent_magics.messages import Display, ToolCall, ToolResult
from agent_magics.policy import CallFacts, Decision, Verdict
from agent_magics.ports import Hooks, HookWord

_ORDER: dict[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


async def tightened(
    hooks: Hooks | None, call: ToolCall, facts: CallFacts, verdict: Verdict
) -> tuple[Verdict, tuple[Notice, ...]]:
    """The verdict after the hooks have spoken, and what the person should know of them.

    Args:
        hooks: None: there are none.
        call: With the arguments that would run.
        facts: Of the call.
        verdict: The policy's; where it denies, there is nothing to tighten.
    """
    if hooks is None or verdict.decision == "deny":
        return verdict, ()
    words = await hooks.before_call(call, facts, verdict)
    for word in words:
        verdict = stricter(verdict, word)
    return verdict, problems(words)


def stricter(verdict: Verdict, word: HookWord) -> Verdict:
    """The verdict with a hook's word; a hook that failed wants the call to be asked about."""
    decision: Decision | None = word.decision or ("ask" if word.problem else None)
    if decision is None or _ORDER.get(decision, 0) < max(_ORDER[verdict.decision], 1):
        return verdict
    why = word.problem or word.reason
    reason = f"{word.hook}: {why}" if why else word.hook
    if decision == verdict.decision:
        reason = f"{verdict.reason}; {reason}"
    return Verdict(decision, reason, word.hook)


async def noted(
    hooks: Hooks | None, call: ToolCall, facts: CallFacts, result: ToolResult, seconds: float
) -> tuple[ToolResult, tuple[Notice, ...]]:
    """The result with what hooks have to say about it, and what the person should know of them.

    Args:
        hooks: None: there are none.
        call: As it ran.
        facts: Of the call.
        result: What came back; its text and its success stay.
        seconds: How long the call ran.
    """
    if hooks is None:
        return result, ()
    words = await hooks.after_call(call, facts, result, seconds)
    for word in words:
        if word.note:
            shown = (Display("text", f"{word.hook}: {word.note}"),) if result.display else ()
            note = fenced("hook_note", word.note, {"from": word.hook})
            result = replace(
                result, text=f"{result.text}\n{note}", display=(*result.display, *shown)
            )
    return result, problems(words)


def problems(words: Sequence[HookWord]) -> tuple[Notice, ...]:
    """What failed, as notices."""
    return tuple(
        Notice(f"{word.hook} failed: {word.problem}", "warning") for word in words if word.problem
    )
