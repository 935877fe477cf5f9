"""A header's text as plain values, by way of PyYAML's events.

PyYAML gives the structure; the values are put together here, so that text stays the text that the
author wrote (`name: yes`, `version: 1.10`, dates), nothing is constructed or executed, aliases are
never expanded, and nesting is bounded. Knows no field of a skill.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_magics.skill import Diagnostic
from agent_magics.skill.naming import shown

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_DEPTH = 32
"""How deep lists and mappings may be nested."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_PYTHON_TAG = "tag:yaml.org,2002:python"
_CORE_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says.

    Args:
        values: Key to text, None, list or mapping; in the order of the file.
        plain: Top-level keys whose value is text without quotes.
        diagnostics: What is off; an error means that `values` cannot be used.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    diagnostics: tuple[Diagnostic, ...] = ()


class NotYaml(Exception):
    """YAML, or the part of it that headers may use, does not take the text.

    Args:
        message: What is off.
        lines: Numbers from 0 in the header where the cause may stand, the likeliest first.
        final: Mending would hide what the author did; the skill is broken.
    """

    def __init__(self, message: str, lines: Sequence[int], *, final: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.lines = tuple(lines)
        self.final = final


def yaml_values(lines: Sequence[str], first_line: int) -> Header:
    """The header by YAML alone.

    Args:
        lines: The header's lines.
        first_line: The number of the first of them in the file, for messages.

    Raises:
        NotYaml: It cannot be read so.
    """
    import yaml  # noqa: PLC0415 - 20 ms that only reading a skill should cost

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reading = _Reading(lines, first_line)
    try:
        for event in yaml.parse("\n".join(lines), Loader=loader):
            reading.take(type(event).__name__, event)
    except yaml.MarkedYAMLError as error:
        marks = (error.problem_mark, error.context_mark)
        message = error.problem or "this is no YAML"
        raise NotYaml(message, [m.line for m in marks if m is not None]) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The two others: PyYAML's own scanner, for an escape that is no character.
        raise NotYaml(shown(str(error)), ()) from None
    return reading.header()


@dataclass(slots=True)
class _Reading:
    """Puts values together from events, without recursion."""

    lines: Sequence[str]
    first_line: int
    root: Value = None
    stack: list[list[Value] | dict[str, Value]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    documents: int = 0
    problems: list[Diagnostic] = field(default_factory=list)

    def take(self, kind: str, event: Any) -> None:
        """One event of the stream."""
        match kind:
            case "ScalarEvent":
                self._scalar(event)
            case "SequenceStartEvent":
                self._open([], event)
            case "MappingStartEvent":
                self._open({}, event)
            case "SequenceEndEvent" | "MappingEndEvent":
                self.keys.pop()
                self._put(self.stack.pop(), event)
            case "AliasEvent":
                self._alias(event)
            case "DocumentStartEvent":
                self.documents += 1
                if self.documents > 1:
                    raise NotYaml("a second document starts", [event.start_mark.line])
            case _:  # the ends of documents, and of the stream, say nothing new
                pass

    def header(self) -> Header:
        """What was read, once the stream has ended."""
        if self.root is None:
            return Header(diagnostics=tuple(self.problems))
        if not isinstance(self.root, dict):
            raise NotYaml("this is no list of `key: value` lines", ())
        return Header(self.root, frozenset(self.plain), tuple(self.problems))

    def _scalar(self, event: Any) -> None:
        self._node(event)
        if any(0xD800 <= ord(character) <= 0xDFFF for character in event.value):
            raise NotYaml("an escape is half a character", [event.start_mark.line])
        plain = not event.style
        is_key = bool(self.stack) and isinstance(self.stack[-1], dict) and self.keys[-1] is None
        # `tools: !`, `tools: !!str`, `tools: &a`: only what is nothing but itself can be null.
        written = not event.tag and not event.anchor
        null = plain and written and not is_key and event.value in _NULLS
        self._note(event, plain)
        self._put(None if null else event.value, event)

    def _open(self, container: list[Value] | dict[str, Value], event: Any) -> None:
        self._node(event)
        if len(self.stack) >= MAX_DEPTH:
            raise NotYaml(f"more than {MAX_DEPTH} levels are nested", [event.start_mark.line])
        self.stack.append(container)
        self.keys.append(None)

    def _node(self, event: Any) -> None:
        """Tags and anchors, which every kind of node may have."""
        line = event.start_mark.line
        if event.anchor:
            self.anchors.add(event.anchor)
        if not event.tag or event.tag == "!":
            return
        if event.tag.startswith(_PYTHON_TAG):
            raise NotYaml("YAML tags that name Python objects are refused", [line], final=True)
        if not event.tag.startswith(_CORE_TAG):
            raise NotYaml("the value looks like a YAML tag", [line])

    def _alias(self, event: Any) -> None:
        """An alias of this header becomes a mapping, which no field takes for text or a list."""
        line = event.start_mark.line
        if event.anchor not in self.anchors:
            raise NotYaml("the value looks like a YAML alias", [line])
        if not any("aliases" in problem.message for problem in self.problems):
            self._warn(line, "YAML aliases are not followed", "write the value out")
        self._put({"alias": event.anchor}, event)

    def _put(self, value: Value, event: Any) -> None:
        if not self.stack:
            self.root = value
            return
        container = self.stack[-1]
        if isinstance(container, list):
            container.append(value)
            return
        line = event.start_mark.line
        key = self.keys[-1]
        if key is None:
            if not isinstance(value, str) or not value:
                raise NotYaml("a key must be a text", [line])
            self.keys[-1] = value
            return
        if key in container and len(self.stack) == 1 and key not in self.repeated:
            self.repeated.add(key)
            self._warn(line, f"`{shown(key)}` is given twice; the last one counts", "remove one")
        container[key] = value
        self.keys[-1] = None

    def _note(self, event: Any, plain: bool) -> None:
        """Remember how a top-level value is written, and text that a comment cuts off."""
        if len(self.stack) != 1 or not plain or self.keys[0] is None:
            return
        key = self.keys[0]
        self.plain.add(key)
        end = event.end_mark
        rest = self.lines[end.line][end.column :] if end.line < len(self.lines) else ""
        if key.casefold() == "description" and event.value and re.match(r"\s+#", rest):
            self._warn(end.line, "`#` cuts the description off", "put the value in quotes")

    def _warn(self, line: int, message: str, fix: str) -> None:
        text = f"line {line + self.first_line}: {message}"
        self.problems.append(Diagnostic("warning", text, fix))
