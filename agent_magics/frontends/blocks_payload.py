"""What a call brings or would do, as HTML and as text: arguments, previews, outputs.

Owns how each kind of `Display` is drawn and how much of it a record shows. A preview that somebody
is about to approve is never cut; a record is.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence

from agent_magics.frontends import theme
from agent_magics.frontends.summary import cut, printed, safe_line
from agent_magics.messages import JSON, Display
from agent_magics.plain import visible

RECORD = 20_000
"""Characters of one call's payload that a notebook keeps; the whole is in the session's file."""
TEXT_RECORD = 4_000
"""The same for plain text, which has no folds."""
OUTPUT_LINES, OUTPUT_TEXT = 10, 1_000
"""Lines and characters of an output that plain text shows."""
LONG_VALUE = 400
"""Characters of one argument that are shown where a preview shows it whole anyway."""

SIDE_VALUE = 100
"""Characters of an argument that is named beside a preview."""
BY_CHANCE = 12
"""Characters from which a text does not stand in another one by chance."""
DIFF_ROWS = 4_000
"""Rows that are compared; the time for it is not linear."""

_NAMES = {"diff": "changes", "code": "code", "text": "output", "bundle": "output"}


def display_html(display: Display, limit: int | None = None, *, whole: bool = False) -> str:
    """A display in its frame.

    Args:
        display: What to draw; the text form of a `bundle`.
        limit: In characters; None: no limit.
        whole: See `shown_text`.
    """
    text, name = shown_text(display, whole=whole), _NAMES.get(display.kind, "output")
    if limit is not None:
        text = cut(text, limit)
    match display.kind:
        case "diff":
            return theme.diff_box(text, name)
        case "code":
            return theme.code_box(text, display.language, name)
        case _:
            return theme.text_box(text, name)


def displays_html(displays: Sequence[Display], limit: int, *, whole: bool = False) -> str:
    """Displays in their frames, as many of them as fit, and a word on what does not.

    Args:
        displays: What to draw.
        limit: In characters, for all of them.
        whole: See `shown_text`.
    """
    parts: list[str] = []
    for display in displays:
        if limit <= 0:
            parts.append(theme.label(f"[… {len(displays) - len(parts)} more not shown here …]"))
            break
        parts.append(display_html(display, limit, whole=whole))
        limit -= len(display.text)
    return "".join(parts)


def shown_text(display: Display, *, whole: bool = False) -> str:
    """A display's text with everything in it visible.

    Args:
        display: What to show.
        whole: Every character, for what somebody decides on; else terminal output is shown as it
            stood on the screen.
    """
    if display.kind == "text" and not whole:
        return printed(display.text)
    return visible(display.text or str(display.data.get("text/plain", "")))


def display_text(display: Display) -> str:
    """A display as a fenced block, as far as plain text shows it."""
    text = shown_text(display)
    if display.kind in ("text", "bundle"):
        return fenced(brief(text))
    return fenced(
        cut(text.strip("\n"), TEXT_RECORD), "diff" if display.kind == "diff" else display.language
    )


def brief(text: str) -> str:
    """The first and last lines of an output."""
    rows = text.strip("\n").split("\n")
    if len(rows) > OUTPUT_LINES:
        head, tail = rows[: OUTPUT_LINES - 3], rows[-2:]
        missing = len(rows) - len(head) - len(tail)
        rows = [*head, f"[… {missing:,} lines not shown here …]", *tail]
    return cut("\n".join(rows), OUTPUT_TEXT)


def fenced(text: str, language: str = "") -> str:
    """A Markdown fence that the text cannot close."""
    runs = re.findall(r"`{3,}", text)
    fence = "`" * max(3, *(len(run) + 1 for run in runs)) if runs else "```"
    word = re.sub(r"[^\w+-]", "", language)
    return f"{fence}{word}\n{text}\n{fence}"


def pretty(arguments: str) -> str:
    """Arguments as indented JSON, as they will be read; text that is no JSON as it is."""
    try:
        return visible(json.dumps(json.loads(arguments), indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return visible(arguments)


def object_of(arguments: str) -> dict[str, JSON] | None:
    """The JSON object that a text holds; None where it holds none."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def argument_rows(arguments: str, long: int | None = None) -> str:
    """Arguments to be read by a person: one per row, texts of several lines indented below.

    Args:
        arguments: The text of a JSON object.
        long: Texts with more characters are shortened to half of this; None: whole.
    """
    try:
        values = json.loads(arguments)
        if isinstance(values, dict):
            return visible("\n".join(_argument(k, v, long) for k, v in values.items()))
    except (ValueError, RecursionError):
        # No JSON, or nested too deeply to be read or written again; it is shown as it came.
        pass
    return pretty(arguments) if long is None else cut(pretty(arguments), long)


def side_arguments(arguments: str, shown: Sequence[str]) -> str:
    """The short arguments that a title and previews do not show, in one line.

    Args:
        arguments: The text of a JSON object.
        shown: The operand in the title, and the previews. A text that is one of them, or that is
            long enough not to occur in them by chance, is not repeated.
    """
    rows = [
        _argument(name, value, None)
        for name, value in (object_of(arguments) or {}).items()
        if _is_short(value) and not _stands_in(value, shown)
    ]
    return " · ".join(safe_line(row, 2 * SIDE_VALUE) for row in rows)


def _is_short(value: JSON) -> bool:
    simple = value is None or isinstance(value, str | int | float)
    return simple and len(str(value)) <= SIDE_VALUE and "\n" not in str(value)


def _stands_in(value: JSON, shown: Sequence[str]) -> bool:
    if not isinstance(value, str):
        return False
    return value in shown or (len(value) >= BY_CHANCE and any(value in text for text in shown))


def _argument(name: str, value: JSON, long: int | None) -> str:
    # A name or a text that could pass for the row of another argument is quoted.
    key = name if name.isidentifier() else json.dumps(name)
    if isinstance(value, str) and long is not None and len(value) > long:
        value = f"{value[: long // 2]}… ({len(value):,} characters)"
    if isinstance(value, str) and "\n" in value:
        return f"{key}:\n    " + value.replace("\n", "\n    ")
    indent = None if isinstance(value, str | int | float | None) else 2
    return f"{key}: {json.dumps(value, ensure_ascii=False, indent=indent)}"


def arguments_diff(before: str, after: str, context: int) -> str:
    """What a person changed in a call's arguments, as a unified diff.

    Args:
        before: As the model wrote them.
        after: As they ran.
        context: Unchanged rows around a change.
    """
    old, new = argument_rows(before).split("\n"), argument_rows(after).split("\n")
    if len(old) + len(new) > DIFF_ROWS:
        place = f"@@ -1,{len(old)} +1,{len(new)} @@"
        return "\n".join([place, *(f"-{row}" for row in old), *(f"+{row}" for row in new)])
    names = ("as the model wrote it", "as you changed it")
    rows = difflib.unified_diff(old, new, *names, n=context, lineterm="")
    return "\n".join(rows) or "(the same arguments, written differently)"


def extra_previews(previews: Iterable[Display], results: Iterable[Display]) -> tuple[Display, ...]:
    """The previews that no result repeats."""
    seen = {(display.kind, display.text) for display in results}
    return tuple(p for p in previews if (p.kind, p.text) not in seen)
