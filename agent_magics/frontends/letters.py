"""Our words for terminals that cannot write all of them: ASCII, Latin-1, an old Windows code page.

Owns what stands in the place of a sign. A character without a place is shown as an escape, so that
nothing is lost; nothing raises.
"""

from __future__ import annotations

from agent_magics.frontends.ansi import OURS
from agent_magics.plain import visible

BAR = "~"
"""Stands for the bar that begins each line of ours; a model's own `~` is escaped then."""

_SIGNS = {
    OURS[0]: BAR,
    "│": ":",
    "✓": "+",
    "✗": "x",
    "⊘": "-",
    "⚠": "!",
    "ℹ": "i",
    "▸": ">",
    "↳": ">",
    "↻": "*",
    "↑": "^",
    "⇣": "*",
    "⚙": "*",
    "☑": "[x]",
    "▶": "[>]",
    "☐": "[ ]",
    "☒": "[-]",
    "·": "-",
    "…": "...",
    "—": "--",
    "–": "-",
    "→": "->",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "×": "x",
    "µ": "u",
}


def written(text: str, encoding: str) -> str:
    """The text as an encoding can write it.

    Args:
        text: Of ours, or what `own_words` gave.
        encoding: A stream's; one that is not known counts as ASCII.
    """
    if _fits(text, encoding):
        return text
    return "".join(c if _fits(c, encoding) else _SIGNS.get(c) or _escaped(c) for c in text)


def own_words(text: str, encoding: str) -> str:
    """A model's words, in which nothing passes for the bar that stands before ours."""
    return text if _fits(OURS, encoding) else text.replace(BAR, _escaped(BAR))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except LookupError:
        return text.isascii()
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    shown = visible(character)
    if shown != character:
        return shown
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
