"""Files as text that can be written back byte for byte.

Owns encodings, byte order marks, what counts as binary, safe opening (no FIFO, no device, no
/proc) and the atomic replacement of a file. Knows nothing of workspaces and permissions.
"""

from __future__ import annotations

import codecs
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from agent_magics.errors import ToolError
from agent_magics.tools.plain import size

MAX_WHOLE = 10_000_000
"""Bytes of a file that is loaded whole, as editing needs; larger ones are only paged."""
SNIFFED = 8192
"""Bytes at a file's head in which a NUL means binary; git and grep look at as many."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC: tuple[tuple[bytes, str], ...] = (
    *((b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image")),
    *((b"%PDF", "a PDF"), (b"PK\x03\x04", "a zip archive or an office file")),
    *((b"\x1f\x8b", "gzip data"), (b"PAR1", "a Parquet file"), (b"SQLite format 3", "SQLite")),
    *((b"\x89HDF", "an HDF5 file"), (b"\x93NUMPY", "a NumPy array"), (b"\x7fELF", "a program")),
)
_KERNEL_FOLDERS = ("/proc/", "/sys/")


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file, and what is needed to write it back.

    Args:
        text: Line ends as they are in the file, without a byte order mark.
        encoding: A Python codec's name.
        mark: The byte order mark.
        errors: The codec's error mode, for both ways.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    errors: Literal["strict", "surrogateescape"] = "strict"

    def encoded(self, text: str) -> bytes:
        """Another text as this file would hold it.

        Raises:
            ToolError: The file's encoding has no such character.
        """
        try:
            return self.mark + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            odd = text[error.start : error.start + 1]
            raise ToolError(
                f"The file is {self.encoding}, which has no {odd!r} (U+{ord(odd):04X}). "
                "Use other characters, or convert the file to UTF-8 first."
            ) from error

    @property
    def newline(self) -> str:
        """The line end that most lines have: CRLF or LF, as characters."""
        pairs = self.text.count("\r\n")
        return "\r\n" if pairs > self.text.count("\n") - pairs else "\n"

    @property
    def note(self) -> str:
        """What the model should know of the encoding; empty for plain UTF-8."""
        if self.errors == "surrogateescape":
            return "not valid UTF-8 everywhere: bytes that cannot be decoded are shown as \ufffd"
        if self.encoding == "utf-8":
            return ""
        guess = "" if self.mark else "not UTF-8, read as "
        return f"{guess}{self.encoding}; it is written back the same way"


def decoded(data: bytes) -> Document | None:
    """The text of a file's bytes, or None for binary data.

    Never loses a byte: `decoded(data).encoded(decoded(data).text) == data`.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            with suppress(UnicodeDecodeError):
                document = Document(data[len(mark) :].decode(encoding), encoding, mark)
                if document.encoded(document.text) == data:
                    return document
    if b"\0" in data[:SNIFFED]:
        return None
    with suppress(UnicodeDecodeError):
        return Document(data.decode("utf-8"))
    return _legacy(data)


def _legacy(data: bytes) -> Document:
    """Text that is no clean UTF-8: UTF-8 with some broken bytes, or a one-byte encoding."""
    text = data.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= character <= "\udcff" for character in text)
    good = sum(character > "\x7f" for character in text) - broken
    if good >= broken:
        return Document(text, errors="surrogateescape")
    with suppress(UnicodeDecodeError):
        return Document(data.decode("cp1252"), "cp1252")
    return Document(data.decode("latin-1"), "latin-1")


def opened(path: Path, shown: str) -> BinaryIO:
    """An ordinary file, open for reading.

    Args:
        path: A real path.
        shown: Its name for messages.

    Raises:
        ToolError: It is something else than an ordinary file.
        OSError: It cannot be opened.
    """
    if str(path).startswith(_KERNEL_FOLDERS):
        raise ToolError(f"{shown} is not an ordinary file, and is not read.")
    _refuse_special(path.stat().st_mode, shown)
    # Not blocking, should a FIFO have taken the file's place since the look at it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        _refuse_special(os.fstat(handle).st_mode, shown)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def content(path: str) -> bytes:
    """What `beginning` gives, of a file by its real path; for going through many files.

    Raises:
        ToolError: It is something else than an ordinary file.
        OSError: It cannot be read.
    """
    if path.startswith(_KERNEL_FOLDERS):
        raise ToolError(f"{path} is not an ordinary file, and is not read.")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        _refuse_special(status.st_mode, path)
        data = os.read(handle, min(status.st_size, MAX_WHOLE) + 1)
        while len(data) <= MAX_WHOLE and (more := os.read(handle, MAX_WHOLE + 1 - len(data))):
            data += more
        return data
    finally:
        os.close(handle)


