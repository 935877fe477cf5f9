"""`%agent report`: what was refused in this kernel, for notebooks that run by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.views import View, table_view

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.session import CallRecord

STRICT = "--strict"


def report(magics: Controls, words: str) -> View:
    """The calls that did not run because a person or a rule said no, or nobody could answer.

    Args:
        magics: Whose sessions are looked at.
        words: Nothing, or `--strict`: end with an error if there is one, so that the run of the
            notebook fails.

    Raises:
        UsageProblem: Other words; or, with `--strict`, calls were refused.
    """
    if words not in ("", STRICT):
        raise UsageProblem(f"%agent report takes nothing or {STRICT}, not {words!r}.")
    refused = [
        (session.name, call) for session in magics.sessions.values() for call in session.refusals
    ]
    if words == STRICT and refused:
        lines = "\n".join(f"- {_shown(call)}: {_why(call)}" for _, call in refused)
        raise UsageProblem(
            f"{_counted(len(refused))} refused:\n{lines}\nAllow what the run needs in your "
            "configuration file, or take it out of the prompts."
        )
    rows = [(name, _shown(call), _why(call)) for name, call in refused]
    title = f"{_counted(len(refused))} refused"
    return table_view(title, ("session", "call", "why"), rows)


def _counted(number: int) -> str:
    if number == 1:
        return "1 call was"
    return f"{number} calls were" if number else "No call was"


def _shown(call: CallRecord) -> str:
    values = call.asked.values() if isinstance(call.asked, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    line = " ".join(f"{call.name} {first}".split())
    return line if len(line) <= 120 else line[:119] + "…"


def _why(call: CallRecord) -> str:
    who = {
        "nobody": "nobody could answer",
        "timeout": "no answer in time",
        "policy": "a rule",
        "judge": "the reviewer model",
    }.get(call.by, "refused")
    return f"{who}: {call.reason}" if call.reason else who
