"""Findings as models write them, put right where one reading is left. Knows no files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from agent_magics.findings import SEVERITIES, Severity


class Written(TypedDict, total=False):
    """One finding, as the model is asked for it.

    Nothing in it is required by the schema: a finding that lacks something goes back by itself,
    and not all of them with it.

    Args:
        file: Path of the file, as git_diff and read name it.
        line: Number of the line in the file after the change, from 1.
        severity: high, medium or low.
        message: What is wrong and what it leads to, in one or two sentences.
        category: A word or two, such as: wrong result, lost data, security, crash, broken caller,
            resources, tests.
        suggestion: The fix: code that can be pasted in place of the lines, or one sentence.
        end_line: Last line, if the finding is about several.
    """

    file: str
    line: int | str
    severity: str
    message: str
    category: str
    suggestion: str
    end_line: int | str


@dataclass(frozen=True)
class Draft:
    """A finding that says all it must; whether its place exists is not known yet."""

    number: int
    file: str
    line: int
    end_line: int
    severity: Severity
    message: str
    category: str
    suggestion: str


OTHER_NAMES = {
    "file": ("path", "filename", "file_path", "location"),
    "line": ("start_line", "line_number", "lineno", "lines"),
    "end_line": ("line_end", "endLine"),
    "severity": ("level", "priority"),
    "message": ("description", "title", "issue", "problem", "comment", "text"),
    "category": ("type", "kind", "rule"),
    "suggestion": ("fix", "recommendation", "suggested_fix", "solution"),
}
"""What models call the fields when they do not look."""

SEVERITY_WORDS: dict[str, Severity] = {
    **dict.fromkeys(("critical", "blocker", "fatal", "severe", "error", "p0", "p1"), "high"),
    **dict.fromkeys(("moderate", "med", "warning", "warn", "normal", "p2"), "medium"),
    **dict.fromkeys(("minor", "info", "note", "nit", "nitpick", "trivial", "style", "p3"), "low"),
    **{name: name for name in SEVERITIES},
}
"""Words with one meaning; `major` is the second of three for some and the first for others."""

_PLACE = re.compile(r"(.+?)(?::L?|#L)(\d{1,9})(?:(?:-L?|:)(\d{1,9}))?")
_LINES = re.compile(r"(?:lines?\s*|L)?(\d{1,9})(?:\s*[-–]\s*L?(\d{1,9}))?", re.IGNORECASE)


def drafted(number: int, written: Mapping[str, Any]) -> Draft | list[str]:
    """The finding, or what has to be mended.

    Args:
        number: Which one it is, from 0.
        written: As the model wrote it.
    """
    fields = _named(written)
    file, line, end = _place(fields)
    severity = _severity(fields.get("severity"))
    message = _text(fields.get("message"))
    problems = []
    if not file:
        problems.append("file is missing")
    if line is None:
        given = fields.get("line")
        what = "is missing" if given in (None, "") else f"is {_short(given)}, not a line number"
        problems.append(f"line {what}")
    elif line < 1:
        problems.append(f"line is {line}; lines count from 1")
    elif end is not None and end < line:
        problems.append(f"end_line is {end}, before line {line}")
    if severity is None:
        given = fields.get("severity")
        what = "is missing" if given in (None, "") else f"is {_short(given)}"
        problems.append(f"severity {what}; use high, medium or low")
    if not message:
        problems.append("message is missing")
    if problems or line is None or severity is None:
        return problems
    category, suggestion = _text(fields.get("category")), _text(fields.get("suggestion"))
    return Draft(number, file, line, end or line, severity, message, category, suggestion)


def unknown_fields(written: Mapping[str, Any]) -> list[str]:
    """Names of what was written and is not kept."""
    known = {*Written.__annotations__, "title"}
    taken = {n for field, names in OTHER_NAMES.items() if field not in written for n in names}
    return [name for name in written if name not in known | taken]


def _named(written: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by their own names."""
    found = dict(written)
    for field, others in OTHER_NAMES.items():
        if field not in found:
            name = next((name for name in others if name in written), None)
            if name is not None:
                found[field] = written[name]
    title, message = written.get("title"), found.get("message")
    if isinstance(title, str) and isinstance(message, str) and title not in message:
        found["message"] = f"{title}: {message}"
    return found


def _place(fields: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """File, first line and last line; None for what is not said or cannot be read."""
    file = _text(fields.get("file")).strip("`'\"")
    line, end = _lines(fields.get("line"))
    last, _ = _lines(fields.get("end_line"))
    inside = _PLACE.fullmatch(file)
    # A file may be called `a:7`; unless both say the same line, its name is left alone.
    if inside and (fields.get("line") in (None, "") or line == int(inside[2])):
        file, line = inside[1], int(inside[2])
        # Behind a single line stands a column; behind a dash the last line.
        end = end or (int(inside[3]) if inside[3] and "-" in inside[0][len(file) :] else None)
    return file, line, last or end


def _lines(value: Any) -> tuple[int | None, int | None]:
    if isinstance(value, bool):
        return None, None
    if isinstance(value, int):
        return value, None
    found = _LINES.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None, None
    return int(found[1]), int(found[2]) if found[2] else None


def _severity(value: Any) -> Severity | None:
    """`High`, `[high]`, `🔴 critical`: one word of letters that is known."""
    words = re.findall(r"[a-z0-9]+", value.lower()) if isinstance(value, str) else []
    return SEVERITY_WORDS.get(words[0]) if len(words) == 1 else None


def _text(value: Any) -> str:
    return value.strip("\n").rstrip() if isinstance(value, str) else ""


def _short(value: Any) -> str:
    text = " ".join(str(value)[:200].split())
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
