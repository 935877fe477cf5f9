"""The header of a SKILL.md as a mapping: YAML first, then YAML mended, then line by line.

What people write that YAML does not take (`description: Use when: asked`) is quoted where it
stands and read again: of 144 such headers in 20,702 public skills that recovers 115, and the
scan of lines behind it the others. Knows no field but by its key.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_magics.skill import Diagnostic
from agent_magics.skill.naming import shown
from agent_magics.skill.yaml_values import Header, NotYaml, Value, yaml_values

MAX_HEADER = 65_536
"""Characters of a header; the longest public ones are far below."""
MAX_MENDED = 20
"""Values that are put in quotes before the lines are simply scanned."""

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?:[ \t]+(?P<rest>.*)|$)")
_BLOCK_MARK = re.compile(r"[|>][+-]?\d?[+-]?(?:[ \t]+|$)")


@dataclass(frozen=True, slots=True)
class _Block:
    """One top-level key with all of its lines."""

    key: str
    start: int
    lines: tuple[str, ...]
    rest: str

    @property
    def end(self) -> int:
        return self.start + len(self.lines)

    def value(self) -> str | list[str] | None:
        """What the lines say when no syntax is left: folded text, or a list of `- ` lines."""
        rest = _BLOCK_MARK.sub("", self.rest.strip(), count=1)
        more = [line.strip() for line in self.lines[1:] if line.strip()]
        if not rest and more and all(line.startswith("- ") for line in more):
            return [_unquoted(line[2:].strip()) for line in more]
        return _unquoted(" ".join([rest, *more]).strip()) or None


def read_header(text: str, first_line: int = 1) -> Header:
    """The header's keys and values. Never raises.

    Args:
        text: The lines between the two `---`.
        first_line: The number of the first of them in the file, for messages.
    """
    unreadable = _unreadable(text, first_line)
    if unreadable is not None:
        return Header(diagnostics=(unreadable,))
    lines = text.split("\n")
    blocks, stray = _blocks(lines)
    mended: dict[str, Diagnostic] = {}
    while True:
        try:
            header = yaml_values(lines, first_line)
        except NotYaml as problem:
            if problem.final or stray is not None or not blocks:
                return Header(diagnostics=(_broken(problem, lines, stray, first_line),))
            block = _culprit(blocks, problem.lines, mended)
            if block is None or len(mended) == MAX_MENDED:
                return _scanned(blocks, first_line, problem)
            mended[block.key] = _mending(block, problem, first_line)
            lines[block.start : block.end] = _quoted(block)
        else:
            return replace(header, diagnostics=(*mended.values(), *header.diagnostics))


def _unreadable(text: str, first_line: int) -> Diagnostic | None:
    if len(text) > MAX_HEADER:
        return Diagnostic(
            "error",
            f"the header has {len(text):,} characters, more than {MAX_HEADER:,}",
            "move the text below the closing ---",
        )
    bad = _UNPRINTABLE.search(text)
    if bad is None:
        return None
    line = text.count("\n", 0, bad.start()) + first_line
    message = f"line {line} holds the control character U+{ord(bad[0]):04X}"
    return Diagnostic("error", message, "remove it")


def _blocks(lines: Sequence[str]) -> tuple[list[_Block], int | None]:
    """The top-level keys, and the first line that belongs to none of them.

    A line at the margin goes on with the value before it (a wrapped description), but not after
    an empty line: then a header was not closed, and this is the body.
    """
    starts: list[tuple[int, str, str]] = []
    stray: int | None = None
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if match:
            starts.append((number, _unquoted(match["key"]), match["rest"] or ""))
        elif _at_margin(line) and (not starts or not lines[number - 1].strip()):
            stray = number if stray is None else stray
    ends = [*(start for start, _, _ in starts[1:]), len(lines)]
    blocks = [
        _Block(key, start, tuple(lines[start:end]), rest)
        for (start, key, rest), end in zip(starts, ends, strict=False)
    ]
    return blocks, stray


def _at_margin(line: str) -> bool:
    return bool(line) and not line[0].isspace() and not line.startswith(("#", "- "))


def _culprit(
    blocks: Sequence[_Block], lines: Sequence[int], mended: Container[str]
) -> _Block | None:
    """The key whose value is to be quoted: the one at a marked line that was not quoted yet."""
    for line in lines:
        before = [block for block in blocks if block.start <= line]
        if before and before[-1].key not in mended:
            return before[-1]
    return None


def _quoted(block: _Block) -> list[str]:
    """The block's lines with its value in quotes; as many as before, so that numbers stay true."""
    value = block.value()
    if isinstance(value, list):
        text = "[" + ", ".join(_in_quotes(item) for item in value) + "]"
    else:
        text = _in_quotes(value or "")
    return [f"{_in_quotes(block.key)}: {text}", *[""] * (len(block.lines) - 1)]


def _mending(block: _Block, problem: NotYaml, first_line: int) -> Diagnostic:
    # Other clients show an argument hint as it stands, so nothing is wrong with `[file] [kind]`.
    severity: Literal["info", "warning"] = "info" if block.key == "argument-hint" else "warning"
    return Diagnostic(
        severity,
        f"line {block.start + first_line}: the value of `{shown(block.key)}` is no YAML "
        f"({problem.message}) and is taken as text",
        "put it in quotes",
    )


def _scanned(blocks: Sequence[_Block], first_line: int, problem: NotYaml) -> Header:
    """The header line by line."""
    line = (problem.lines[0] if problem.lines else 0) + first_line
    message = f"line {line}: the header is no YAML ({problem.message}) and is read line by line"
    values: dict[str, Value] = {}
    for block in blocks:
        value = block.value()
        values[block.key] = [*value] if isinstance(value, list) else value
    return Header(values, frozenset(), (Diagnostic("warning", message, "mend that line"),))


def _broken(
    problem: NotYaml, lines: Sequence[str], stray: int | None, first_line: int
) -> Diagnostic:
    if problem.final:
        line = problem.lines[0] + first_line
        return Diagnostic("error", f"line {line}: {problem.message}", "write plain values")
    if stray is None or not any(_KEY.match(line) for line in lines[:stray]):
        message = "the header holds no `key: value` lines"
        return Diagnostic("error", message, "write `name:` and `description:` lines")
    return Diagnostic(
        "error",
        f"there is no closing --- before line {stray + first_line} ({shown(lines[stray], 40)})",
        "put --- on a line of its own behind the header",
    )


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        inner = text[1:-1]
        if text[0] == "'":
            return inner.replace("''", "'")
        if '"' not in inner.replace('\\"', ""):
            return inner.replace('\\"', '"')
    return text


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
