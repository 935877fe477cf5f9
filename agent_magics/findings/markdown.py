"""Findings as Markdown that reads well as plain text: a table, and below it code and suggestions.

Owns the one text of findings: in a terminal, in the diff of a notebook, pasted into a pull request.
What the texts hold is data: it stays in its cell, its quotation or its fence. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent_magics.findings.finding import SEVERITIES, Finding
from agent_magics.plain import visible

LISTED, DETAILED = 200, 20
"""Findings in the table, and those whose code and suggestion are written out below it."""
BRIEF, CELL = 60, 400
"""Characters of a message in the table, where the whole of it stands below, and where not."""

_ACTIVE = re.compile(r"\||<(?=[A-Za-z/!?])|(?<=\])[(\[]")
"""What would end the cell, open a tag, or make a link or a picture."""
_TICKS = re.compile(r"`{3,}")


def counted(findings: Sequence[Finding]) -> str:
    """`3 findings: 2 high, 1 low`."""
    if not findings:
        return "No findings"
    counts = Counter(finding.severity for finding in findings)
    parts = ", ".join(f"{counts[name]:,} {name}" for name in SEVERITIES if counts[name])
    return f"{len(findings):,} finding{'' if len(findings) == 1 else 's'}: {parts}"


def to_markdown(findings: Sequence[Finding]) -> str:
    """The findings in the order they have.

    Args:
        findings: Beyond `LISTED` they are counted, not listed.
    """
    if not findings:
        return "**No findings**"
    rows = [
        (f.severity, _place(f), _cell(f.category, 60), _cell(f.message, BRIEF if below else CELL))
        for below, f in zip((True,) * DETAILED + (False,) * LISTED, findings, strict=False)
    ][:LISTED]
    listed = [("severity", "place", "category", "finding"), *rows]
    # The last column runs free: padding it would only make long lines longer.
    widths = [max(len(row[i]) for row in listed) for i in range(3)]
    lines = [f"**{counted(findings)}**", "", _row(listed[0], widths)]
    lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|---------|")
    lines += [_row(row, widths) for row in rows]
    if len(findings) > LISTED:
        lines += ["", f"… and {len(findings) - LISTED:,} more."]
    for number, finding in enumerate(findings[:DETAILED], 1):
        lines += _details(number, finding)
    return "\n".join(lines)


def language_of(file: str) -> str:
    """The word after a fence that names a file's language; empty where there is none."""
    suffix = PurePosixPath(file).suffix.removeprefix(".").lower()
    return {"py": "python", "pyi": "python", "ipynb": "json", "md": "markdown"}.get(
        suffix, suffix if re.fullmatch(r"[a-z0-9+]{1,10}", suffix) else ""
    )


def code_of(suggestion: str) -> str | None:
    """The code that a suggestion consists of; None where it is a sentence.

    Several lines are code, and so is what stands in one fence or is indented.
    """
    text = suggestion.strip("\n").rstrip()
    fence = re.fullmatch(r"\s*(`{3,})[^\n`]*\n(.*?)\n?\s*\1\s*", text, re.DOTALL)
    if fence and not re.search(rf"^\s*{fence[1]}", fence[2], re.MULTILINE):
        return fence[2]
    return text if ("\n" in text or text[:1] in (" ", "\t")) and "```" not in text else None


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=True)]
    return "| " + " | ".join([*padded, cells[-1]]) + " |"


def _place(finding: Finding) -> str:
    file = _one_line(finding.place).replace("|", r"\|").replace("`", "'")
    return f"`{file}`" + (" (deleted)" if finding.deleted else "")


def _cell(text: str, limit: int) -> str:
    """A text on one line that stays in its cell and opens nothing."""
    line = _one_line(text)
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return _ACTIVE.sub(r"\\\g<0>", line)


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _details(number: int, finding: Finding) -> list[str]:
    """A finding below the table: all of its message, the code and the suggestion."""
    head = f"**{number}.** {finding.severity} {_place(finding)}: {_cell(finding.message, CELL)}"
    parts = ["", head]
    language = language_of(finding.file)
    if len(_one_line(finding.message)) > CELL:
        parts += ["", _quoted(finding.message)]
    if finding.code:
        parts += ["", fenced(numbered(finding), language)]
    if finding.suggestion:
        code = code_of(finding.suggestion)
        shown = fenced(code, language) if code is not None else _quoted(finding.suggestion)
        parts += ["", "Suggestion:", "", shown]
    return parts


def numbered(finding: Finding) -> str:
    """The finding's code with line numbers, its own lines marked."""
    rows = finding.code.split("\n")
    width = len(str(finding.code_start + len(rows) - 1))
    own = range(finding.line, finding.end_line + 1)
    return "\n".join(
        f"{'>' if number in own else ' '}{number:>{width}} {row}".rstrip()
        for number, row in enumerate(rows, finding.code_start)
    )


def fenced(text: str, language: str = "") -> str:
    """A fence that the text cannot close."""
    runs = [len(run) + 1 for run in _TICKS.findall(text)]
    fence = "`" * max([3, *runs])
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {visible(row)}".rstrip() for row in text.strip().split("\n"))
