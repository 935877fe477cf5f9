"""`@name` in a prompt: which variables are meant, and their descriptions beside the prompt. Pure.

Owns what counts as a mention. The prompt itself stays as it was written, byte for byte: what is
found is sent before it, as texts of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_magics.messages import Attachment
from agent_magics.namespace.looking import shown_name
from agent_magics.tools.variables.describing import ALL, ONE, described, unknown

MOST = 10
"""Variables that one prompt attaches."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)", re.DOTALL)
# No address, path or package: nothing of a word before it, and no slash or second @ behind it.
_MENTION = re.compile(r"(?<![\w@.+/:%\\-])@([^\W\d]\w*)(?![\w/@-]|\.[\w-]+@)")
_DECORATOR = re.compile(r"\s*@[\w.]+(\(.*\))?\s*$")
_DEFINITION = re.compile(r"\s*((async\s+)?def\s|class\s)")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a prompt attaches.

    Args:
        attached: Descriptions, in the order of the mentions.
        lines: What to tell the person: names that are no variables. The turn itself says what
            went with the prompt.
    """

    attached: tuple[Attachment, ...] = ()
    lines: tuple[str, ...] = ()


def mentioned(prompt: str) -> tuple[str, ...]:
    """The names behind an `@` in a prompt, each once; `@df.col` means `df`.

    Code in fences and in backticks is left out, and so are e-mail addresses and decorators above
    a definition.
    """
    prose = _SPAN.sub(" ` ", "\n".join(_prose(prompt.splitlines())))
    return tuple(dict.fromkeys(_MENTION.findall(prose)))


def attachments(prompt: str, names: Mapping[str, object], redact: Callable[[str], str]) -> Mentions:
    """The descriptions of the variables that a prompt mentions.

    Args:
        prompt: What the person wrote.
        names: The person's variables.
        redact: Takes secrets out of a text.
    """
    wanted = mentioned(prompt)
    known = [name for name in wanted if name in names][:MOST]
    budget = min(ONE, ALL // max(1, len(known)))
    attached = tuple(
        Attachment(f"@{name}", redact(described(name, names[name], budget=budget)))
        for name in known
    )
    missing = [name for name in wanted if name not in names]
    lines = [f"@{shown_name(name)}: {unknown(name, names)}" for name in missing[:MOST]]
    if len(wanted) - len(missing) > MOST:
        lines.append(f"Only the first {MOST} variables are attached.")
    return Mentions(attached, tuple(lines))


def _prose(lines: list[str]) -> list[str]:
    """The lines outside of code fences, without decorators."""
    kept: list[str] = []
    fence = ""
    for place, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            continue
        if mark:
            fence = mark[1]
            continue
        if not _decorates(lines, place):
            kept.append(line)
    return kept


def _decorates(lines: list[str], place: int) -> bool:
    """Whether a line is a decorator, or one of several, above a definition."""
    start = place
    while place < len(lines) and _DECORATOR.match(lines[place]):
        place += 1
    return start < place < len(lines) and _DEFINITION.match(lines[place]) is not None
