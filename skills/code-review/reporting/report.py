"""From what a model wrote to what a person sees, and what the model is told of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.findings import SEVERITIES, Finding, Findings
from agent_magics.messages import Display
from agent_magics.tool import ToolOutput

from .places import Sources
from .written import Draft, drafted, unknown_fields

MOST = 200
"""Findings that are taken from one call; nobody reads more."""
TOLD = 20
"""Problems that are written out for the model."""


@dataclass(frozen=True)
class Sorted:
    """Findings that can be shown, and for each of the others what has to be mended."""

    good: tuple[Finding, ...]
    bad: tuple[str, ...]


def reported(written: Sequence[Mapping[str, Any]], root: Path) -> ToolOutput:
    """Show what can be shown.

    Args:
        written: The findings as the model wrote them.
        root: The workspace's folder.

    Raises:
        ToolError: None of them can be shown; it says what to mend.
    """
    if not written:
        return _output("No findings: the person is shown that nothing was found.", Findings())
    found = _sorted(written, root)
    findings = Findings().merged(found.good)
    if not findings:
        raise ToolError(_to_mend(found.bad, len(written)))
    parts = [f"The person is shown {_counts(findings)} as a table; do not repeat them in full."]
    if twice := len(found.good) - len(findings):
        parts.append(f"{twice} of them had been reported twice and stand there once.")
    unknown = dict.fromkeys(name for each in written for name in unknown_fields(each))
    if unknown:
        names = ", ".join(list(unknown)[:5])
        parts.append(f"Not kept, since findings have no such field: {names[:200]}.")
    if found.bad:
        parts.append(_to_mend(found.bad, len(written)))
    return _output("\n".join(parts), findings)


def _output(text: str, findings: Findings) -> ToolOutput:
    return ToolOutput(text, (Display("text", text), findings.display()))


def _sorted(written: Sequence[Mapping[str, Any]], root: Path) -> Sorted:
    drafts: list[Draft] = []
    bad: dict[int, str] = {}
    for number, each in enumerate(written):
        draft = drafted(number, each)
        if isinstance(draft, Draft):
            drafts.append(draft)
        else:
            bad[number] = "; ".join(draft)
    drafts.sort(key=lambda draft: SEVERITIES.index(draft.severity))
    sources = Sources(root)
    good: list[Finding] = []
    for draft in drafts[:MOST]:
        try:
            good.append(_finding(draft, sources))
        except ToolError as error:
            bad[draft.number] = str(error).rstrip(".")
    lines = [f"findings[{number}]: {bad[number]}" for number in sorted(bad)]
    if len(drafts) > MOST:
        more = f"{len(drafts) - MOST:,} of the least severe: {MOST} are enough for one review"
        lines.insert(0, more)
    return Sorted(tuple(good), tuple(lines))


def _finding(draft: Draft, sources: Sources) -> Finding:
    source = sources.source(draft.file)
    if problem := source.problem(draft.line, draft.end_line):
        raise ToolError(problem)
    code, first = source.code(draft.line, draft.end_line)
    return Finding(
        source.name,
        draft.line,
        draft.severity,
        draft.message,
        draft.category,
        draft.suggestion,
        draft.end_line,
        code,
        first,
        source.deleted,
    ).bounded()


def _counts(findings: Findings) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in findings.counts.items() if count)
    return f"{len(findings)} finding{'' if len(findings) == 1 else 's'} ({counts})"


def _to_mend(bad: Sequence[str], count: int) -> str:
    it = "it" if len(bad) == 1 else "these"
    head = f"NOT SHOWN ({len(bad):,} of {count:,}); mend {it} and report only {it} again:"
    lines = [head, *(f"- {line}" for line in bad[:TOLD])]
    if len(bad) > TOLD:
        lines.append(f"- … and {len(bad) - TOLD:,} more")
    return "\n".join(lines)
