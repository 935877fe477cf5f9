"""The look: the few HTML shapes that every output of this package is built from.

Owns all inline styles. Outputs cannot carry a `<style>` (it would style the whole page, and
sanitisers remove it), so colours come from JupyterLab's CSS variables with fallbacks that read on
light and dark pages alike. A page that strips styles keeps the structure: `<details>`, `<pre>`,
`<b>`, marks such as ✓ and ✗, and words. Every function takes plain text and escapes it, but for
arguments that are called `html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Literal, TypeAlias

from agent_magics.frontends.markdown_code import highlighted
from agent_magics.plain import visible

Tone: TypeAlias = Literal["plain", "good", "bad", "warn", "muted"]

_TONES: dict[Tone, str] = {
    "plain": "",
    "good": "color:var(--jp-success-color1,#388e3c)",
    "bad": "color:var(--jp-error-color1,#d9433f)",
    "warn": "color:var(--jp-warn-color1,#d9730d)",
    "muted": "opacity:.7",
}
FONT = "font-family:var(--jp-code-font-family,monospace)"
"""Some pages set the code in outputs in a proportional font."""
WRAPPED = ";white-space:pre-wrap;word-break:break-word"
"""For long lines of code; notebooks break them in the middle of a word."""
_BOX = f"{FONT};padding:.3em .6em;background:#8882"
_SCROLLING = ";max-height:26em;overflow:auto"
_LONG_ROW, _MANY_ROWS = 60, 25
"""Columns and rows from which a box is likely to wrap and to scroll. Styles that a box does not
need are left out, since a notebook keeps each of them for each call."""
_ADDED, _REMOVED, _MARKED = "#2ea04340", "#f8514940", "#d9730d30"
_CELL = "text-align:left;vertical-align:top"
"""Notebooks set the cells of tables to the right and in the middle."""
_WRAP = "margin:.1em 0;overflow-wrap:anywhere"
_INSIDE = "margin:.1em 0 .4em .4em;padding-left:.8em;border-left:2px solid #8885"
_TYPESET = re.compile(r"[$\\]")
TIME_CLASS = "agent-magics-time"
"""The class of every span that holds a time, so that a run can be compared with another."""


def text_html(text: str) -> str:
    """A text that is no Markdown as safe HTML, in which a page's MathJax finds nothing to typeset.

    Each character that starts TeX stands in an element of its own, where its text ends, too.
    """
    return _TYPESET.sub(r"<span>\g<0></span>", escape(visible(text), quote=False))


def span(text: str, tone: Tone = "plain") -> str:
    """A word or two in a colour."""
    style = _TONES[tone]
    return f'<span style="{style}">{text_html(text)}</span>' if style else text_html(text)


def mark(sign: str, word: str, tone: Tone) -> str:
    """A sign that is read aloud as a word."""
    style = f' style="{_TONES[tone]}"' if _TONES[tone] else ""
    return f'<span role="img" aria-label="{escape(word)}"{style}>{escape(sign, quote=False)}</span>'


def time_span(text: str) -> str:
    """A time, which differs from run to run; empty for no time."""
    return f'<span class="{TIME_CLASS}"> · {escape(text, quote=False)}</span>' if text else ""


def muted(text: str, html: str = "") -> str:
    """Words in a low voice, with something already drawn behind them."""
    return f'<span style="{_TONES["muted"]}">{text_html(text)}{html}</span>' if text or html else ""


def code(text: str, *, unbroken: bool = False) -> str:
    """A text of one line in the font of code, on no ground of its own.

    Args:
        text: As it is.
        unbroken: Whether it stays on one line in a narrow column.
    """
    style = "background:none" + (";white-space:nowrap" if unbroken else "")
    return f'<code style="{style}">{escape(visible(text), quote=False)}</code>'


def fold(line_html: str, body_html: str, *, unfolded: bool = False) -> str:
    """One line that unfolds, or that is unfolded already."""
    state = ' open=""' if unfolded else ""
    return (
        f'<details{state} style="{_WRAP}"><summary>{line_html}</summary>'
        f'<div style="{_INSIDE}">{body_html}</div></details>'
    )


def line(html: str) -> str:
    """One line that does not unfold."""
    return f'<div style="{_WRAP}">{html}</div>'


def muted_line(html: str) -> str:
    """One line in a low voice."""
    return f'<div style="{_WRAP};{_TONES["muted"]}">{html}</div>'


def footer(text: str, html: str) -> str:
    """The last line of a turn, below a thin rule.

    Args:
        text: The facts.
        html: The time, already drawn.
    """
    style = "margin-top:.6em;padding-top:.2em;font-size:.9em;border-top:1px solid #8885"
    return f'<div style="{style};{_TONES["muted"]}">{text_html(text)}{html}</div>'


def framed(words: str, html: str) -> str:
    """Something that is not ours, behind a bar, and whose it is.

    Args:
        words: Who shows it.
        html: Already safe.
    """
    return f'{label(words)}<div style="{_INSIDE};overflow:auto">{html}</div>'


def label(text: str) -> str:
    """The head of a part inside a fold."""
    return f"<small>{text_html(text)}</small><br>"


def prose(text: str) -> str:
    """Running text as it is, line breaks included."""
    return f'<div style="white-space:pre-wrap">{text_html(text)}</div>'


def lead(html: str) -> str:
    """The beginning of an answer, set off from what stands above it."""
    return f'<div style="margin-top:.5em">{html}</div>'


def box(html: str, name: str) -> str:
    """A frame that scrolls by itself when its content is long, also by keyboard.

    Args:
        html: Escaped; line breaks count.
        name: What a screen reader calls it.
    """
    style, reach = _BOX, ""
    rows = html.split("\n")
    if any(len(row) > _LONG_ROW for row in rows):
        style += WRAPPED
    if len(rows) > _MANY_ROWS or len(html) > _MANY_ROWS * _LONG_ROW:
        style += _SCROLLING
        reach = f' tabindex="0" role="group" aria-label="{escape(visible(name))}"'
    # The line break behind <pre> is no part of its text.
    return f'<pre style="{style}"{reach}>\n{html}</pre>'


def text_box(text: str, name: str) -> str:
    """A frame with text as it is."""
    return box(escape(visible(text.removesuffix("\n")), quote=False), name)


def code_box(text: str, language: str, name: str) -> str:
    """A frame with code in the theme's colours."""
    colours = highlighted(visible(text.removesuffix("\n")), language)
    return f'<div class="highlight">{box(colours, name)}</div>'


