"""Blocks as terminal text with a little colour, which no model can colour or imitate.

Owns the bar that begins each line of ours. A model's text never holds that bar nor a control
character, so nothing that it says moves the cursor, hides a line, or passes for a call, a question
or a prompt. Knows no terminal: width and colour are told, text is given back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, TypeAlias

from agent_magics.events import Question
from agent_magics.frontends.blocks_block import Block
from agent_magics.frontends.blocks_question import BAR, payload_rows, question_head
from agent_magics.frontends.theme import diff_rows
from agent_magics.plain import visible

Colour: TypeAlias = Literal["", "bold", "dim", "red", "green", "yellow", "cyan"]

OURS = "┃ "
"""Begins each line that is not a model's own words."""

_CODES: dict[str, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_SIGNS: dict[str, Colour] = {
    "✓": "green",
    "✗": "red",
    "⊘": "yellow",
    "⚠": "yellow",
    "?": "yellow",
    "—": "dim",
    "↳": "dim",
    "↻": "dim",
    "ℹ": "cyan",
}
_FENCE = re.compile(r"(`{3,})(\S*)")
_NARROWEST = 20


def clean_terminal(text: str) -> str:
    """A model's words for a terminal: what steers is made visible, and the bar is not theirs.

    Works on each piece of a stream by itself.
    """
    return visible(text).replace(OURS[0], "|").replace(BAR[0], "|")


def render_terminal(block: Block, *, colour: bool, width: int) -> str:
    """A block for a terminal, without a newline at its end; empty where there is nothing to keep.

    Args:
        block: Answers come as their Markdown, everything else behind a bar.
        colour: Whether to colour it.
        width: Columns; lines behind a bar are wrapped by it, so that their ends do not pass for
            lines of their own.
    """
    kind = block.metadata.get("kind")
    if kind == "status":
        return ""
    if kind == "answer":
        return "\n".join(_answer_rows(clean_terminal(block.text), colour))
    rows = _wrapped(_block_rows(block.text), width - len(OURS))
    bar = _painted(OURS, "dim", colour)
    return "\n".join(bar + _painted(row, paint, colour) for row, paint in rows)


def render_question(question: Question, *, colour: bool, width: int) -> str:
    """A question for a terminal: the head, then the whole payload behind a bar of its own.

    Args:
        question: What is asked.
        colour: Whether to colour it.
        width: Columns, see `render_terminal`.
    """
    head = [(row, _head_colour(number)) for number, row in enumerate(question_head(question))]
    kind: Literal["diff", ""] = "diff" if any(d.kind == "diff" for d in question.preview) else ""
    payload = list(_payload(payload_rows(question), kind))
    bars = _painted(OURS, "dim", colour), _painted(OURS + BAR, "dim", colour)
    lines = [bars[0] + _painted(*row, colour) for row in _wrapped(head, width - 2)]
    lines += [bars[1] + _painted(*row, colour) for row in _wrapped(payload, width - 4)]
    return "\n".join(lines)


_Row: TypeAlias = tuple[str, Colour]


def _head_colour(number: int) -> Colour:
    return "bold" if number == 0 else "dim"


def _block_rows(text: str) -> Iterator[_Row]:
    """The rows of a block of ours; its fences become bars."""
    if not text:
        return
    fence, language = "", ""
    payload: list[str] = []
    for number, row in enumerate(text.split("\n")):
        found = _FENCE.fullmatch(row)
        if found and not fence:
            fence, language = found.groups()
        elif fence and row == fence:
            yield from ((BAR + line, paint) for line, paint in _payload(payload, language))
            fence, payload = "", []
        elif fence:
            payload.append(row)
        elif row.strip():
            yield row, _SIGNS.get(row[:1], "") if number == 0 or row[0] == "—" else ""


def _payload(rows: list[str], language: str) -> Iterator[_Row]:
    if language != "diff":
        yield from ((row, "") for row in rows)
        return
    paints: dict[str, Colour] = {
        "added": "green",
        "removed": "red",
        "place": "cyan",
        "file": "bold",
    }
    yield from ((row, paints.get(kind, "")) for kind, row in diff_rows("\n".join(rows)))


def _answer_rows(text: str, colour: bool) -> Iterator[str]:
    """Markdown as it is, with headings in bold and code set off."""
    fence = ""
    for row in text.split("\n"):
        found = _FENCE.match(row)
        if found and not fence:
            fence = found.group(1)
            yield _painted(row, "dim", colour)
        elif fence and row.strip() == fence:
            fence = ""
            yield _painted(row, "dim", colour)
        elif fence:
            yield _painted(row, "cyan", colour)
        else:
            yield _painted(row, "bold" if row.startswith("#") else "", colour)


def _painted(text: str, paint: Colour, colour: bool) -> str:
    return f"\x1b[{_CODES[paint]}m{text}\x1b[0m" if colour and paint and text else text


def _wrapped(rows: Iterator[_Row] | list[_Row], width: int) -> Iterator[_Row]:
    """Rows no wider than `width` columns; what follows of a wrapped payload keeps its bar."""
    for row, paint in rows:
        bar = BAR if row.startswith(BAR) else ""
        room = max(width - len(bar), _NARROWEST)
        for part in _folded(row.removeprefix(bar).expandtabs(4), room):
            yield bar + part, paint


def _folded(row: str, width: int) -> Iterator[str]:
    """The row in parts of at most `width` columns, between words where there are some."""
    start, space, columns = 0, 0, 0
    for index, char in enumerate(row):
        wide = _columns(char)
        if columns + wide > width:
            end = space if space > start + width // 2 else index
            yield row[start:end]
            start, columns = end, sum(_columns(c) for c in row[end:index])
        columns += wide
        space = index + 1 if char == " " else space
    yield row[start:]


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
