"""A SKILL.md's bytes as two texts, the header and the body, however the file was saved.

Owns encodings, line ends and the `---` lines. Deliberately knows nothing of what a header says.
"""

from __future__ import annotations

import codecs
import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from agent_magics.skill import Diagnostic
from agent_magics.skill.naming import shown

MAX_BYTES = 1_000_000
"""The largest SKILL.md that is read; the largest of 20,702 public ones has 291,000 characters."""
SEARCHED = 40
"""Lines in which a header may still begin when something stands before it."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_FENCE = re.compile(r"(`{3,}|~{3,})\s*[\w-]*\s*")
_FIRST_KEY = re.compile(r"(name|description)\s*:", re.IGNORECASE)
_LINK_TEXT = re.compile(
    r"(\.{1,2}/|/|~/)?[\w .@/-]*/?skill\.md|(\.{1,2}/)+[\w .@/-]+", re.IGNORECASE
)
_POINTER = "version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file holds.

    Args:
        header: The lines between the two `---`; None where there is no header.
        body: Everything behind it; the whole text where there is no header.
        first_line: The number of the header's first line in the file, from 1.
        diagnostics: What is off; an error means that neither text can be used.
    """

    header: str | None = None
    body: str = ""
    first_line: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


def parts(data: bytes) -> Parts:
    """The header and the body of a SKILL.md. Never raises."""
    text, problems = decoded(data)
    if any(problem.severity == "error" for problem in problems):
        return Parts(diagnostics=problems)
    split = _split(text)
    return Parts(split.header, split.body, split.first_line, (*problems, *split.diagnostics))


