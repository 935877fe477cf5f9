"""Text in which no character hides, moves the cursor or turns the line. Pure; knows no screen."""

from __future__ import annotations

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
_EXCEPTION = re.compile(r"[\w.]*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACKED = re.compile(f"([{_MARKS}]{{4}})[{_MARKS}]+")
_JOINERS = "\u200c\u200d"
_VARIANTS = "\ufe0e\ufe0f"


def visible(text: str) -> str:
    r"""The text with everything that hides or steers shown as an escape (`\x1b`, `\u202e`).

    Newlines and tabs stay. Joiners and variation selectors stay where scripts and emoji need
    them. Marks that pile up on one letter are cut, since they would leave their line.
    """
    return _STACKED.sub(r"\1…", _HIDDEN.sub(_escape, text))


def stripped(text: str) -> str:
    """The text without what `visible` would show as an escape: for a model, it is noise at best."""
    return _STACKED.sub(r"\1", _HIDDEN.sub(_kept, text))


def reason_of(text: str) -> str:
    """One line of a failure: what a traceback ends in, else the first line that is not blank."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("Traceback"):
        # The exception stands at the margin, the lines of its frames do not; its text may go on.
        margin = [line for line in lines[1:] if not line.startswith((" ", "["))]
        named = [line for line in margin if _EXCEPTION.match(line)]
        return (named or margin or lines)[-1].strip()
    return lines[0].strip() if lines else ""


def _kept(match: re.Match[str]) -> str:
    return match.group() if _belongs(match.string, match.start()) else ""


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
