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
_MARKS: dict[Tone, str] = {**_TONES, "good": "color:#388e3c", "bad": "color:#d9433f"}
"""A sign is larger than text: these read on both grounds, and take fewer bytes in each call."""
FONT = "font-family:monospace"
"""Some pages set the code in outputs in a proportional font."""
WRAPPED = ";white-space:pre-wrap;word-break:break-word"
"""For long lines of code; notebooks break them in the middle of a word."""
_BOX = f"{FONT};padding:.4em;background:#8882"
_SCROLLING = ";max-height:26em;overflow:auto"
_LONG_ROW, _MANY_ROWS, _LONG_WORD = 60, 25, 30
"""Columns and rows from which a box is likely to wrap and to scroll, and characters of a word that
may not fit into a narrow page. Styles that a box does not
need are left out, since a notebook keeps each of them for each call."""
_ADDED, _REMOVED, _MARKED = "#3a54", "#f554", "#d9730d30"
CELL = "text-align:left;vertical-align:top"
"""Notebooks set the cells of tables to the right and in the middle."""
_WRAP = "overflow-wrap:anywhere"
_INSIDE = "border-left:2px solid #8885;padding-left:9px"
_TAG = re.compile(r"<[^>]*>")
_TYPESET = re.compile(r"[$\\]")
TIME_CLASS = "agent-magics-time"
"""The class of every span that holds a time, so that a run can be compared with another."""


def styled(*styles: str) -> str:
    """A `style` attribute, or nothing without any; for constants of ours only.

    A notebook's file keeps a quote in three bytes, in each output. Where HTML needs none, there is
    none.
    """
    style = ";".join(part for part in styles if part)
    if not style:
        return ""
    return f' style="{style}"' if " " in style else f" style={style}"


def text_html(text: str) -> str:
    """A text that is no Markdown as safe HTML, in which a page's MathJax finds nothing to typeset.

    Each character that starts TeX stands in an element of its own, where its text ends, too.
    """
    return _TYPESET.sub(r"<span>\g<0></span>", escape(visible(text), quote=False))


def span(text: str, tone: Tone = "plain") -> str:
    """A word or two in a colour."""
    style = styled(_TONES[tone])
    return f"<span{style}>{text_html(text)}</span>" if style else text_html(text)


def mark(sign: str, word: str, tone: Tone) -> str:
    """A sign that is read aloud as a word."""
    said = f'role=img aria-label="{escape(word)}"'
    return f"<span {said}{styled(_MARKS[tone])}>{escape(sign, quote=False)}</span>"


def time_span(text: str) -> str:
    """A time, which differs from run to run; empty for no time."""
    return f"<span class={TIME_CLASS}> · {escape(text, quote=False)}</span>" if text else ""


def muted(text: str, html: str = "") -> str:
    """Words in a low voice, with something already drawn behind them."""
    words = text_html(text) + html
    return f"<span{styled(_TONES['muted'])}>{words}</span>" if words else ""


def code(text: str, *, unbroken: bool = False) -> str:
    """A text of one line in the font of code, on no ground of its own (as `<code>` would have).

    Args:
        text: As it is.
        unbroken: Whether it stays on one line in a narrow column.
    """
    return f"<samp{styled('white-space:nowrap' if unbroken else '')}>{text_html(text)}</samp>"


def fold(line_html: str, body_html: str, *, unfolded: bool = False) -> str:
    """One line that unfolds, or that is unfolded already."""
    state = ' open=""' if unfolded else ""
    return (
        f"<details{state}{_wrapping(line_html)}><summary>{line_html}</summary>"
        f"{inside(body_html)}</details>"
    )


def inside(html: str) -> str:
    """Something that belongs to the line above it, behind a bar."""
    return f"<div{styled(_INSIDE)}>{html}</div>"


def line(html: str) -> str:
    """One line that does not unfold."""
    return f"<div{_wrapping(html)}>{html}</div>"


def _wrapping(html: str) -> str:
    """Lets a line with a word that could be too long for a narrow page break in it."""
    words = _TAG.sub("", html).split()
    return styled(_WRAP if any(len(word) > _LONG_WORD for word in words) else "")


def muted_line(html: str) -> str:
    """One line in a low voice."""
    return f"<div{styled(_WRAP, _TONES['muted'])}>{html}</div>"


def footer(text: str, html: str) -> str:
    """The last line of a turn, below a thin rule.

    Args:
        text: The facts.
        html: The time, already drawn.
    """
    style = "margin-top:.6em;padding-top:.2em;font-size:.9em;border-top:1px solid #8885"
    return f"<div{styled(style, _TONES['muted'])}>{text_html(text)}{html}</div>"


def framed(words: str, html: str) -> str:
    """Something that is not ours, behind a bar, and whose it is.

    Args:
        words: Who shows it.
        html: Already safe.
    """
    return f"{label(words)}<div{styled(_INSIDE, 'overflow:auto')}>{html}</div>"


def label(text: str) -> str:
    """The head of a part inside a fold."""
    return f"<small>{text_html(text)}</small><br>"


def prose(text: str) -> str:
    """Running text as it is, line breaks included."""
    return f"<div{styled('white-space:pre-wrap')}>{text_html(text)}</div>"


def lead(html: str) -> str:
    """The beginning of an answer, set off from what stands above it."""
    return f"<div{styled('margin-top:.5em')}>{html}</div>"


def box(html: str, name: str) -> str:
    """A frame that scrolls by itself when its content is long, also by keyboard.

    Args:
        html: Escaped; line breaks count.
        name: What a screen reader calls it.
    """
    style, reach = _BOX, ""
    rows = _TAG.sub("", html).split("\n")
    if any(len(row) > _LONG_ROW for row in rows):
        style += WRAPPED
    if len(rows) > _MANY_ROWS or sum(map(len, rows)) > _MANY_ROWS * _LONG_ROW:
        style += _SCROLLING
        reach = f' tabindex=0 role=group aria-label="{escape(visible(name))}"'
    # The line break behind <pre> is no part of its text.
    return f"<pre{styled(style)}{reach}>\n{html}</pre>"


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
            html = f"<div{styled(f'background:{_MARKED}')}>{html}</div>"
        rows.append(html)
    return f'<div class="highlight">{box("".join(rows).rstrip(), name)}</div>'


def table(heads: Sequence[str], rows_html: Iterable[Sequence[str]]) -> str:
    """A table.

    Args:
        heads: Names of the columns.
        rows_html: Cells, already drawn; each row as long as `heads`.
    """
    style = styled(CELL)
    head = "".join(f"<th scope=col{style}>{text_html(name)}</th>" for name in heads)
    rows = "".join(
        "<tr>" + "".join(f"<td{style}>{cell}</td>" for cell in row) + "</tr>\n" for row in rows_html
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
            return f"<div style=background:{_ADDED}>{text}\n</div>"
        case "removed":
            return f"<div style=background:{_REMOVED}>{text}\n</div>"
        case "place":
            return f"<i>{text}</i>\n"
        case "file":
            return f"<b>{text}</b>\n"
        case _:
            return f"{text}\n"