def beginning(file: BinaryIO) -> bytes:
    """A file's content, or one byte more than `MAX_WHOLE` of it if it is larger."""
    # Not more than there is: reading room for ten megabytes costs more than most files.
    count = os.fstat(file.fileno()).st_size
    data = file.read(min(count, MAX_WHOLE) + 1)
    if len(data) > count:
        data += file.read(MAX_WHOLE + 1 - len(data))
    return data


def _refuse_special(mode: int, shown: str) -> None:
    if stat.S_ISDIR(mode):
        raise ToolError(f"{shown} is a folder; ls lists it.")
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISFIFO, "FIFO"), (stat.S_ISSOCK, "socket"))
        kind = next((name for test, name in kinds if test(mode)), "device")
        raise ToolError(f"{shown} is a {kind}, not an ordinary file.")


def loaded(path: Path, shown: str) -> bytes:
    """The whole content of an ordinary file of at most `MAX_WHOLE` bytes.

    Raises:
        ToolError: It is no ordinary file, or larger.
        OSError: It cannot be read.
    """
    with opened(path, shown) as file:
        data = beginning(file)
    if len(data) > MAX_WHOLE:
        raise ToolError(
            f"{shown} is larger than {size(MAX_WHOLE)}; use run_shell (sed, awk) or python for it."
        )
    return data


def kind_of(data: bytes) -> str:
    """What binary data is, as far as its first bytes say: `a PNG image`."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "binary data")


def replaced(path: Path, data: bytes, expected: bytes | None) -> None:
    """Exchange a file's content, whole or not at all; its mode and owner stay.

    Args:
        path: A real path; a link itself would be replaced.
        data: The new content.
        expected: What the file must hold at that moment; None: there must be no file.

    Raises:
        ToolError: The file holds something else, or may not be written.
        OSError: The disk refuses; the old content is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    before = _status(path)
    _refuse_changed(path, before, expected)
    spare = path.parent / f".agent_magics-{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # A replaced file's mode comes before its content may be read; ours alone until then.
    handle = os.open(spare, flags, 0o666 if before is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _take_over(spare, path, before)
            _refuse_changed(path, _status(path), expected)
            spare.replace(path)
        else:
            _put_new(spare, path)
    finally:
        spare.unlink(missing_ok=True)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def refuse_unwritable(path: Path, shown: str) -> None:
    """Find out before anyone is asked that a file cannot be put there.

    Raises:
        ToolError: The file is write-protected, or its folder cannot take a file.
    """
    status = _status(path)
    if status is not None and not status.st_mode & 0o222:
        # Replacing it would work; whoever protected it did not want that.
        raise ToolError(f"{shown} is write-protected (mode {stat.filemode(status.st_mode)}).")
    folder = next(above for above in path.parents if _status(above) is not None)
    if not folder.is_dir():
        raise ToolError(f"{shown} cannot be: {folder.name} is a file, not a folder.")
    by_effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=by_effective):
        raise ToolError(f"{shown} cannot be written: nothing may be put into {folder}.")


def _refuse_changed(path: Path, status: os.stat_result | None, expected: bytes | None) -> None:
    now = None if status is None else loaded(path, path.name)
    if now != expected:
        raise ToolError(
            f"{path.name} changed on disk meanwhile; nothing was written. Read it again."
        )


def _take_over(spare: Path, path: Path, before: os.stat_result) -> None:
    """Give the new file the old one's owner, mode, and attributes such as access lists."""
    status = spare.stat()
    if (status.st_uid, status.st_gid) != (before.st_uid, before.st_gid):
        # Possible for root alone, and for groups one is in; else it is ours from now on.
        with suppress(OSError):
            os.chown(spare, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):
        # Some are for root alone, and some file systems have none.
        with suppress(OSError):
            for name in os.listxattr(path):
                with suppress(OSError):
                    os.setxattr(spare, name, os.getxattr(path, name))
    spare.chmod(stat.S_IMODE(before.st_mode))


def _put_new(spare: Path, path: Path) -> None:
    """Put a file where none is, without overwriting one that comes at the same moment."""
    try:
        os.link(spare, path)
    except FileExistsError as error:
        raise ToolError(f"{path.name} came into being meanwhile; nothing was written.") from error
    except OSError:
        # No hard links on this file system; the window between look and move is tiny.
        if path.exists():
            raise ToolError(
                f"{path.name} came into being meanwhile; nothing was written."
            ) from None
        spare.replace(path)
