"""The folder that file tools work in: what lies in it, and what was read of it.

Owns the path guard (real paths, protected names) and the only mutable state of the built-in
tools: which contents the model has read, which diffs a person was shown, and a private folder
for long outputs. Knows no tool and no policy: it says what is outside, others decide about it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.tools.backup import Backup, NoBackup
from agent_magics.tools.plain import printable
from agent_magics.tools.protection import protected
from agent_magics.tools.redaction import Redactor
from agent_magics.tools.ripgrep import Ripgrep
from agent_magics.tools.sandbox import Sandbox

MAX_NAME = 255
"""Bytes in one part of a path: the limit of every common file system."""
MAX_PATH = 4096
"""Bytes in a path: PATH_MAX of Linux, the largest of the common ones."""
KEPT_PREVIEWS = 200
"""Diffs a person was shown and that were not run yet; older ones were surely refused."""


def _none() -> tuple[()]:
    return ()


class Workspace:
    """A folder and the memory of what was read of it.

    Args:
        root: The folder; asked at each use, since the user may change it (`%cd`).
        readable: Further folders that may be read without asking.
        secrets: Texts that no result may carry, each `NAME=value` or a bare value.
        backup: Keeps what stands at a path before a tool changes it. Every tool that changes
            files asks it first.
        sandbox: Where its shell commands run.
    """

    def __init__(
        self,
        root: Callable[[], Path],
        readable: Callable[[], Iterable[Path]] = _none,
        secrets: Callable[[], Iterable[str]] = _none,
        backup: Backup | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self._root = root
        self._readable = readable
        self._secrets = secrets
        self.sandbox = sandbox or Sandbox()
        self._read: dict[Path, str] = {}
        self.backup: Backup = backup or NoBackup()
        self._previews: dict[str, tuple[Path, str]] = {}
        self._warned: dict[str, bool] = {}
        self._redactor: tuple[tuple[str, ...], Redactor] = ((), Redactor())
        self._outputs: Path | None = None
        self._count = 0
        self._remembering = threading.Lock()
        self.ripgrep = Ripgrep()
        """Tried at most once."""
        self.changing = threading.Lock()
        """Held while a file is compared and replaced, so that two calls cannot interleave."""

    # -- paths ------------------------------------------------------------------------------

    def root(self) -> Path:
        """The folder by its real path; `ToolError` if it is gone."""
        try:
            real = Path(os.path.realpath(self._root()))
        except OSError as error:
            raise ToolError(f"The working folder cannot be used: {error.strerror}.") from error
        if not real.is_dir():
            raise ToolError(f"The working folder {printable(str(real))} does not exist any more.")
        return real

    def resolve(self, path: str) -> Path:
        """The real path that a model's path means, whether or not it exists.

        Links are followed as far as the path exists, and `..` is taken after them, as the
        operating system does.

        Args:
            path: Relative to the root, or absolute, or beginning with `~/`.

        Raises:
            ToolError: It is empty, too long, or holds what no file name can.
        """
        _check_name(path)
        return self._followed(path)

    def entry(self, path: str) -> Path:
        """The entry of a folder that a model's path names: a link there is meant itself.

        Raises:
            ToolError: As `resolve`.
        """
        _check_name(path)
        real = self._followed(path)
        given = Path(path)
        if given.name in ("", "..", "~"):
            return real
        return self._followed(str(given.parent)) / given.name

    def _followed(self, path: str) -> Path:
        given = Path(path)
        if given.parts[:1] == ("~",):
            try:
                given = given.expanduser()
            except RuntimeError as error:
                raise ToolError("There is no home folder; give the whole path.") from error
        return Path(os.path.realpath(self.root() / given))

    def outside(self, path: str, *, write: bool) -> bool:
        """Whether a call with this path needs a person's word.

        True outside the root (and, for reads, outside the readable folders), and for protected
        paths inside. A text that can never be a path is not outside: its call fails by itself.

        Args:
            path: As the model gave it.
            write: Whether the file would be changed.
        """
        try:
            _check_name(path)
        except ToolError:
            return False
        try:
            return bool(self.guarded(self._followed(path), write=write))
        except ToolError:
            # The disk says now that it cannot be used; it may say otherwise when the call runs.
            return True

    def guarded(self, real: Path, *, write: bool) -> str:
        """Why a real path needs a person's word, or the empty text."""
        root = self.root()
        if real.is_relative_to(root):
            return protected(real.relative_to(root).parts, write=write)
        if not write:
            for folder in (*self._readable(), *([self._outputs] if self._outputs else ())):
                base = Path(os.path.realpath(folder))
                if real.is_relative_to(base):
                    return protected(real.relative_to(base).parts, write=False)
        return f"it is outside {printable(str(root))}"

    def shown(self, path: Path | str) -> str:
        """A path as people and models read it: relative to the root where it is inside.

        Control characters in it are written as escapes, so that it stays one line. A text that
        can be no path is shown as it is.
        """
        try:
            real = self.resolve(path) if isinstance(path, str) else path
            root = self.root()
        except ToolError:
            return printable(str(path))
        return printable(
            real.relative_to(root).as_posix() if real.is_relative_to(root) else real.as_posix()
        )

    # -- what was read ----------------------------------------------------------------------

    def note(self, path: Path, content: bytes) -> None:
        """Remember that the model knows this content of a file (real path)."""
        with self._remembering:
            self._read[path] = _digest(content)

    def was_read(self, path: Path) -> bool:
        """Whether some content of the file was read in this session."""
        return path in self._read

    def stale(self, path: Path, content: bytes | None = None) -> bool:
        """Whether the file holds something else than what was last read of it.

        Compares contents: time stamps are too coarse, and formatters change them alone.

        Args:
            path: A real path.
            content: What it holds now, if that was just read.
        """
        if content is None:
            try:
                content = path.read_bytes() if path.is_file() else None
            except OSError:
                content = None
        return content is None or self._read.get(path) != _digest(content)

    def moved(self, source: Path, destination: Path) -> None:
        """What was read of a path, and of all below it, was read of its new place."""
        with self._remembering:
            known = [path for path in self._read if path.is_relative_to(source)]
            for path in known:
                self._read[destination / path.relative_to(source)] = self._read.pop(path)

    def unread(self, paths: Iterable[Path]) -> None:
        """Forget what was read of these paths, and of all below them."""
        with self._remembering:
            for gone in paths:
                for path in [path for path in self._read if path.is_relative_to(gone)]:
                    del self._read[path]

    def forget(self) -> None:
        """A new conversation: the model has read nothing yet."""
        with self._remembering:
            self._read.clear()
            self._previews.clear()
            self._warned.clear()

    def note_preview(
        self, call: str, path: Path, content: bytes | None, *, warned: bool = False
    ) -> None:
        """Remember the content that a diff was computed from, for one call not yet run.

        Args:
            call: Names the call with its arguments.
            path: A real path.
            content: What it held; None: nothing was there.
            warned: Whether the preview said that the change cannot be undone.
        """
        with self._remembering:
            self._previews.pop(call, None)
            self._previews[call] = (path, _digest(content))
            self._warned[call] = warned
            while len(self._previews) > KEPT_PREVIEWS:
                oldest = next(iter(self._previews))
                del self._previews[oldest]
                self._warned.pop(oldest, None)

    def outdated_preview(self, call: str, path: Path, content: bytes | None) -> bool:
        """Whether a person was shown a diff of this call that is no longer true.

        Asking forgets the diff: the next preview of the same call starts afresh.
        """
        with self._remembering:
            seen = self._previews.pop(call, None)
        return seen is not None and seen != (path, _digest(content))

    def warned(self, call: str) -> bool | None:
        """Whether a preview of this call said that it cannot be undone; None: there was none.

        Asking forgets it.
        """
        with self._remembering:
            return self._warned.pop(call, None)

    # -- secrets and long outputs -----------------------------------------------------------

    def redactor(self) -> Redactor:
        """What takes the secrets of this moment out of texts; cheap to ask for each result."""
        secrets = tuple(self._secrets())
        known, made = self._redactor
        if known != secrets:
            made = Redactor.of(secrets)
            self._redactor = (secrets, made)
        return made

    def redact(self, text: str) -> str:
        """The text without secrets: known values, and tokens of known forms."""
        return self.redactor()(text)

    def marks(self) -> frozenset[str]:
        """What stands in texts in the place of secrets."""
        return self.redactor().marks

    def new_output(self, stem: str) -> Path:
        """A path for a long output, in a private folder that `read` may read without asking.

        The folder goes away with this object, or with the process.
        """
        with self._remembering:
            self._count += 1
            return self._private() / f"{stem}-{self._count}.txt"

    def scratch(self) -> Path:
        """A folder for temporary files of confined commands; it goes away likewise."""
        with self._remembering:
            folder = self._private() / "tmp"
            folder.mkdir(exist_ok=True)
            return folder

    def _private(self) -> Path:
        if self._outputs is None or not self._outputs.is_dir():
            self._outputs = Path(os.path.realpath(tempfile.mkdtemp(prefix="agent_magics-")))
            weakref.finalize(self, shutil.rmtree, self._outputs, ignore_errors=True)
        return self._outputs


def _check_name(path: str) -> None:
    """Refuse what can never name a file; the file system's own errors are hard to read."""
    if not path.strip():
        raise ToolError("The path is empty; '.' is the working folder.")
    if "\0" in path:
        raise ToolError("The path holds a NUL character, which no file name can.")
    try:
        size = len(os.fsencode(path))
        longest = max(len(os.fsencode(part)) for part in path.replace("\\", "/").split("/"))
    except UnicodeEncodeError as error:
        raise ToolError(
            "The path holds a character that no file name can (half of a pair)."
        ) from error
    if size > MAX_PATH or longest > MAX_NAME:
        raise ToolError(
            f"The path is too long ({size} bytes; at most {MAX_PATH}, and {MAX_NAME} in a part)."
        )


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