def lines_box(code: str, first: int, marked: range, language: str, name: str) -> str:
    """A frame with some lines of a file, their numbers before them.

    Args:
        code: The lines.
        first: The number of the first one.
        marked: The numbers of lines that stand out.
        language: A Pygments lexer name.
        name: What a screen reader calls it.
    """
    lines = visible(code).split("\n")
    width = len(str(first + len(lines) - 1))
    rows = []
    for number, row in enumerate(lines, first):
        # Each line by itself: colours may not reach over the numbers.
        html = f"{muted(f'{number:>{width}}')} {highlighted(row, language)}\n"
        if number in marked:
            html = f'<span style="display:block;background:{_MARKED}">{html}</span>'
        rows.append(html)
    return f'<div class="highlight">{box("".join(rows).rstrip(), name)}</div>'


def table(heads: Sequence[str], rows_html: Iterable[Sequence[str]]) -> str:
    """A table.

    Args:
        heads: Names of the columns.
        rows_html: Cells, already drawn; each row as long as `heads`.
    """
    head = "".join(f'<th scope="col" style="{_CELL}">{text_html(name)}</th>' for name in heads)
    rows = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>\n"
        for row in rows_html
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>"


def diff_box(text: str, name: str) -> str:
    """A frame with a unified diff, its added and removed lines on coloured ground."""
    runs: list[tuple[RowKind, list[str]]] = []
    for kind, row in diff_rows(visible(text)):
        if runs and runs[-1][0] == kind:
            runs[-1][1].append(row)
        else:
            runs.append((kind, [row]))
    return box("".join(_run(kind, rows) for kind, rows in runs).removesuffix("\n"), name)


RowKind: TypeAlias = Literal["file", "place", "added", "removed", "same"]
_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")


def diff_rows(text: str) -> Iterator[tuple[RowKind, str]]:
    """The rows of a unified diff with what each one is.

    Inside a hunk only the first character counts, and its head says how long it is: a removed
    line that begins with `--` does not pass for the name of a file.
    """
    old = new = 0
    for row in text.removesuffix("\n").split("\n"):
        if old <= 0 and new <= 0:
            if found := _HUNK.match(row):
                old, new = (int(size or 1) for size in found.groups())
                yield "place", row
            elif row.startswith(("+++ ", "--- ", "diff --git ", "index ")):
                yield "file", row
            else:
                yield _CHANGES.get(row[:1], "same"), row
            continue
        kind = _CHANGES.get(row[:1], "same")
        yield kind, row
        old -= kind == "removed" or (kind == "same" and not row.startswith("\\"))
        new -= kind == "added" or (kind == "same" and not row.startswith("\\"))


_CHANGES: dict[str, RowKind] = {"+": "added", "-": "removed"}


def _run(kind: RowKind, rows: list[str]) -> str:
    """Rows of one kind in one element: a colour per row would cost more than the text."""
    text = escape("\n".join(rows), quote=False)
    match kind:
        case "added":
            return f'<span style="display:block;background:{_ADDED}">{text}\n</span>'
        case "removed":
            return f'<span style="display:block;background:{_REMOVED}">{text}\n</span>'
        case "place":
            return f'<span style="opacity:.7">{text}</span>\n'
        case "file":
            return f"<b>{text}</b>\n"
        case _:
            return f"{text}\n"
