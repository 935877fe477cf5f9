"""One word of a shell command: what a program gets for it. Pure.

Owns quotes and escapes, and the characters with which a shell would make something else of a word.
"""

from __future__ import annotations

import re

from agent_magics.commandline import ANY

_PIECE = re.compile(
    r"""(?P<single>'[^']*')
    | (?P<double>"(?:\\.|[^"\\])*")
    | \\(?P<escaped>.)
    | (?P<bare>[^'"\\]+)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED = re.compile(r'\\([$`"\\])')
_CONTINUED = re.compile(r"\\\n")
_PLAIN = re.compile(r"[A-Za-z0-9_./+%@^,-]+")
QUOTED = "\ufdd0"
"""Stands for a quoted character where only bare ones count; Unicode uses it for no character."""

_GLOB = re.compile(r"[*?\[]")
_TILDE = re.compile(r"(?:^|[=:])~")
_BRACES = re.compile(r"\{.*(?:,|\.\.)", re.DOTALL)
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def read_word(text: str) -> tuple[str, str] | None:
    """A word after quotes and escapes, and the same with its quoted characters made unknown.

    Args:
        text: The word as it is written, without expansions.

    Returns:
        None if quotes do not close.
    """
    if _PLAIN.fullmatch(text):
        return text, text
    value, bare, at = [], [], 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            return None
        at = match.end()
        if match["bare"]:
            value.append(match["bare"])
            bare.append(match["bare"])
            continue
        piece = _quoted(match)
        value.append(piece)
        # An empty quotation ends what is bare before it, too.
        bare.append(QUOTED * max(1, len(piece)))
    return "".join(value), "".join(bare)


def _quoted(match: re.Match[str]) -> str:
    if match["single"]:
        return match["single"][1:-1]
    if match["double"]:
        return _ESCAPED.sub(r"\1", _CONTINUED.sub("", match["double"][1:-1]))
    return match["escaped"].replace("\n", "")


def expansion(bare: str) -> str:
    """What a shell would make of the bare characters of a word, or the empty text.

    Args:
        bare: As `read_word` gives it.
    """
    if _GLOB.search(bare):
        return "it holds a pattern for file names"
    if _TILDE.search(bare):
        return "it holds ~"
    if _BRACES.search(bare):
        return "it holds braces that make several words"
    return ""


def loose_word(text: str) -> str:
    """A word of which parts may be unknown: `ANY` for each part that the shell fills in.

    Args:
        text: The word with `ANY` in the place of expansions.
    """
    if _PLAIN.fullmatch(text):
        return text
    read = read_word(text)
    if read is None:
        return ANY
    value, bare = read
    if _BRACES.search(bare):
        return ANY
    if not expansion(bare):
        return value
    if len(value) != len(bare):
        return ANY
    unknown = _TILDE.sub(ANY, _GLOB.sub(ANY, bare))
    if len(unknown) != len(value):
        return ANY
    pairs = zip(value, unknown, strict=True)
    return "".join(ANY if shown == ANY else letter for letter, shown in pairs)
