"""What child processes and C code write to the process's own output, kept instead of shown.

They know nothing of `sys.stdout`. Owns the two descriptors while code runs; gives back text.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from collections.abc import Callable
from typing import IO

OUTPUTS = (1, 2)
"""The descriptors of standard output and standard error, by POSIX."""

PORTION = 1 << 20
"""Bytes that are read at a time."""


class Descriptors:
    """Standard output and standard error of this process, led into a file without a name."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._saved: dict[int, int] = {}
        self._read = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def start(self) -> None:
        """Keep what is written from now on; without effect where there is no such descriptor."""
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed in stop
        for descriptor in OUTPUTS:
            try:
                self._saved[descriptor] = os.dup(descriptor)
            except OSError:
                continue
            os.dup2(self._file.fileno(), descriptor)

    def stop(self, keep: Callable[[str], object]) -> None:
        """Put the descriptors back. Harmless twice.

        Args:
            keep: Takes what was written since the last `new`.
        """
        for descriptor, saved in list(self._saved.items()):
            os.dup2(saved, descriptor)
            del self._saved[descriptor]
            os.close(saved)
        if self._file is not None:
            for text in iter(self.new, ""):
                keep(text)
            self._file.close()
            self._file = None

    def new(self) -> str:
        """What was written since the last call, or a portion of it; empty when that is all."""
        if self._file is None:
            return ""
        number = self._file.fileno()
        while (size := min(os.fstat(number).st_size - self._read, PORTION)) > 0:
            portion = self._read_at(number, size)
            self._read += len(portion)
            if text := self._decoder.decode(portion):
                return text.replace("\r\n", "\n")
        return ""

    def _read_at(self, number: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(number, size, self._read)
        # Without pread the one offset serves writers and reader.
        end = os.lseek(number, 0, os.SEEK_CUR)
        os.lseek(number, self._read, os.SEEK_SET)
        portion = os.read(number, size)
        os.lseek(number, end, os.SEEK_SET)
        return portion
