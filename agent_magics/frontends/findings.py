"""Findings of a review as a table that needs no script and no style sheet.

Owns what of a finding stands in its row, what unfolds below it, and that a turn shows each finding
once. Sanitisers leave tables and folds alone, so the saved notebook looks the same everywhere;
many findings are folded by severity, and sorting and filtering is for the value in the next cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from agent_magics.findings import MIME, Finding, Findings, findings_of
from agent_magics.findings.markdown import LISTED, code_of, counted, language_of
from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, metadata
from agent_magics.frontends.summary import safe_line
from agent_magics.messages import ToolResult

TOGETHER = 20
"""Findings in one table; more are folded by severity."""
PLACE, CATEGORY = 200, 60
"""Characters of each that are shown."""
UNBROKEN = 32
"""Characters of a place that stay on one line."""
HEADS = ("severity", "place", "category", "finding")

_TONES: dict[str, theme.Tone] = {"high": "bad", "medium": "warn", "low": "muted"}
_CODE = re.compile(r"`([^`\n]+)`")


class Reported:
    """The findings of one turn: each report shows all of them so far, in place of the one before.

    Args:
        new_key: Gives the place of the next block.
    """

    def __init__(self, new_key: Callable[[], str]) -> None:
        self._new_key = new_key
        self._key = ""
        self._findings = Findings()

    def add(self, result: ToolResult) -> list[Block]:
        """The blocks after one more call; none where it reported nothing."""
        newer = findings_of(result.display)
        if newer is None:
            return []
        earlier, self._findings = self._key, self._findings.merged(newer)
        self._key = self._new_key()
        blocks = [_moved(earlier)] if earlier else []
        return [*blocks, findings_block(self._key, self._findings)]


def findings_block(key: str, findings: Findings) -> Block:
    """The table, with the findings as data beside it.

    Args:
        key: The block's place.
        findings: What to show, in this order.
    """
    html, text = findings_html(findings), findings.to_markdown()
    counts = {name: count for name, count in findings.counts.items() if count}
    bundle = {"text/html": html, "text/plain": text, MIME: findings.to_json()}
    return Block(key, html, text, metadata("findings", counts=counts), bundle=bundle)


def _moved(key: str) -> Block:
    words = "These findings stand in the table below, too."
    return Block(key, theme.muted_line(words), words, metadata("findings"))


def findings_html(findings: Findings) -> str:
    """The table as safe HTML; what the findings hold is text."""
    if not findings:
        return theme.line(f"{theme.mark('✓', 'done', 'good')} No findings")
    shown = findings[:LISTED]
    head = theme.line(f"<b>{theme.text_html(counted(findings.items))}</b>")
    rest = len(findings) - len(shown)
    below = theme.muted_line(f"… and {rest:,} more, in the value only") if rest else ""
    if len(findings) <= TOGETHER:
        return head + _table(shown.items)
    runs = [tuple(run) for _, run in groupby(shown, lambda finding: finding.severity)]
    if len(runs) > len({run[0].severity for run in runs}):
        # Sorted by something else, which folds would break up.
        return head + _table(shown.items) + below
    folds = (
        theme.fold(_severity(run[0], f" ({len(run)})"), _table(run), unfolded=run is runs[0])
        for run in runs
    )
    return head + "".join(folds) + below


def _table(findings: Sequence[Finding]) -> str:
    return theme.table(HEADS, (_cells(finding) for finding in findings))


def _cells(finding: Finding) -> tuple[str, ...]:
    place = theme.code(safe_line(finding.place, PLACE), unbroken=len(finding.place) <= UNBROKEN)
    message, body = _prose(finding.message), _body(finding)
    return (
        _severity(finding),
        place + (" (deleted)" if finding.deleted else ""),
        theme.text_html(safe_line(finding.category, CATEGORY)),
        theme.fold(message, body) if body else message,
    )


def _severity(finding: Finding, words: str = "") -> str:
    return theme.span(finding.severity + words, _TONES[finding.severity])


def _body(finding: Finding) -> str:
    """What unfolds: the lines of code and the suggestion."""
    parts, language = [], language_of(finding.file)
    if finding.code:
        marked = range(finding.line, finding.end_line + 1)
        name = f"code at line {finding.line}"
        parts.append(theme.lines_box(finding.code, finding.code_start, marked, language, name))
    if finding.suggestion:
        code = code_of(finding.suggestion)
        drawn = (
            theme.line(_prose(finding.suggestion))
            if code is None
            else theme.code_box(code, language, "suggestion")
        )
        parts.append(theme.label("suggestion") + drawn)
    return "".join(parts)


def _prose(text: str) -> str:
    """Running text, with what stands in backticks as code and line breaks as they are."""
    parts = _CODE.split(text.strip())
    drawn = (
        theme.code(part) if index % 2 else theme.text_html(part).replace("\n", "<br>\n")
        for index, part in enumerate(parts)
    )
    return "".join(drawn)
