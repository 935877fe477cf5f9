"""How far a long work is, in one line: in the cell that it runs in, or on a terminal.

Owns how often the line changes, and that what stays in a saved notebook is plain and the same
from run to run.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from agent_magics.frontends import theme
from agent_magics.frontends.publisher import Bundle, CellOutput
from agent_magics.frontends.showing import has_updates, live_kernel
from agent_magics.plain import visible

INTERVAL = 0.25
"""Seconds between changes of the line."""
WIDTH = 20
"""Characters of the bar."""

log = logging.getLogger(__name__)


class Place(Protocol):
    """Where the line stands."""

    def put(self, text: str) -> None:
        """Put it there, in place of the one before."""

    def end(self, text: str) -> None:
        """Put the last one there."""


@dataclass(slots=True)
class ProgressLine:
    """Shows progress at a bounded rate; the last state always.

    Args:
        place: Where; None: nowhere.
        clock: Seconds.
    """

    place: Place | None
    clock: Callable[[], float] = time.monotonic
    _next: float = 0.0
    _last: str = ""
    _closed: bool = False

    def show(self, finished: int, total: int | None, words: str) -> None:
        """Show how far it is.

        Args:
            finished: Items that are finished.
            total: How many there are; None: not known.
            words: What else is to be said.
        """
        self._last = visible(_line(finished, total, words))
        now = self.clock()
        if self.place is not None and now >= self._next:
            self._next = now + INTERVAL
            self._quietly(self.place.put, self._last)

    def close(self, words: str = "") -> None:
        """Leave the last state, or these words; for the first time only."""
        text = visible(words) or self._last
        closed, self._closed = self._closed, True
        if self.place is not None and text and not closed:
            self._quietly(self.place.end, text)

    def _quietly(self, put: Callable[[str], None], text: str) -> None:
        try:
            put(text)
        except Exception as error:  # noqa: BLE001  # a broken display must not break the work
            log.warning("progress could not be shown: %s: %s", type(error).__name__, error)


@dataclass(slots=True)
class InCell:
    """The line in a notebook's output; where outputs cannot change, the last one only."""

    output: CellOutput
    updates: bool
    _slot: str = ""

    def put(self, text: str) -> None:
        """Change the output."""
        if self._slot:
            self.output.replace(self._slot, _bundle(text))
        elif self.updates:
            self._slot = self.output.show(_bundle(text))

    def end(self, text: str) -> None:
        """As `put`."""
        if self._slot:
            self.output.replace(self._slot, _bundle(text))
        else:
            self.output.show(_bundle(text))


@dataclass(slots=True)
class OnTerminal:
    """The line on a terminal, written over itself."""

    stream: TextIO
    _width: int = field(default=0)

    def put(self, text: str) -> None:
        """Write it over the one before."""
        self.stream.write("\r" + text.ljust(self._width))
        self.stream.flush()
        self._width = len(text)

    def end(self, text: str) -> None:
        """Write it, and end the line."""
        self.put(text)
        self.stream.write("\n")
        self.stream.flush()


@contextmanager
def progress_here(wanted: bool) -> Iterator[ProgressLine]:
    """Where the program runs: in its cell, on its terminal, or nowhere where nobody looks."""
    line = ProgressLine(_place() if wanted else None)
    try:
        yield line
    finally:
        line.close()


def _place() -> Place | None:
    kernel = live_kernel()
    if kernel is not None:
        output = CellOutput(kernel)
        return InCell(output, has_updates(output))
    return OnTerminal(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None


def _line(finished: int, total: int | None, words: str) -> str:
    if total is None:
        return f"{finished} · {words}" if finished and words else words
    full = WIDTH * finished // total if total else WIDTH
    return f"{'█' * full}{'░' * (WIDTH - full)} {finished}/{total}" + (
        f" · {words}" if words else ""
    )


def _bundle(text: str) -> Bundle:
    return {"text/plain": text, "text/html": theme.line(theme.text_html(text))}
