"""Server-sent events from bytes that were cut anywhere. Pure.

Owns the line discipline: LF, CRLF and CR, comments, fields, several `data:` lines of one event,
a missing blank line between events, a missing end of the last line, and JSON lines that a server
wrote into the stream without `data:`. Knows nothing of what the JSON says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import jiter

from agent_magics.messages import JSON

LONGEST = 64 * 1024 * 1024
"""Bytes of one line or event; a stream with more of it is broken or hostile."""


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Unreadable(ValueError):
    """The stream holds data that is no event; what was lost cannot be known."""


class EventReader:
    """Takes bytes as they come and gives the JSON objects that are whole.

    `done` is true once the server said `[DONE]`; what follows is not read.
    """

    __slots__ = ("_data", "_event", "_rest", "_size", "done")

    def __init__(self) -> None:
        self.done = False
        self._rest: list[bytes] = []  # the pieces of a line that is not whole yet
        self._data: list[bytes] = []  # the lines of an event that is not whole yet
        self._size = self._event = 0

    def feed(self, piece: bytes) -> list[Mapping[str, JSON]]:
        """The objects that became whole with this piece.

        Raises:
            Unreadable: An event is no JSON, or too long.
        """
        if not (self._rest or self._data or self.done) and _is_one_event(piece):
            try:
                value = _decoded(piece[6:-2])
            except ValueError:
                pass  # it is not as simple as it looks
            else:
                return [value] if isinstance(value, dict) else []
        if self._rest:
            self._rest.append(piece)
            if b"\n" not in piece and b"\r" not in piece:
                self._size += len(piece)
                if self._size > LONGEST:
                    raise Unreadable(f"a line of the stream is longer than {LONGEST} bytes")
                return []
            piece = b"".join(self._rest)
            self._size = 0
        if b"\r" in piece:
            piece = _with_line_feeds(piece)
        *lines, rest = piece.split(b"\n")
        self._rest = [rest] if rest else []
        found: list[Mapping[str, JSON]] = []
        for line in lines:
            if self.done:
                break
            self._take(line, found)
        return found

    def end(self) -> list[Mapping[str, JSON]]:
        """The objects of what is left when the stream has ended."""
        return self.feed(b"\n\n")

    def _take(self, line: bytes, found: list[Mapping[str, JSON]]) -> None:
        if line.startswith(b"data:"):
            self._take_data(line[5:].strip(), found)
        elif not line.strip():
            if self._data:
                self._take_event(found)
        elif line.startswith(_BYTE_ORDER_MARK):
            self._take(line[3:], found)
        elif line.lstrip().startswith(b"data:"):
            self._take(line.lstrip(), found)
        elif line[:1] in (b"{", b"[") or (self._data and not _is_field(line)):
            self._take_data(line.strip(), found)  # JSON without `data:`, over one line or more

    def _take_data(self, data: bytes, found: list[Mapping[str, JSON]]) -> None:
        if not self._data:
            if data == b"[DONE]":
                self.done = True
            if self.done or not data.startswith((b"{", b"[{")):
                return  # an empty line, "ping" and the like
            if data[-1:] == b"}":
                try:
                    self._keep(_decoded(data), found)
                except ValueError:
                    pass  # the object goes on in the next line
                else:
                    return
        elif data == b"[DONE]" or (data[:1] == b"{" and data[-1:] == b"}" and self._opens(data)):
            self._take_event(found)
            self._take_data(data, found)
            return
        self._data.append(data)
        self._event += len(data)
        if self._event > LONGEST:
            raise Unreadable(f"an event of the stream is longer than {LONGEST} bytes")

    def _opens(self, data: bytes) -> bool:
        """Whether this line is an event of its own, after one that was left unfinished."""
        try:
            return "choices" in _decoded(data)
        except ValueError:
            return False

    def _take_event(self, found: list[Mapping[str, JSON]]) -> None:
        data = b"\n".join(self._data)
        self._data.clear()
        self._event = 0
        try:
            self._keep(_decoded(data), found)
        except ValueError:
            raise Unreadable("an event of the stream is no JSON") from None

    def _keep(self, value: JSON, found: list[Mapping[str, JSON]]) -> None:
        if isinstance(value, list):  # some servers wrap an error in a list
            value = value[0] if value else None
        if isinstance(value, dict):
            found.append(value)


def _is_one_event(piece: bytes) -> bool:
    """Whether a piece is one event and no more, which nearly every piece of a stream is."""
    return piece[:7] == b"data: {" and piece[-3:] == b"}\n\n" and piece.count(b"\n") == 2


def _decoded(data: bytes) -> JSON:
    """The JSON value; jiter reads a chunk in a quarter of the time that `json` takes for it."""
    try:
        return jiter.from_json(data)
    except ValueError:  # half a surrogate pair, bytes that are no UTF-8, raw control characters
        try:
            return json.loads(data.decode("utf-8", "replace"), strict=False)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _is_field(line: bytes) -> bool:
    name = line.partition(b":")[0].strip()
    return name in (b"", b"event", b"id", b"retry", b"data")


def _with_line_feeds(buffer: bytes) -> bytes:
    """CRLF and CR as LF; a CR at the very end stays, since its LF may come with the next piece."""
    held = buffer.endswith(b"\r")
    body = buffer[:-1] if held else buffer
    body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return body + b"\r" if held else body
