"""The project's own instructions: its AGENTS.md files, framed for the system prompt.

From the repository's root down to the working folder, so that the nearest stands last. The texts
are a stranger's where the repository is: framed, bounded, and unable to leave their frame.
"""

from __future__ import annotations

import html
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from agent_magics.library.repository import project_folders

FILE = "AGENTS.md"
MAX_BYTES = 32_768
"""Bytes of all files together, the figure that other agents use for them too."""

_TAG = "project_instructions"
_TAG_START = re.compile(rf"<(?=\s*/?\s*{_TAG})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _File:
    """One file's text, as far as it was read; `size` is that of the whole in bytes."""

    name: str
    text: str
    size: int


def project_instructions(cwd: Path) -> str:
    """The text of the project's AGENTS.md files; empty where there are none.

    When they are longer than 32 KiB together, the nearest goes in first and the others are cut at
    a line, which is said.

    Args:
        cwd: The working folder. Without a repository around it, only its own file counts.
    """
    folders = project_folders(cwd)
    root = folders[-1]
    left = MAX_BYTES
    framed: list[str] = []
    for folder in folders:
        file = _read(folder / FILE, root)
        if file is None:
            continue
        text = _cut(file, left)
        left -= len(text.encode("utf-8"))
        framed.append(_framed(file, text))
    return "\n\n".join(reversed(framed))


def _read(path: Path, root: Path) -> _File | None:
    """A file's text; None when it is missing, unreadable, empty, or a link out of the project."""
    try:
        real = path.resolve()
        status = real.stat()
        if not stat.S_ISREG(status.st_mode) or not real.is_relative_to(root.resolve()):
            return None
        with real.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13
        return None
    # A cut in the middle of a character is no fault of the file's.
    text = data.decode("utf-8-sig", "ignore" if len(data) > MAX_BYTES else "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").strip()
    if not text:
        return None
    return _File(path.relative_to(root).as_posix(), text, status.st_size)


def _cut(file: _File, left: int) -> str:
    """As many whole lines as fit into the bytes that are left."""
    data = file.text.encode("utf-8")
    if len(data) <= left:
        return file.text
    head = data[: max(left, 0)]
    return head[: head.rfind(b"\n") + 1].decode("utf-8").rstrip()


def _framed(file: _File, text: str) -> str:
    body = _TAG_START.sub("&lt;", text)
    if text != file.text:
        shown = len(text.encode("utf-8"))
        note = f"[cut here: {shown:,} of {file.size:,} bytes; {file.name} has the rest]"
        body = f"{body}\n{note}" if body else note
    path = html.escape(file.name, quote=True)
    return f'<{_TAG} path="{path}">\n{body}\n</{_TAG}>'
