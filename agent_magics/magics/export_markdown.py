"""A saved session as Markdown: each prompt as a quotation, below it what the cell showed.

What was said stays Markdown, but loads nothing and acts on nothing: pictures and HTML in it are
shown as the text they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_magics.frontends.summary import safe_line
from agent_magics.magics.replaying import blocks_of
from agent_magics.plain import visible
from agent_magics.records.stored import Stored

_FENCE = re.compile(r"\s*(?:[>\-*+]\s*)*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")


def markdown_text(stored: Stored, title: str, facts: str) -> str:
    """The text of an `.md` file.

    Args:
        stored: The session.
        title: Its head line.
        facts: The line below it.
    """
    parts = [f"# {literal(safe_line(title, 200))}", literal(facts)]
    for turn in stored.turns:
        prompt = inactive(visible(turn.began.prompt.text.strip("\n")))
        parts.append("## %%agent")
        parts.append("\n".join(f"> {line}".rstrip() for line in prompt.split("\n")))
        blocks = (block.text.strip("\n") for block in blocks_of(turn))
        parts += [inactive(text) for text in blocks if text.strip()]
    return "\n\n".join(parts) + "\n"


def inactive(text: str) -> str:
    """Markdown without pictures and HTML; code stays as it is.

    Args:
        text: Markdown from anyone.
    """
    return "\n".join(_inactive_lines(text.split("\n")))


def literal(text: str) -> str:
    """A line that Markdown shows as it is."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+!|$~&" else c for c in text)


def _inactive_lines(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            yield line
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found:
            fence = found[1]
            yield line
        else:
            yield _inactive_line(line)


def _inactive_line(line: str) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(line):
        parts += [_without(line[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _without(line[end:])])


def _without(text: str) -> str:
    return _ACTIVE.sub(lambda match: "\\!" if match[0] == "!" else "&lt;", text)
