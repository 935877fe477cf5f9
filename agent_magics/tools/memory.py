"""The tools `memory_read`, `memory_write` and `memory_delete`: notes that outlive a conversation.

A note is a Markdown file that the person can read, edit and delete; off unless they switch it on.
What stands in a note came from a model once, so it is data; and since it can steer later work,
writing one is asked about in every mode.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.blocking import in_thread, told
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import replaced
from agent_magics.tools.new_content import refuse_redacted, sound
from agent_magics.tools.plain import printable
from agent_magics.tools.schemas import record, string
from agent_magics.tools.workspace import Workspace

MAX_NOTE = 8_000
"""Characters of one note: about 2,000 tokens, which every model can be given."""
MAX_NOTES = 100
MAX_LINE = 120
"""Characters of a note's first line in the list."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_NAME = 64

_NAME = string("The note: lower case letters, digits, single hyphens.")
_NOTHING = "There are no notes yet."


class Memory:
    """The notes in one folder.

    Args:
        folder: Where they lie; asked at each use, made at the first note.
        workspace: Remembers what the model has read of a note.
    """

    def __init__(self, folder: Callable[[], Path], workspace: Workspace) -> None:
        self._folder = folder
        self._workspace = workspace

    def names(self) -> tuple[str, ...]:
        """The names of all notes, sorted; none where the folder cannot be read."""
        try:
            with os.scandir(self._folder()) as entries:
                found = [e.name[:-3] for e in entries if e.name.endswith(".md") and _is_file(e)]
        except OSError:
            return ()
        return tuple(sorted(name for name in found if _fits(name)))

    def path(self, name: str) -> Path:
        """Where a note lies, or would lie.

        Raises:
            ToolError: It is no name of a note.
        """
        if not _fits(name):
            raise ToolError(
                f"{printable(name[:80])!r} cannot be a note's name: lower case letters, digits, "
                f"single hyphens, at most {MAX_NAME}."
            )
        return self._folder() / f"{name}.md"

    def text(self, name: str) -> str | None:
        """A note's text; None where there is none. A link is not followed."""
        data = self._bytes(self.path(name))
        return None if data is None else data.decode("utf-8", "replace")

    def read(self, name: str) -> str:
        """A note for the model, which has read it from now on."""
        path = self.path(name)
        data = self._bytes(path)
        if data is None:
            raise ToolError(f"There is no note {name!r}. {self._listed()}")
        self._workspace.note(path, data)
        return data.decode("utf-8", "replace")

    def overview(self) -> str:
        """The names with their first lines."""
        rows = []
        for name in self.names():
            line = (self.text(name) or "").strip().partition("\n")[0][:MAX_LINE]
            rows.append(f"- {name}: {printable(line)}")
        return "\n".join(rows) or _NOTHING

    def check(self, name: str, text: str) -> str | None:
        """What a note holds before it is written; raises where it may not be."""
        before = self.text(name)
        if not text.strip():
            raise ToolError("The note is empty; memory_delete removes one.")
        if len(text) > MAX_NOTE:
            raise ToolError(
                f"The note has {len(text):,} characters, and {MAX_NOTE:,} is the most: keep what "
                "matters later, or split it."
            )
        if before is None and len(self.names()) >= MAX_NOTES:
            raise ToolError(f"There are {MAX_NOTES} notes already; delete or join some first.")
        if before is not None and self._workspace.stale(self.path(name)):
            raise ToolError(
                f"The note {name!r} is there already, and you have not read it as it is now: "
                "memory_read it first, so that nothing in it is lost."
            )
        refuse_redacted(text, before or "", self._workspace.marks())
        return before

    def write(self, name: str, text: str) -> None:
        """Put a note there, whole or not at all."""
        before = self.check(name, text)
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = sound(text, "text").encode("utf-8")
        replaced(path, data, None if before is None else self._bytes(path))
        path.chmod(0o600)
        self._workspace.note(path, data)

    def delete(self, name: str) -> None:
        """Take a note away."""
        try:
            self.path(name).unlink()
        except FileNotFoundError as error:
            raise ToolError(f"There is no note {name!r}. {self._listed()}") from error

    def _listed(self) -> str:
        names = self.names()
        return f"There are: {', '.join(names)}." if names else _NOTHING

    def _bytes(self, path: Path) -> bytes | None:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(path, flags)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as file:
            # A note that a person made longer by hand is read to the end all the same.
            return file.read(64 * MAX_NOTE)


def memory_tools(memory: Memory) -> tuple[Tool, ...]:
    """The three tools around some notes."""
    return (_read_tool(memory), _write_tool(memory), _delete_tool(memory))


def _read_tool(memory: Memory) -> Tool:
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        name = arguments.get("name", "")
        work = (lambda _stop: memory.read(name)) if name else (lambda _stop: memory.overview())
        return ToolOutput(await in_thread(work))

    return Tool(
        "memory_read",
        "Read a note that was kept from earlier work, or list them all.\n"
        "A note can be out of date: it says what was believed then.",
        record((), name=string("The note; empty: the list.", "")),
        "read",
        run,
        operand=lambda arguments: str(arguments.get("name", "")),
    )


def _write_tool(memory: Memory) -> Tool:
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        name, text = arguments["name"], arguments["text"]
        await in_thread(lambda _stop: memory.write(name, text))
        return ToolOutput(f"The note {name} is kept.")

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        name, text = arguments["name"], arguments["text"]
        with told():
            before = memory.check(name, sound(text, "text"))
        return (Display("diff", unified_diff(before, text, f"{name}.md")),)

    return Tool(
        "memory_write",
        "Keep a note for later conversations, in place of the one of that name.\n"
        "For what will still be true and useful: how this project is built, what the person "
        "prefers. Never secrets.",
        record(("name", "text"), name=_NAME, text=string("The whole note, in Markdown.")),
        "write",
        run,
        operand=lambda arguments: str(arguments["name"]),
        preview=preview,
        outside=lambda _arguments: True,
        always=lambda _arguments: (),
    )


def _delete_tool(memory: Memory) -> Tool:
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        await in_thread(lambda _stop: memory.delete(arguments["name"]))
        return ToolOutput(f"The note {arguments['name']} is gone.")

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        text = memory.text(arguments["name"])
        if text is None:
            memory.read(arguments["name"])
        return (Display("diff", unified_diff(text, "", f"{arguments['name']}.md")),)

    return Tool(
        "memory_delete",
        "Delete a note.",
        record(("name",), name=_NAME),
        "write",
        run,
        operand=lambda arguments: str(arguments["name"]),
        preview=preview,
        outside=lambda _arguments: True,
        always=lambda _arguments: (),
    )


def _fits(name: str) -> bool:
    return len(name) <= MAX_NAME and NAME.fullmatch(name) is not None


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)
