"""One finding of a review, and how it is written as JSON. Pure.

Owns what a finding may hold and how much of it. What is read comes from tools, and they have it
from models: it is taken apart field by field, and what is no finding is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast, get_args

from agent_magics.messages import JSON

Severity: TypeAlias = Literal["high", "medium", "low"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe one first."""

MAX_MESSAGE, MAX_SUGGESTION, MAX_CODE = 2_000, 8_000, 8_000
"""Characters that are kept of each; more than a screen helps nobody."""
MAX_FILE, MAX_CATEGORY = 4_096, 60
"""The same for a path (PATH_MAX of Linux) and for a word or two."""
MAX_LINE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a review found.

    Args:
        file: Relative to the workspace, with forward slashes.
        line: The first line it is about, from 1.
        severity: How bad it is.
        message: What is wrong, in a sentence or two.
        category: A word or two: `wrong result`, `security`, `tests`; may be empty.
        suggestion: What to do: code, or a sentence; may be empty.
        end_line: The last line; the same as `line` for one line.
        code: The lines around it as they are in the file; empty where there are none.
        code_start: The number of the first line of `code`.
        deleted: Whether the file is gone, and the line one of its last version.
    """

    file: str
    line: int
    severity: Severity
    message: str
    category: str = ""
    suggestion: str = ""
    end_line: int = 0
    code: str = ""
    code_start: int = 1
    deleted: bool = False

    def __post_init__(self) -> None:
        if self.end_line < self.line:
            object.__setattr__(self, "end_line", self.line)

    @property
    def place(self) -> str:
        """`shop/report.py:24`, with the last line where there are several."""
        lines = f"{self.line}" if self.end_line == self.line else f"{self.line}-{self.end_line}"
        return f"{self.file}:{lines}"

    @property
    def key(self) -> tuple[str, int, str]:
        """What makes two reports one finding."""
        return self.file, self.line, " ".join(self.message.split())

    @property
    def rank(self) -> int:
        """0 for the most severe."""
        return SEVERITIES.index(self.severity)

    def bounded(self) -> Finding:
        """The finding as it can be sent: texts fit for UTF-8 and within their limits."""
        return replace(
            self,
            file=shortened(self.file, MAX_FILE),
            message=shortened(self.message, MAX_MESSAGE),
            category=shortened(self.category, MAX_CATEGORY),
            suggestion=shortened(self.suggestion, MAX_SUGGESTION),
            code=shortened(self.code, MAX_CODE),
        )

    def to_dict(self) -> dict[str, JSON]:
        """All fields by name, as a row of a table."""
        return {name: getattr(self, name) for name in FIELDS}

    def to_json(self) -> dict[str, JSON]:
        """What `finding_of` reads; fields that say nothing are left out."""
        row = {name: value for name, value in self.to_dict().items() if value not in ("", False)}
        if self.end_line == self.line:
            del row["end_line"]
        if not self.code:
            row.pop("code_start")
        return row


FIELDS = tuple(Finding.__dataclass_fields__)
"""The names of a finding's fields, in their order."""


def finding_of(value: JSON) -> Finding | None:
    """The finding that JSON holds; None where it is none.

    Args:
        value: Anything. Texts are made encodable and cut at their limits.
    """
    if not isinstance(value, Mapping):
        return None
    file, message, code = (_text(value, name) for name in ("file", "message", "code"))
    line, severity = _number(value, "line"), value.get("severity")
    if not file or not message or not line or severity not in SEVERITIES:
        return None
    return Finding(
        file,
        line,
        cast("Severity", severity),
        message,
        _text(value, "category"),
        _text(value, "suggestion"),
        _number(value, "end_line"),
        code,
        _number(value, "code_start") or (line if code else 1),
        value.get("deleted") is True,
    ).bounded()


def shortened(text: str, limit: int) -> str:
    """The text fit for UTF-8, cut with a word on what is missing.

    Args:
        text: Anything.
        limit: Characters of the whole, that word included.
    """
    whole = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(whole) <= limit:
        return whole
    kept = max(limit - len("… [999,999,999 characters cut]"), 0)
    return f"{whole[:kept]}… [{len(whole) - kept:,} characters cut]"


def _text(value: Mapping[str, JSON], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def _number(value: Mapping[str, JSON], name: str) -> int:
    """A line number; 0 where there is none."""
    number = value.get(name)
    if isinstance(number, bool) or not isinstance(number, int):
        return 0
    return number if 1 <= number <= MAX_LINE else 0
