"""A notebook file's text with the places of its cells, so that a change touches no other. Pure.

Owns where each cell stands in the JSON text and how the file writes JSON (indentation, escapes,
line ends). What is not changed keeps its bytes, whatever program wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.messages import JSON

_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Spot:
    """One cell and where it stands.

    Args:
        start: Of its JSON, in characters.
        end: Behind it.
        cell: Its value.
    """

    start: int
    end: int
    cell: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class NotebookText:
    """A notebook's JSON text.

    Args:
        text: The whole file.
        spots: Its cells, in order.
        inside: From behind the bracket that opens the list of cells to the one that closes it.
        rest: All but the cells, as values.
    """

    text: str
    spots: tuple[Spot, ...]
    inside: tuple[int, int]
    rest: dict[str, JSON]

    @property
    def version(self) -> tuple[int, int]:
        """The format's major and minor number; 0 where the file does not say."""
        numbers = (self.rest.get("nbformat"), self.rest.get("nbformat_minor"))
        major, minor = (n if isinstance(n, int) else 0 for n in numbers)
        return major, minor

    def with_cells(self, pieces: Sequence[Spot | dict[str, JSON]]) -> str:
        """The text with other cells.

        Args:
            pieces: In their new order: a spot of this text stays as it is written, a value is
                written like the rest of the file.
        """
        style = self._style()
        written = [
            self.text[p.start : p.end] if isinstance(p, Spot) else style.cell(p) for p in pieces
        ]
        begin, end = self.inside
        if not written:
            return f"{self.text[:begin]}{self.text[end:]}"
        if self.spots:
            first, last = self.spots[0].start, self.spots[-1].end
            before, behind = self.text[begin:first], self.text[last:end]
        else:
            before, behind = style.before, style.behind
        cells = f",{style.between}".join(written)
        return f"{self.text[:begin]}{before}{cells}{behind}{self.text[end:]}"

    def _style(self) -> _Style:
        newline = "\r\n" if "\r\n" in self.text else "\n"
        plain = self.text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", self.text) is not None
        if self.spots:
            before = self.text[self.inside[0] : self.spots[0].start]
            between = before
            if len(self.spots) > 1:
                gap = self.text[self.spots[0].end : self.spots[1].start]
                between = gap.partition(",")[2]
            base = before.rpartition("\n")[2] if "\n" in before else None
        else:
            match = re.search(r"\n([ \t]+)\"", self.text)
            base = match[1] * 2 if match else None
            between = f"{newline}{base}" if base is not None else ""
            before = between
        if base is None:
            tight = '": ' not in self.text
            return _Style(
                None, "", (",", ":") if tight else (", ", ": "), plain, newline, between, before, ""
            )
        unit = base[: len(base) // 2]
        return _Style(unit, base, (",", ": "), plain, newline, between, before, f"{newline}{unit}")


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file writes JSON: one level's indentation (None: all on one line), and the rest."""

    unit: str | None
    base: str
    separators: tuple[str, str]
    ascii: bool
    newline: str
    between: str
    before: str
    behind: str

    def cell(self, cell: dict[str, JSON]) -> str:
        text = json.dumps(
            cell, indent=self.unit, ensure_ascii=self.ascii, separators=self.separators
        )
        return text.replace("\n", f"{self.newline}{self.base}")


def notebook_text(text: str, name: str) -> NotebookText:
    """Find the cells in a notebook's text.

    Args:
        text: The file's JSON.
        name: For messages.

    Raises:
        ToolError: It is no notebook with a list of cells.
    """
    try:
        return _scanned(text)
    except (ValueError, IndexError, RecursionError) as error:
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise ToolError(
            f"{name} cannot be read as a notebook ({reason}). "
            "Read it with read and raw=true to see the file's own text."
        ) from error


def _scanned(text: str) -> NotebookText:
    """Walk the outermost object; `json` itself reads each value in it."""
    decoder = json.JSONDecoder()
    rest: dict[str, Any] = {}
    spots: list[Spot] | None = None
    inside = (0, 0)
    at = _expect(text, 0, "{")
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        if not isinstance(key, str):
            raise ValueError(f"no name at {at}")
        at = _expect(text, at, ":")
        if key == "cells":
            if spots is not None:
                raise ValueError("it has two lists of cells")
            spots, inside, at = _cells(text, at, decoder)
        else:
            rest[key], at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != "}":
            raise ValueError(f"no comma at {at}")
    if _skip(text, at + 1) != len(text):
        raise ValueError("there is text behind its end")
    if spots is None:
        raise ValueError("it has no cells; notebooks of formats before 4 must be converted first")
    return NotebookText(text, tuple(spots), inside, rest)


def _cells(
    text: str, at: int, decoder: json.JSONDecoder
) -> tuple[list[Spot], tuple[int, int], int]:
    begin = _expect(text, at, "[", skip=False)
    spots: list[Spot] = []
    at = _skip(text, begin)
    while text[at] != "]":
        cell, end = decoder.raw_decode(text, at)
        if not isinstance(cell, dict):
            raise ValueError(f"cell {len(spots) + 1} is no object")
        spots.append(Spot(at, end, cell))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != "]":
            raise ValueError(f"no comma at {at}")
    return spots, (begin, at), at + 1


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _expect(text: str, at: int, character: str, *, skip: bool = True) -> int:
    """The place behind a character, and behind the blanks that follow it."""
    at = _skip(text, at)
    if text[at : at + 1] != character:
        raise ValueError(f"no {character} at {at}")
    return _skip(text, at + 1) if skip else at + 1
