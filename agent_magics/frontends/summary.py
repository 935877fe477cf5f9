"""Text made safe to look at, and short: no character hides, moves the cursor or turns the line.

Owns what is invisible, how it is shown, and how titles, counts and times are written in one line.
Knows no HTML and no terminal; every module that shows something stands on this one.
"""

from __future__ import annotations

import math
import re

_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters; tab and newline are shown as they are
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # lone surrogates: they cannot be sent as UTF-8
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's default ignorable code points, controls, line separators and bidi controls.

Source: DerivedCoreProperties.txt (Default_Ignorable_Code_Point) and Bidi_Control, Unicode 16.
"""

_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACKED = re.compile(f"([{_MARKS}]{{4}})[{_MARKS}]+")
_JOINERS = "\u200c\u200d"
_VARIANTS = "\ufe0e\ufe0f"
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


def visible(text: str) -> str:
    r"""The text with everything that hides or steers shown as an escape (`\x1b`, `\u202e`).

    Newlines and tabs stay. Joiners and variation selectors stay where scripts and emoji need
    them. Marks that pile up on one letter are cut, since they would leave their line.
    """
    return _STACKED.sub(r"\1…", _HIDDEN.sub(_escape, text))


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if _belongs(match.string, match.start()):
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _belongs(text: str, index: int) -> bool:
    """Whether the joiner or selector at `index` is a part of the character before it."""
    char = text[index]
    if index == 0 or char not in _JOINERS + _VARIANTS:
        return False
    before = text[index - 1]
    if char in _JOINERS:
        # Arabic and Indic scripts, and the parts of one emoji.
        return before == "\ufe0f" or (before >= "\u0600" and not _HIDDEN.match(before))
    keycap = before in "0123456789#*" and text[index + 1 : index + 2] == "\u20e3"
    return keycap or before in "©®" or (before >= "\u2000" and not _HIDDEN.match(before))


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
