"""Shows a turn and asks in a terminal: text as it comes, blocks when they are finished.

Owns what is printed when, and that no text from a model or a tool steers the terminal.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from dataclasses import dataclass, field
from typing import TextIO

from agent_magics.events import (
    AnswerRestarted,
    CallStarted,
    Event,
    MessageAdded,
    Question,
    TextDelta,
)
from agent_magics.frontends.ansi import OURS, clean_terminal, render_question, render_terminal
from agent_magics.frontends.blocks import Block, Transcript
from agent_magics.frontends.headless import Nobody
from agent_magics.frontends.kernel import OnMain
from agent_magics.frontends.letters import own_words, written
from agent_magics.frontends.prompt import answered_within, ask_typed
from agent_magics.frontends.routes import Route, StageSettings
from agent_magics.messages import Assistant
from agent_magics.policy import Answer

log = logging.getLogger(__name__)


class TerminalRenderer:
    """Prints a turn.

    Args:
        stream: Where to; kept, since `sys.stdout` is another one while the user's code runs.
        quiet: Leave out what happens on the way to the answer.
        colour: Whether to colour what is ours.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False, colour: bool = False) -> None:
        self._stream = stream
        self._colour = colour
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._transcript = Transcript(quiet=quiet)
        self._streamed = ""
        self._at_start = True
        self._shown: set[str] = set()
        self._lock = threading.RLock()
        self._closed = False

    def show(self, event: Event) -> None:
        """Show one event. Never raises: a broken terminal must not break a turn."""
        with self._lock:
            if self._closed:
                return
            try:
                self._show(event)
            except Exception as error:  # noqa: BLE001  # whatever it is, the turn goes on
                log.warning("an output could not be shown: %s: %s", type(error).__name__, error)

    def ask(self, question: Question) -> None:
        """Show a question, whole."""
        self._lines(render_question(question, colour=self._colour, width=_width()))

    def say(self, text: str) -> None:
        """Print a line of our own words."""
        self._lines(OURS + text)

    def fitted(self, text: str) -> str:
        """Words of ours as the terminal can write them."""
        return written(text, self._encoding)

    def _lines(self, text: str) -> None:
        with self._lock:
            if text:
                self._print(("" if self._at_start else "\n") + text + "\n")

    def close(self) -> None:
        """End the last line; nothing is shown afterwards."""
        with self._lock:
            if not self._closed and not self._at_start:
                self._print("\n")
            self._closed = True

    def _show(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._stream_text(event.text)
        elif isinstance(event, AnswerRestarted):
            self._streamed = ""
            self._print("" if self._at_start else "\n")
        for block in self._transcript.feed(event):
            self._show_block(block, started=isinstance(event, CallStarted))
        if isinstance(event, MessageAdded) and isinstance(event.message, Assistant):
            # A server that does not stream, or changed its mind at the end.
            if event.message.text.strip() != self._streamed.strip():
                self._lines(own_words(clean_terminal(event.message.text), self._encoding))
            self._streamed = ""

    def _stream_text(self, text: str) -> None:
        # A joiner belongs to the character before it, which may have come with the last delta.
        before = self._streamed[-1:]
        self._streamed += text
        new = clean_terminal(before + text)[len(clean_terminal(before)) :]
        self._print(own_words(new, self._encoding))

    def _show_block(self, block: Block, *, started: bool) -> None:
        if block.metadata.get("kind") == "answer":
            return  # printed as it came
        text = render_terminal(block, colour=self._colour, width=_width())
        if not block.live:
            self._lines(text)
        elif started and block.key not in self._shown:
            # A call may take long: say that it runs. Its block comes when it is done.
            self._shown.add(block.key)
            self._lines(text.partition("\n")[0])

    def _print(self, text: str) -> None:
        if text:
            self._stream.write(self.fitted(text))
            self._stream.flush()
            self._at_start = text.endswith("\n")


@dataclass(eq=False, slots=True)
class TerminalApprover:
    """Asks at the terminal, one question at a time.

    Args:
        route: Who can answer.
        settings: Of this run.
        on_main: Runs a function on the main thread.
        renderer: Prints between what the turn shows.
    """

    route: Route
    settings: StageSettings
    on_main: OnMain
    renderer: TerminalRenderer
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, question: Question) -> Answer:
        """The person's answer. Never raises but `CancelledError`; nobody there means refused."""
        if self.route.kind == "nobody":
            return Nobody(self.route.detail).refusal(question)
        async with self._turn:
            self.renderer.ask(question)
            typed = ask_typed(question, self._read, self.renderer.say)
            return await answered_within(self.settings.approval_timeout, typed)

    def abandon(self) -> None:
        """Nothing stays open in a terminal."""

    async def _read(self, prompt: str) -> str:
        words = self.renderer.fitted(OURS + prompt)
        return await self.on_main(lambda: input(words))


def _width() -> int:
    return shutil.get_terminal_size().columns
