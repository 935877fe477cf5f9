"""A saved session as Markdown: each prompt as a quotation, below it what the cell showed.

What was said stays Markdown, but loads nothing and acts on nothing: pictures and HTML in it are
shown as the text they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_magics.frontends.markdown import fences
from agent_magics.frontends.summary import safe_line
from agent_magics.magics.replaying import blocks_of
from agent_magics.plain import visible
from agent_magics.records.stored import Stored

_TICKS = re.compile("`+")
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")


def markdown_text(stored: Stored, title: str, facts: str) -> str:
    """The text of an `.md` file.

    Args:
        stored: The session.
        title: Its head line.
        facts: The line below it.
    """
    parts = [f"# {literal(safe_line(title, 200))}", literal(facts)]
    for turn in stored.turns:
        prompt = inactive(visible(turn.began.prompt.text.strip("\n")))
        parts.append("## %%agent")
        parts.append("\n".join(f"> {line}".rstrip() for line in prompt.split("\n")))
        blocks = (block.text.strip("\n") for block in blocks_of(turn))
        parts += [inactive(text) for text in blocks if text.strip()]
    return "\n\n".join(parts) + "\n"


def inactive(text: str) -> str:
    """Markdown without pictures and HTML, and with no fence left open; code stays as it is.

    Args:
        text: Markdown from anyone. It begins at the margin afterwards, so that it is read the same
            whatever stands above it.
    """
    text = text.lstrip()
    lines = text.split("\n")
    result: list[str] = []
    fence = ""
    for start, end, marker in fences(text):
        result += _inactive_lines(lines[len(result) : start])
        result += lines[start:end]
        # The line that opens a fence can look like one that closes it.
        fence = "" if end - start > 1 and _closes(lines[end - 1], marker) else marker
    if fence:
        # Only a fence that reaches to the end of the text has no end of its own.
        return "\n".join([*result, fence])
    return "\n".join([*result, *_inactive_lines(lines[len(result) :])])


def literal(text: str) -> str:
    """A line that Markdown shows as it is."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+!|$~&" else c for c in text)


def _closes(line: str, fence: str) -> bool:
    """Whether a line ends a fence."""
    rest = line.strip()
    indented = len(line) - len(line.lstrip()) > 3
    return bool(fence) and not indented and rest.startswith(fence) and not rest.strip(fence[0])


def _inactive_lines(lines: list[str]) -> list[str]:
    """Lines that hold no block of code."""
    result: list[str] = []
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        else:
            result += [*_inactive_paragraph(paragraph), line]
            paragraph = []
    return result[:-1]


def _inactive_paragraph(lines: list[str]) -> list[str]:
    """The lines of one paragraph; its code is left alone where it is sure what is code."""
    spans = [_code_spans(line) for line in lines]
    if any(found is None for found in spans):
        return [_without(line) for line in lines]
    return [_outside(line, found or ()) for line, found in zip(lines, spans, strict=True)]


def _code_spans(line: str) -> list[tuple[int, int]] | None:
    """Where code begins and ends in a line; None where a tick could belong to another line."""
    runs = list(_TICKS.finditer(line))
    spans: list[tuple[int, int]] = []
    while runs:
        first = runs.pop(0)
        size = len(first[0])
        ends = [place for place, run in enumerate(runs) if len(run[0]) == size]
        if not ends or line[: first.start()].endswith("\\"):
            return None
        spans.append((first.start(), runs[ends[0]].end()))
        if "|" in line[slice(*spans[-1])]:
            return None  # in a table it ends the cell, code or not
        del runs[: ends[0] + 1]
    return spans


def _outside(line: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, end = [], 0
    for start, stop in spans:
        parts += [_without(line[end:start]), line[start:stop]]
        end = stop
    return "".join([*parts, _without(line[end:])])


def _without(text: str) -> str:
    # Entities, since a backslash would be undone by one that stands before it.
    return _ACTIVE.sub(lambda match: "&#33;" if match[0] == "!" else "&lt;", text)
