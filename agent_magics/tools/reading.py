"""The tool `read`: a page of a file, with line numbers; a picture as a picture.

Owns the page limits, the separator after line numbers, and the hint that says how to go on.
A file of any size is read without loading more than a page of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from agent_magics.errors import ToolError
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools import notebooks, pictures
from agent_magics.tools.blocking import in_thread
from agent_magics.tools.documents import MAX_WHOLE, Document, beginning, decoded, kind_of, opened
from agent_magics.tools.nearby import missing, same_looking
from agent_magics.tools.numbering import SEPARATOR
from agent_magics.tools.numbering import numbered as with_numbers
from agent_magics.tools.plain import around_words, size
from agent_magics.tools.schemas import flag, integer, record, string
from agent_magics.tools.scopes import this_path
from agent_magics.tools.walking import Stop
from agent_magics.tools.workspace import Workspace

MAX_LINES = 2000
"""Lines in a page, as in the agents that people know (Claude Code, opencode, pi)."""
MAX_BYTES = 50_000
"""Bytes in a page, about 12,000 tokens."""
SHOWN_OF_LONG = 2000
"""Characters of a line that alone is longer than a page."""
MAX_LINE = 1_000_000
"""Characters of one line that are kept in memory while a large file is paged."""


def read_tool(workspace: Workspace) -> Tool:
    """`read`: a page of a text file, or a notebook as cells."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        path = workspace.resolve(arguments["path"])
        page = Wanted(
            int(arguments.get("offset", 1)),
            min(int(arguments.get("limit", MAX_LINES)), MAX_LINES),
            bool(arguments.get("raw", False)),
        )
        return await in_thread(lambda stop: _read(path, page, workspace, stop))

    return Tool(
        "read",
        "Read a text file with line numbers, a notebook as its cells, or look at a picture.\n"
        f"A page is at most {MAX_LINES} lines or {MAX_BYTES // 1000} kB; the last line says how "
        f"to go on. Line numbers and the {SEPARATOR} after them are not part of the file.",
        record(
            ("path",),
            path=string("The file."),
            offset=integer("The first line of the page.", 1, None, 1),
            limit=integer("How many lines.", 1, None, MAX_LINES),
            raw=flag("For a notebook: the file's own JSON text."),
        ),
        "read",
        run,
        operand=lambda arguments: workspace.shown(arguments["path"]),
        outside=lambda arguments: workspace.outside(arguments["path"], write=False),
        always=this_path("read", workspace),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a file is asked for: the first line from 1, and how many at most."""

    offset: int
    limit: int
    raw: bool = False


def _read(path: Path, wanted: Wanted, workspace: Workspace, stop: Stop) -> ToolOutput:
    path = same_looking(path, workspace)
    shown = workspace.shown(path)
    if not path.exists():
        raise ToolError(missing(path, workspace))
    with opened(path, shown) as file:
        head = beginning(file)
        if picture := pictures.recognised(head):
            data = head + file.read(pictures.MOST_READ)
            output = _looked_at(picture, data, shown)
            # So that an edit is answered with what the file is, not with a request to read it.
            workspace.note(path, data)
            return output
        if len(head) > MAX_WHOLE:
            return ToolOutput(_large(file, head, wanted, shown, stop))
    document = decoded(head)
    if document is None:
        raise ToolError(_binary(head, len(head), shown))
    as_cells = path.suffix == notebooks.SUFFIX and not wanted.raw
    text = _cells(document, wanted, shown) if as_cells else _numbered(document, wanted)
    workspace.note(path, head)
    return ToolOutput(text)


def _looked_at(picture: pictures.Picture, data: bytes, shown: str) -> ToolOutput:
    if len(data) > pictures.MOST_READ:
        raise ToolError(
            f"{shown} is a {picture.kind} image of more than {size(pictures.MOST_READ)}, too large "
            "to be opened. Make a smaller copy with python or run_shell."
        )
    about, image = pictures.shown_to_model(picture, data, shown)
    return ToolOutput(about, images=(image,))


def _cells(document: Document, wanted: Wanted, shown: str) -> str:
    lines = notebooks.cells_text(document.text, shown).split("\n")
    page = _page(iter(lines), wanted, len(lines), numbered=False)
    return page.text_with("shown as cells; raw=true shows the file's own text")


def _numbered(document: Document, wanted: Wanted) -> str:
    lines = document.text.split("\n")
    # A line end at the very end begins no further line.
    if not lines[-1]:
        lines.pop()
    page = _page(iter(lines), wanted, len(lines))
    unended = not page.onward and document.text and not document.text.endswith("\n")
    return page.text_with(
        document.note,
        _odd_ends(document.text),
        "no line end after the last line" if unended else "",
    )


def _odd_ends(text: str) -> str:
    """What a model must know of line ends before it edits."""
    pairs = text.count("\r\n")
    if not pairs:
        return ""
    mixed = pairs < text.count("\n")
    return "some lines end with CRLF, others with LF" if mixed else "lines end with CRLF"


def _binary(head: bytes, count: int, shown: str) -> str:
    more = "more than " if count > MAX_WHOLE else ""
    return (
        f"{shown} is not text ({kind_of(head)}, {more}{size(min(count, MAX_WHOLE))}). "
        "Look into it with python or run_shell."
    )


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file, and how to go on; `onward` is empty where the file ends."""

    lines: list[str]
    onward: str = ""

    def text_with(self, *notes: str) -> str:
        """The page, then what is to be known of the file, then how to go on."""
        told = (f"[{note}]" for note in (*notes, self.onward) if note)
        return "\n".join((*self.lines, *told))


def _page(
    lines: Iterator[str], wanted: Wanted, total: int | None, *, numbered: bool = True
) -> Page:
    """One page.

    Args:
        lines: From the file's first line on.
        wanted: Which of them.
        total: How many there are; None: not known.
        numbered: Whether each line gets its number.
    """
    if total == 0:
        return Page(["(the file is empty)"])
    taken: list[str] = []
    room = MAX_BYTES
    ended = True
    for line in islice(lines, wanted.offset - 1, None):
        room -= len(line.encode("utf-8", "replace")) + 1
        if len(taken) == wanted.limit or (room < 0 and taken):
            ended = False
            break
        taken.append(line.removesuffix("\r") if room >= 0 else _cut_line(line))
    if not taken:
        known = f" It has {total} lines." if total is not None else ""
        raise ToolError(f"offset={wanted.offset} is after the end of the file.{known}")
    last = wanted.offset + len(taken) - 1
    count = f" of {total}" if total is not None else ""
    onward = f"lines {wanted.offset}-{last}{count}; go on with offset={last + 1}"
    shown = with_numbers(taken, wanted.offset) if numbered else taken
    return Page(shown, "" if ended else onward)


def _cut_line(line: str) -> str:
    more = "at least " if len(line) >= MAX_LINE else ""
    _, end = around_words(line, 0, SHOWN_OF_LONG)
    return (
        f"{line[:end]} [… this line has {more}{len(line):,} characters; only the first "
        f"{end:,} are shown. grep shows what is around a match; use run_shell or python "
        "for the rest]"
    )


def _large(file: BinaryIO, head: bytes, wanted: Wanted, shown: str, stop: Stop) -> str:
    """A page of a file that is too large to be loaded."""
    # A multi-byte character may be cut at the sample's end.
    sample = head[:MAX_WHOLE].rsplit(b"\n", 1)[0]
    document = decoded(sample)
    if document is None:
        raise ToolError(_binary(head, len(head), shown))
    if document.encoding.startswith(("utf-16", "utf-32")):
        raise ToolError(
            f"{shown} is {document.encoding} and larger than {size(MAX_WHOLE)}; "
            "convert it to UTF-8 first, for example with run_shell and iconv."
        )
    file.seek(len(document.mark))
    page = _page(_streamed(file, document.encoding, stop), wanted, None)
    return page.text_with(f"the file is larger than {size(MAX_WHOLE)}; edit cannot change it")


def _streamed(file: BinaryIO, encoding: str, stop: Stop) -> Iterator[str]:
    """The lines of a file, each cut at `MAX_LINE`, never holding more than one."""
    while line := file.readline(MAX_LINE):
        ended = line.endswith(b"\n")
        yield line.removesuffix(b"\n").decode(encoding, "replace")
        while not ended and (rest := file.readline(MAX_LINE)):
            ended = rest.endswith(b"\n")
            if stop():
                return
        if stop():
            return
