"""Shows a turn in a kernel's cell: blocks into output slots, at a bounded rate.

Owns when an output is sent. What it looks like is the transcript's business, how it travels the
publisher's.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from agent_magics.events import ApprovalAsked, Event
from agent_magics.frontends.blocks import Block, Transcript
from agent_magics.frontends.publisher import Bundle
from agent_magics.messages import JSON

INTERVAL = 0.1
"""Seconds between updates: people do not read faster, and a page re-renders each one."""

REST = 1.0
"""Seconds after which the rest of a stream that has stalled is shown."""

METADATA_KEY = "agent_magics"

log = logging.getLogger(__name__)


class Outputs(Protocol):
    """Where outputs go."""

    def show(self, bundle: Bundle, metadata: Bundle | None = None, *, slot: str = "") -> str:
        """Add one; gives the name of its slot."""

    def replace(self, slot: str, bundle: Bundle, metadata: Bundle | None = None) -> None:
        """Change one in place."""


class NotebookRenderer:
    """Feeds a transcript and publishes the blocks that changed.

    Args:
        outputs: The cell.
        quiet: Leave out what happens on the way to the answer.
        updates: Whether the front end can change an output that it has shown. If not, a block is
            shown once, when it is finished, in its place in the order.
        stable: Leave out times, which differ from run to run.
    """

    def __init__(
        self,
        outputs: Outputs,
        *,
        quiet: bool = False,
        updates: bool = True,
        stable: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outputs = outputs
        self._updates = updates
        self._clock = clock
        self._transcript = Transcript(quiet=quiet, stable=stable)
        self._pending: dict[str, Block] = {}
        self._slots: dict[str, str] = {}
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        # The cell ends on another thread than the agent's, possibly while that one still shows.
        self._lock = threading.RLock()
        self._closed = False

    def show(self, event: Event) -> None:
        """Show one event. Never raises: a broken display must not break a turn."""
        with self._lock:
            if self._closed:
                return
            try:
                self._take(self._transcript.feed(event))
                # A question is put beside these outputs, not through here.
                self._flush_or_wait(now=isinstance(event, ApprovalAsked))
            except Exception as error:  # noqa: BLE001  # whatever it is, the turn goes on
                self._failed(error)

    def close(self) -> None:
        """Show the last state of everything; nothing is shown afterwards."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._take(self._transcript.pending())
                self._flush(everything=True)
            except Exception as error:  # noqa: BLE001  # the cell's own end matters more
                self._failed(error)

    def _take(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._pending[block.key] = block

    def _flush_or_wait(self, *, now: bool = False) -> None:
        wait = self._next - self._clock()
        if now or wait <= 0:
            self._flush()
            wait = REST
        self._wake_in(wait)

    def _wake_in(self, seconds: float) -> None:
        """Look again later, for what is held back here and in the transcript."""
        due = self._clock() + seconds
        if self._timer is not None and self._due <= due:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # outside the agent's loop the next event, or the end, brings it
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = loop.call_later(seconds, self._late), due

    def _late(self) -> None:
        with self._lock:
            self._timer = None
            if self._closed:
                return
            try:
                self._take(self._transcript.pending())
                self._flush()
            except Exception as error:  # noqa: BLE001  # as in show
                self._failed(error)

    def _flush(self, *, everything: bool = False) -> None:
        """Send what waits; several outputs at once use up the time of several."""
        sent = 0
        for key, block in list(self._pending.items()):
            if block.live and not self._updates and not everything:
                break  # what follows would overtake it
            del self._pending[key]
            sent += self._publish(block)
        self._next = self._clock() + INTERVAL * max(sent, 1)

    def _publish(self, block: Block) -> bool:
        bundle = published(block)
        metadata = {METADATA_KEY: dict(block.metadata)}
        slot = self._slots.get(block.key)
        if slot is None:
            if not (block.bundle or block.html or block.text):
                return False
            self._slots[block.key] = self._outputs.show(bundle, metadata)
        elif self._updates:
            self._outputs.replace(slot, bundle, metadata)
        return True

    def _failed(self, error: Exception) -> None:
        log.warning("an output could not be shown: %s: %s", type(error).__name__, error)


def published(block: Block) -> dict[str, JSON]:
    """A block as a MIME bundle."""
    if block.bundle is not None:
        return {"text/plain": block.text, **block.bundle}
    return {"text/html": block.html, "text/plain": block.text}
