"""Texts of strangers, fenced for the model. Pure.

Owns the one form of the fence, and that no text can end its own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from agent_magics.plain import stripped

MAX_ATTRIBUTE = 500
"""Characters of a fact about the text that stand in its opening tag."""


def fenced(tag: str, text: str, facts: Mapping[str, str]) -> str:
    """A text between tags that it cannot close.

    Args:
        tag: The fence's name: letters and `_`.
        text: Anything. Characters that hide or steer are dropped, tags that look like the fence's
            lose their bracket.
        facts: What is known of the text, for the opening tag; empty ones are left out.
    """
    # Look-alikes of the bracket, since a reader of any kind may take them for one.
    forged = re.compile(rf"[<＜﹤‹〈](?=\s*/?\s*{re.escape(tag)})", re.IGNORECASE)
    body = forged.sub("&lt;", stripped(text))
    shown = "".join(f' {name}="{_value(value)}"' for name, value in facts.items() if value)
    return f"<{tag}{shown}>\n{body}\n</{tag}>"


def _value(value: str) -> str:
    return html.escape(" ".join(stripped(value).split())[:MAX_ATTRIBUTE], quote=True)
