"""Code as HTML with Pygments' short class names, which notebook front ends colour by their theme.

Owns which languages are highlighted and how much of the markup is worth its bytes. Emits nothing
but `<span class="…">` with class names from a closed list around escaped text.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIMIT = 10_000
"""Characters of code that are highlighted; a lexer's time on hostile text is not linear."""

LANGUAGES = frozenset(
    re.findall(
        r"\S+",
        """
        bash sh shell zsh console c cpp c++ csharp css diff docker dockerfile go html ini
        ipython java javascript js json jsx julia kotlin latex tex lua make makefile markdown md
        matlab numpy perl php powershell pycon py python python3 pytb r rb ruby rust rs scala
        sql swift toml ts tsx typescript xml yaml yml
        """,
    )
)
"""The languages that are highlighted. A name that is not here is never looked up: Pygments would
search every installed package for it."""

_SHORT = (
    ("Comment", "c"),
    ("Keyword", "k"),
    ("Literal.String", "s"),
    ("Literal.Number", "m"),
    ("Name.Builtin", "nb"),
    ("Name.Function", "nf"),
    ("Name.Class", "nc"),
    ("Name.Decorator", "nd"),
    ("Name.Tag", "nt"),
    ("Name.Attribute", "na"),
    ("Generic.Deleted", "gd"),
    ("Generic.Inserted", "gi"),
    ("Generic.Heading", "gh"),
    ("Generic.Subheading", "gu"),
    ("Generic.Prompt", "gp"),
    ("Generic.Output", "go"),
)


def highlighted(code: str, language: str) -> str:
    """The code as escaped HTML for a `<pre>`, coloured where the language is known.

    Args:
        code: Already visible; longer than `LIMIT`: escaped only.
        language: As a fence or a tool names it.
    """
    name = language.lower()
    if name not in LANGUAGES or len(code) > LIMIT:
        return escape(code, quote=False)
    merged: list[tuple[str, str]] = []
    for kind, value in _lexer(name).get_tokens(code):
        short = _class(str(kind).removeprefix("Token."))
        # Blank space needs no colour, so it may join what stands before it.
        if merged and (merged[-1][0] == short or not value.strip()):
            merged[-1] = (merged[-1][0], merged[-1][1] + value)
        else:
            merged.append((short, value))
    return "".join(_span(short, value) for short, value in merged)


def _span(short: str, value: str) -> str:
    return (
        f'<span class="{short}">{escape(value, quote=False)}</span>'
        if short
        else escape(value, quote=False)
    )


@cache
def _class(kind: str) -> str:
    return next((short for name, short in _SHORT if kind.startswith(name)), "")


@cache
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)
