"""A streamed answer in pieces, so that only the last piece is ever sent again.

Owns where an answer is cut and when a piece is worth an update. Sending the whole answer at every
update costs bytes in the square of its length; pieces of some 2 kB keep it linear. What is shown
of a text does not depend on how it was streamed, but for where it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, gone, metadata
from agent_magics.frontends.markdown import to_html
from agent_magics.frontends.summary import safe_line
from agent_magics.plain import visible

SOFT, HARD = 2_000, 8_000
"""Characters after which a piece ends at the next blank line outside a fence, and after which it
ends at any line."""
STEP = 400
"""Characters that a piece must have grown by before it is sent again; fewer while it is short."""
FIRST = 64
"""Characters with which a piece begins, but for the answer's first one."""
PART = 4_000
"""Characters of a delta that are looked at in one go."""

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+")
_TABLE_HEAD = 500
"""Characters of a table's head that are repeated where a long table is cut."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A place to end a piece.

    Args:
        at: Where the next piece begins, in characters.
        after: What closes the piece (a fence).
        before: What opens the next one (the fence, a table's head).
    """

    at: int
    after: str = ""
    before: str = ""


def next_cut(text: str) -> Cut | None:
    """Where a piece ends, or None while it may grow.

    Args:
        text: From the piece's beginning on.
    """
    if len(text) < SOFT:
        return None
    fence, head, previous, start = "", "", "", 0
    hard: Cut | None = None
    while (end := text.find("\n", start)) >= 0:
        row = text[start:end]
        if found := _FENCE.fullmatch(row):
            ticks, info = found.groups()
            if not fence:
                fence, language = ticks, info.strip()[:30]
            elif ticks.startswith(fence) and not info.strip():
                fence = ""
        elif not fence:
            head = _table_head(row, previous, head)
        start, previous = end + 1, row
        if start < SOFT:
            continue
        if not fence and not row.strip() and text[start : start + 1].strip():
            return Cut(start)
        if start <= HARD:
            hard = Cut(start, fence, f"{fence}{language}\n") if fence else Cut(start, "", head)
    if len(text) <= HARD:
        return None
    return hard or Cut(max(text.rfind(" ", SOFT, HARD) + 1, SOFT))


def _table_head(row: str, previous: str, head: str) -> str:
    if "|" in previous and _DELIMITER.fullmatch(row):
        both = f"{previous}\n{row}\n"
        return both if len(both) <= _TABLE_HEAD else ""
    return head if row.strip() else ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer that is one block.

    Args:
        key: The block's place.
        raw: The stretch itself.
        before: Markdown that opens what the piece before left open.
        after: Markdown that closes what it leaves open.
        first: Whether the answer begins with it.
    """

    key: str
    raw: str
    before: str = ""
    after: str = ""
    first: bool = False

    @property
    def shown(self) -> str:
        """The piece's Markdown."""
        return self.before + self.raw + self.after

    def block(self, *, live: bool, void: bool = False) -> Block:
        """The piece as it is seen.

        Args:
            live: Whether it can still change.
            void: Whether the connection broke, so that it is about to be replaced.
        """
        html = theme.lead(to_html(self.shown)) if self.first else to_html(self.shown)
        if void:
            html = f'<div style="opacity:.45" aria-label="void">{html}</div>'
        return Block(self.key, html, visible(self.shown.strip("\n")), metadata("answer"), live)


@dataclass(slots=True)
class Answer:
    """One answer while it arrives.

    Args:
        new_key: Gives the place of the next block.
    """

    new_key: Callable[[], str]
    pieces: list[Piece] = field(default_factory=list)
    open: Piece | None = None
    sent: int = 0

    def add(self, text: str) -> list[Block]:
        """Take a piece of the stream; gives what is worth showing now."""
        blocks = self._taken(text)
        if self.open and len(self.open.raw) - self.sent >= self._step():
            blocks += self.pending()
        return blocks

    def pending(self) -> list[Block]:
        """What arrived since it was last shown."""
        if self.open is None or len(self.open.raw) == self.sent or not self.open.raw.strip():
            return []
        self.open = self._placed(self.open)
        self.sent = len(self.open.raw)
        return [self.open.block(live=True)]

    def finished(self, text: str | None = None) -> list[Block]:
        """Close the answer.

        Args:
            text: The answer as the provider has it, which counts; None: what was streamed.
        """
        if text is not None and text != self._raw():
            return self._replaced(text)
        blocks = self._closed(self.open) if self.open else []
        self.open, self.sent = None, 0
        return blocks

    def voided(self) -> list[Block]:
        """Grey out what was streamed; `dropped` takes it away later."""
        self.pieces = self._seen()
        self.open, self.sent = None, 0
        return [piece.block(live=True, void=True) for piece in self.pieces]

    def dropped(self, reason: str) -> list[Block]:
        """Leave one line of what was streamed in vain."""
        words = f"↻ An unfinished answer was dropped: {safe_line(reason, 160)}."
        line = theme.muted_line(theme.text_html(words))
        places = [piece.key for piece in self._seen()]
        lines = [Block(key, line, words, metadata("retry")) for key in places[:1]]
        return lines + [gone(key) for key in places[1:]]

    def _step(self) -> int:
        """The first words come at once; later on, a piece may wait for some more."""
        return min(STEP, max(self.sent // 2, FIRST if self.pieces else 1))

    def _raw(self) -> str:
        return "".join(piece.raw for piece in self.pieces) + (self.open.raw if self.open else "")

    def _seen(self) -> list[Piece]:
        """The pieces that have a place."""
        pieces = [*self.pieces, self.open] if self.open else self.pieces
        return [piece for piece in pieces if piece.key]

    def _taken(self, text: str) -> list[Block]:
        """Add a text and close the pieces that are full."""
        blocks: list[Block] = []
        piece = self.open or Piece("", "", first=True)
        for start in range(0, len(text), PART):
            piece = replace(piece, raw=piece.raw + text[start : start + PART])
            while cut := next_cut(piece.before + piece.raw):
                at = cut.at - len(piece.before)
                rest = piece.raw[at:]
                blocks += self._closed(replace(piece, raw=piece.raw[:at], after=cut.after))
                piece, self.sent = Piece("", rest, cut.before), 0
        self.open = piece
        return blocks

    def _closed(self, piece: Piece) -> list[Block]:
        """Blank pieces are no block, but they are a part of the text."""
        placed = self._placed(piece) if piece.raw.strip() else piece
        self.pieces.append(placed)
        return [placed.block(live=False)] if placed.key else []

    def _placed(self, piece: Piece) -> Piece:
        return piece if piece.key else replace(piece, key=self.new_key())

    def _replaced(self, text: str) -> list[Block]:
        """Show another text in the places of what was streamed; what did not change is not sent."""
        keys = iter([piece.key for piece in self._seen()])
        again = Answer(lambda: next(keys, "") or self.new_key())
        blocks = [*again._taken(text), *again.finished()]
        final = {piece.key: piece.shown for piece in self.pieces}
        self.pieces, self.open, self.sent = again.pieces, None, 0
        same = {piece.key for piece in self.pieces if final.get(piece.key) == piece.shown}
        return [b for b in blocks if b.key not in same] + [gone(key) for key in keys]
