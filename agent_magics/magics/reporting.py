"""`%agent report`: what the agent used in this kernel and what it could not do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.frontends.summary import count, money, safe_line
from agent_magics.magics.views import View, table_view
from agent_magics.messages import Usage

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.result import CallRecord, TurnResult

STRICT = "--strict"
SHOWN = 120
"""Characters of a call and of a prompt that are shown."""

_ENDED = {
    "limit": "it came to a limit",
    "interrupted": "it was interrupted",
    "failed": "it failed",
    "stopped": "the model went in circles",
    "cut": "the answer was cut at the output limit",
    "refused": "the model refused to answer",
}


def report(magics: Controls, words: str) -> View:
    """What did not run or did not end with an answer, and what all turns used.

    Args:
        magics: Whose sessions are looked at.
        words: Nothing, or `--strict`: end with an error if a call was refused or a turn ended
            without an answer, so that the run of the notebook fails.

    Raises:
        UsageProblem: Other words; or, with `--strict`, something did not run or end as asked.
    """
    if words not in ("", STRICT):
        raise UsageProblem(f"%agent report takes nothing or {STRICT}, not {words!r}.")
    sessions = magics.sessions.values()
    refused = [(session.name, call) for session in sessions for call in session.refusals]
    turns = [(session.name, turn) for session in sessions for turn in session.ended]
    short = [(name, turn) for name, turn in turns if turn.reason in _ENDED]
    title = _title(len(refused), len(short))
    rows = [(name, _shown(call), _why(call)) for name, call in refused]
    rows += [(name, f"turn: {safe_line(_prompt(t), SHOWN)}", _ENDED[t.reason]) for name, t in short]
    if words == STRICT and rows:
        lines = "\n".join(f"- {what}: {why}" for _, what, why in rows)
        todo = (
            "\nAllow what the run needs in your configuration file, or take it out of the prompts."
            if refused
            else ""
        )
        raise UsageProblem(f"{title}:\n{lines}{todo}")
    return table_view(title, ("session", "what", "why"), rows, [_used([t for _, t in turns])])


def _title(refused: int, short: int) -> str:
    title = f"{_counted(refused)} refused"
    if not short:
        return title
    return f"{title}; {short} turn{'' if short == 1 else 's'} ended without an answer"


def _used(turns: list[TurnResult]) -> str:
    """Everything that the turns used, in one line."""
    if not turns:
        return "No turn has run."
    usage = sum((turn.usage for turn in turns), Usage())
    requests = sum(turn.requests for turn in turns)
    models = ", ".join(safe_line(name, 80) for name in Counter(turn.model for turn in turns))
    parts = [f"{len(turns)} turn{'' if len(turns) == 1 else 's'}"]
    parts.append(f"{requests} request{'' if requests == 1 else 's'} to {models}")
    if usage.input or usage.output:
        parts.append(f"{count(usage.input)} in / {count(usage.output)} out tokens")
    costs = [turn.cost for turn in turns if turn.cost is not None]
    if costs:
        unknown = len(turns) - len(costs)
        missing = f", without {unknown} whose prices are not known" if unknown else ""
        parts.append(f"cost {money(sum(costs))}{missing}")
    return " · ".join(parts)


def _counted(number: int) -> str:
    if number == 1:
        return "1 call was"
    return f"{number} calls were" if number else "No call was"


def _prompt(turn: TurnResult) -> str:
    return " ".join(turn.prompt.split())


def _shown(call: CallRecord) -> str:
    values = call.asked.values() if isinstance(call.asked, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return safe_line(" ".join(f"{call.name} {first}".split()), SHOWN)


def _why(call: CallRecord) -> str:
    who = {
        "nobody": "nobody could answer",
        "timeout": "no answer in time",
        "policy": "a rule",
        "judge": "the reviewer model",
    }.get(call.by, "refused")
    return f"{who}: {call.reason}" if call.reason else who
