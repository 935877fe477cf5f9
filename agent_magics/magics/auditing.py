"""What a saved notebook says about itself: who asked what of which model, and who decided what ran.

Reads the metadata of outputs alone; nothing is run, and no text of an output is trusted. What
cannot be read of it is left out and counted, since anybody may have edited the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_magics.errors import UsageProblem
from agent_magics.frontends.blocks_block import VERSION
from agent_magics.frontends.notebook import METADATA_KEY
from agent_magics.frontends.summary import count, money, safe_line
from agent_magics.magics.views import View, table_view
from agent_magics.messages import JSON

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

SHOWN = 80
"""Characters of arguments and prompts in the table; the rows hold them whole."""
LARGEST = 200_000_000
"""Bytes of a notebook that is read."""


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """One call, as its output says.

    Args:
        tool: Its name.
        arguments: As the model wrote them.
        edited: As a person changed them; None: they did not.
        decision: allow, ask or deny, as the policy said; empty: it was never judged.
        allowed: What was answered; None: nobody was asked.
        by: Who answered.
        reason: Their words.
        outcome: done, failed, refused, denied, invalid or unfinished.
    """

    tool: str
    arguments: str
    edited: str | None
    decision: str
    allowed: bool | None
    by: str
    reason: str
    outcome: str


@dataclass(frozen=True, slots=True)
class AuditedTurn:
    """One cell's turn.

    Args:
        cell: The number of the cell in the file, from 1.
        prompt: The cell's source.
        model: Who answered; empty: the turn has no end in the file.
        skills: Name and content hash of each active skill.
        requests: How often the model was asked.
        usage: Tokens by kind.
        cost: Where prices were known.
        ending: How it ended.
        calls: In their order.
    """

    cell: int
    prompt: str
    model: str = ""
    skills: tuple[tuple[str, str], ...] = ()
    requests: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    ending: str = "unfinished"
    calls: tuple[AuditedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """What `%agent audit` returns: iterate over its turns, or look at it."""

    name: str
    turns: tuple[AuditedTurn, ...]
    unread: int = 0

    def __iter__(self) -> Iterator[AuditedTurn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)

    def __repr__(self) -> str:
        return self._view().text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """IPython's seam for rich display."""
        return self._view()._repr_mimebundle_()

    def _view(self) -> View:
        rows = [row for turn in self.turns for row in _rows(turn)]
        calls = sum(len(turn.calls) for turn in self.turns)
        title = (
            f"{safe_line(self.name, 200)}: {_many(len(self.turns), 'turn')}, {_many(calls, 'call')}"
        )
        notes = [f"{_many(self.unread, 'output')} could not be read."] if self.unread else []
        return table_view(title, ("cell", "what", "decision", "outcome"), rows, notes)


def audit(_magics: Controls, words: str) -> Audit:
    """The turns and calls of a saved notebook.

    Raises:
        UsageProblem: No file is named, or it is no notebook.
    """
    if not words:
        raise UsageProblem("%agent audit takes the path of a notebook: %agent audit FILE.ipynb")
    return audited(Path(words).expanduser())


def audited(path: Path) -> Audit:
    """What the metadata of a notebook's outputs says.

    Args:
        path: An `.ipynb` file.

    Raises:
        UsageProblem: It cannot be read, or is no notebook.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise UsageProblem(f"{path} is larger than {LARGEST:,} bytes.")
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageProblem(f"{path} is no notebook: it does not hold JSON.") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UsageProblem(f"{path} is no notebook of format 4: it has no list of cells.")
    turns: list[AuditedTurn] = []
    unread = 0
    for number, cell in enumerate(cells, start=1):
        records, off = _records(cell)
        unread += off
        if any(record["kind"] in ("call", "turn") for record in records):
            turns.append(_turn(number, _joined(cell.get("source")), records))
    return Audit(path.name, tuple(turns), unread)


def _records(cell: JSON) -> tuple[list[dict[str, Any]], int]:
    """The facts of a cell's outputs that are of our version, and how many are not."""
    outputs = cell.get("outputs") if isinstance(cell, dict) else None
    found = []
    for output in outputs if isinstance(outputs, list) else ():
        metadata = output.get("metadata") if isinstance(output, dict) else None
        facts = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
        if facts is not None:
            found.append(facts)
    fit = [
        facts
        for facts in found
        if isinstance(facts, dict)
        and facts.get("version") == VERSION
        and isinstance(facts.get("kind"), str)
    ]
    return fit, len(found) - len(fit)


def _turn(number: int, prompt: str, records: list[dict[str, Any]]) -> AuditedTurn:
    calls = tuple(_call(record) for record in records if record["kind"] == "call")
    end = next((record for record in reversed(records) if record["kind"] == "turn"), None)
    if end is None:
        return AuditedTurn(number, prompt, calls=calls)
    skills, usage, cost = end.get("skills"), end.get("usage"), end.get("cost")
    requests = end.get("requests")
    return AuditedTurn(
        number,
        prompt,
        _text(end, "model"),
        tuple(
            (_text(skill, "name"), _text(skill, "digest"))
            for skill in (skills if isinstance(skills, list) else ())
            if isinstance(skill, dict)
        ),
        requests if isinstance(requests, int) else 0,
        {k: n for k, n in usage.items() if isinstance(n, int)} if isinstance(usage, dict) else {},
        float(cost) if isinstance(cost, int | float) else None,
        _text(end, "reason"),
        calls,
    )


def _call(record: dict[str, Any]) -> AuditedCall:
    answer = record.get("answer")
    given: dict[str, Any] = answer if isinstance(answer, dict) else {}
    allowed = given.get("allowed")
    return AuditedCall(
        _text(record, "tool"),
        _text(record, "arguments"),
        _text(given, "edited") or None,
        _text(record, "policy"),
        allowed if isinstance(allowed, bool) else None,
        _text(given, "by"),
        _text(given, "reason"),
        _text(record, "outcome") or "unfinished",
    )


def _rows(turn: AuditedTurn) -> Iterator[tuple[str, str, str, str]]:
    cell = str(turn.cell)
    for call in turn.calls:
        yield (cell, _what(call), _decision(call), call.outcome)
    skills = ", ".join(f"{name} ({digest[:8]})" for name, digest in turn.skills)
    parts = [turn.model, skills, _many(turn.requests, "request")]
    if turn.usage:
        tokens = (count(turn.usage.get(name, 0)) for name in ("input", "output"))
        parts.append(f"{' in / '.join(tokens)} out tokens")
    if turn.cost is not None:
        parts.append(f"cost {money(turn.cost)}")
    yield (cell, "turn: " + safe_line(" · ".join(p for p in parts if p), 300), "", turn.ending)


def _what(call: AuditedCall) -> str:
    shown = f"{call.tool} {safe_line(call.arguments, SHOWN)}"
    return shown + (f" → {safe_line(call.edited, SHOWN)}" if call.edited else "")


def _decision(call: AuditedCall) -> str:
    if call.allowed is None:
        return {"allow": "allowed by policy", "deny": "denied by policy"}.get(call.decision, "")
    words = f"{'approved' if call.allowed else 'refused'} by {call.by or 'a person'}"
    words += ", edited" if call.edited else ""
    return words + (f": {safe_line(call.reason, SHOWN)}" if call.reason else "")


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _joined(source: JSON) -> str:
    """A cell's source; files hold it whole or in lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