def decoded(data: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with line feeds as its only line ends, without a byte order mark and NUL."""
    if len(data) > MAX_BYTES:
        return "", (
            _error(
                f"SKILL.md has more than {MAX_BYTES:,} bytes",
                "keep instructions in it and move the material to references/",
            ),
        )
    foreign = _foreign(data)
    if foreign is not None:
        return "", (foreign,)
    problems: list[Diagnostic] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = data.decode("utf-8", "replace")
        if text.count("\ufffd") * 10 > len(text):
            return "", (_error("SKILL.md is no text", "save it as UTF-8"),)
        message = f"line {line} is not UTF-8 (byte 0x{data[error.start]:02x}), shown as \ufffd"
        problems.append(Diagnostic("warning", message, "save the file as UTF-8"))
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
        message = "the text holds NUL characters, shown as \ufffd"
        problems.append(Diagnostic("warning", message, "remove them"))
    return text, tuple(problems)


def _foreign(data: bytes) -> Diagnostic | None:
    """Why the bytes are no UTF-8 text at all, if they are not."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _error(f"SKILL.md is saved as {encoding}", "save it as UTF-8")
    sample = data[:4096]
    if sample.count(0) * 20 > len(sample):
        return _error("SKILL.md is no text, or is saved as UTF-16", "save it as UTF-8")
    return None


def _split(text: str) -> Parts:
    if not text.strip():
        return Parts(diagnostics=(_error("SKILL.md is empty", "write a header and instructions"),))
    stand_in = _stand_in(text)
    if stand_in is not None:
        return Parts(diagnostics=(stand_in,))
    # Only "\n" ends a line here: str.splitlines also cuts at U+2028, form feeds and others.
    lines = text.split("\n")
    first = _after_preamble(lines)
    fence = ""
    match = _FENCE.fullmatch(lines[first])
    if match and _next_text(lines, first + 1) == "---":
        fence = match.group(1)
        first = next(i for i in range(first + 1, len(lines)) if lines[i].strip())
    if _is_mark(lines[first]):
        return _closed(lines, first, fence)
    return _irregular(lines, first, text)


def _closed(lines: Sequence[str], opening: int, fence: str) -> Parts:
    """The parts of a file whose header is opened where it should be."""
    behind = range(opening + 1, len(lines))
    closing = next((i for i in behind if _is_mark(lines[i])), None)
    problems: tuple[Diagnostic, ...] = (_late(opening),) if opening and not fence else ()
    if closing is None:
        closing = next((i for i in behind if lines[i].strip() == "---"), None)
        if closing is None:
            return Parts(diagnostics=(_unclosed(lines, opening),))
        message = f"the closing --- on line {closing + 1} is indented"
        problems += (Diagnostic("warning", message, "move it to the margin"),)
    body = "\n".join(lines[closing + 1 :])
    if lines[closing].startswith((" ", "\t")):
        body = textwrap.dedent(body)  # what follows is indented by the same slip
    if fence:
        body = body.rstrip().removesuffix(fence)
        message = "the file stands in a code fence"
        problems += (Diagnostic("warning", message, "remove the fence's lines"),)
    header = "\n".join(lines[opening + 1 : closing])
    return Parts(header, _trimmed(body), opening + 2, problems)


def _irregular(lines: Sequence[str], first: int, text: str) -> Parts:
    """The parts of a file that does not open a header where it should."""
    marks = [i for i, line in enumerate(lines) if _is_mark(line)]
    if _FIRST_KEY.match(lines[first]) and marks:
        closing = marks[0]
        problem = Diagnostic("warning", "there is no opening ---", "put --- on the first line")
        body = _trimmed("\n".join(lines[closing + 1 :]))
        return Parts("\n".join(lines[first:closing]), body, first + 1, (problem,))
    for opening, closing in itertools.pairwise(marks):
        if opening < SEARCHED and _FIRST_KEY.match(lines[opening + 1]):
            body = "\n".join([*lines[:opening], *lines[closing + 1 :]])
            header = "\n".join(lines[opening + 1 : closing])
            return Parts(header, _trimmed(body), opening + 2, (_late(opening),))
    problem = Diagnostic(
        "warning",
        "there is no header",
        "start the file with ---, a `description:` line and ---; %use works without",
    )
    return Parts(None, _trimmed(text), 1, (problem,))


def _stand_in(text: str) -> Diagnostic | None:
    """Why the text stands for another file, if it does."""
    if is_link_text(text):
        return _error(
            f"SKILL.md is a symbolic link that was checked out as text (to {shown(text)})",
            "copy the file it names, or clone with core.symlinks=true",
        )
    if text.startswith(_POINTER):
        return _error("SKILL.md is a Git LFS pointer", "run git lfs pull")
    return None


def is_link_text(text: str) -> bool:
    """Whether a file's whole text is a relative path, as links become on some systems."""
    line = text.strip()
    return "\n" not in line and 0 < len(line) < 300 and _LINK_TEXT.fullmatch(line) is not None


def _after_preamble(lines: Sequence[str]) -> int:
    """The first line that is neither blank nor part of an HTML comment."""
    inside = False
    for number, line in enumerate(lines):
        stripped = line.strip()
        inside = inside or stripped.startswith("<!--")
        if not inside and stripped:
            return number
        if inside and "-->" in stripped:
            inside = False
    return 0


def _next_text(lines: Sequence[str], start: int) -> str:
    return next((line.strip() for line in lines[start:] if line.strip()), "")


def _is_mark(line: str) -> bool:
    return line.rstrip() == "---"


def _unclosed(lines: Sequence[str], opening: int) -> Diagnostic:
    for number, line in enumerate(lines[opening + 1 :], opening + 2):
        if re.fullmatch(r"\s*[-—–]{2,}\s*", line):
            fix = f"line {number} is {shown(line.strip())}; make it exactly ---"
            return _error("there is no closing ---", fix)
    return _error("there is no closing ---", "put --- on a line of its own behind the header")


def _late(opening: int) -> Diagnostic:
    return Diagnostic(
        "warning", f"the header starts on line {opening + 1}", "move it to the first line"
    )


def _trimmed(body: str) -> str:
    return body.lstrip("\n").rstrip()


def _error(message: str, fix: str) -> Diagnostic:
    return Diagnostic("error", message, fix)
