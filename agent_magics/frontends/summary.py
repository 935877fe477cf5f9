"""Text made safe to look at, and short: no character hides, moves the cursor or turns the line.

Owns what is invisible, how it is shown, and how titles, counts and times are written in one line.
Knows no HTML and no terminal; every module that shows something stands on this one.
"""

from __future__ import annotations

import math
import re

from agent_magics.plain import visible

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


def safe_line(text: str, limit: int) -> str:
    """The text on one line, with everything hidden made visible, cut with `…`.

    Args:
        text: From a model, a file, a person: anything.
        limit: The longest line, in characters, at least 1.
    """
    head = visible(text[: limit + 1]).replace("\n", "\\n").replace("\t", "\\t")
    if len(head) <= limit and len(text) <= limit:
        return head
    return head[: limit - 1].rstrip() + "…"


def printed(text: str) -> str:
    """Terminal output as it stood on the screen, without colours: the last word of each line.

    Progress bars overwrite their line with a carriage return; only what they left is kept.
    """
    plain = _COLOUR.sub("", text).replace("\r\n", "\n")
    if "\r" in plain:
        plain = "\n".join(_overwritten(line) for line in plain.split("\n"))
    return visible(plain)


def _overwritten(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and end around a line that says what is left out.

    Args:
        text: Already visible.
        limit: How much is shown, in characters.
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    if "\n" in head:
        head = head[: head.rindex("\n")]
    if "\n" in tail:
        tail = tail[tail.index("\n") + 1 :]
    missing = text[len(head) : len(text) - len(tail)]
    lines = missing.count("\n")
    counted = f"{len(missing):,} characters" + (f" ({lines:,} lines)" if lines > 1 else "")
    return f"{head}\n[… {counted} not shown here …]\n{tail}"


def code_text(text: str) -> str:
    """Inline code in Markdown that the text cannot close."""
    runs = re.findall(r"`+", text)
    if not runs:
        return f"`{text}`"
    ticks = "`" * (max(len(run) for run in runs) + 1)
    return f"{ticks} {text} {ticks}"


def count(number: int) -> str:
    """A count in two or three digits: `950`, `1.2k`, `12k`, `3.4M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size * 0.9995:
            scaled = number / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return str(number)


def money(amount: float) -> str:
    """An amount with two digits that count below a hundred, and no currency: `0.0042`, `1.20`."""
    if not math.isfinite(amount) or amount <= 0:
        return "0"
    if amount >= 1:
        return f"{amount:,.2f}"
    digits = min(1 - math.floor(math.log10(amount)), 8)
    return f"{amount:.{digits}f}" if round(amount, 8) else "under 0.00000001"


def duration(seconds: float) -> str:
    """A time as people say it: `0.3 s`, `14 s`, `2 min 5 s`; empty where it is no time."""
    if not math.isfinite(seconds) or seconds < 0:
        return ""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
