"""The log of requests: what was sent to a server and what came back, as lines of JSON.

    {"agent_magics_requests": 1}
    {"request": 1, "at": "…", "method": "POST", "url": "…", "headers": {…}, "body": {…}}
    {"response": 1, "seconds": 2.1, "status": 200, "headers": {…}, "stream": "data: {…}…"}

Off until somebody gives it a `sink`. Keys never come in: URLs stand without user, password and
query, of the headers only known harmless ones are taken, and every text goes through what takes
secrets out. Knows no file; a request is written before it is sent, so that one without an answer
is in the log as well.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_magics.differences import each_text
from agent_magics.messages import JSON
from agent_magics.providers.place import Place
from agent_magics.providers.trying import Response

VERSION = 1
MAX_TEXT = 1_000_000
"""Characters of one text of a body, and of one streamed answer; a picture is the longest."""
MAX_DEPTH = 200
"""How deep a body may be nested to be written as JSON; one that is deeper is written as text."""
HEADERS = frozenset(
    (
        *("accept", "content-type", "content-length", "content-encoding", "user-agent"),
        *("date", "server", "retry-after", "retry-after-ms", "x-should-retry", "via"),
        *("x-request-id", "request-id", "openai-version", "openai-processing-ms"),
    )
)
"""Names of headers that are written, beside those that begin with `x-ratelimit-`."""

HEAD = json.dumps({"agent_magics_requests": VERSION}).encode() + b"\n"


@dataclass(slots=True)
class RequestLog:
    """Writes requests while somebody wants it.

    Args:
        sink: Takes a line, never raises; None: nothing is written.
        redactor: Gives what takes secrets out, as of this moment.
        clock: Seconds, for durations.
    """

    sink: Callable[[bytes], None] | None = None
    redactor: Callable[[], Callable[[str], str]] = field(default=lambda: str)
    clock: Callable[[], float] = time.monotonic
    _count: int = 0

    def begin(self, place: Place, method: str, path: str, body: bytes | None) -> Exchange | None:
        """Write a request; None while nothing is written.

        Args:
            place: Where it goes.
            method: As HTTP names it.
            path: Below the base URL.
            body: As it is sent.
        """
        if self.sink is None:
            return None
        self._count += 1
        redact = self.redactor()
        exchange = Exchange(
            self._count, self.sink, lambda text: redact(place.clean(text)), self.clock
        )
        exchange.asked(method, place.url + path, body)
        return exchange


@dataclass(slots=True)
class Exchange:
    """One request and what comes back.

    Args:
        number: Names it in the log.
        sink: Takes the lines.
        clean: Takes secrets out of a text.
        clock: Seconds.
    """

    number: int
    sink: Callable[[bytes], None]
    clean: Callable[[str], str]
    clock: Callable[[], float]
    _began: float = 0
    _head: dict[str, JSON] = field(default_factory=dict)
    _body: bytearray = field(default_factory=bytearray)
    _size: int = 0
    _ended: bool = False

    def asked(self, method: str, url: str, body: bytes | None) -> None:
        """Write the request."""
        self._began = self.clock()
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        fields: dict[str, JSON] = {"request": self.number, "at": at, "method": method, "url": url}
        if body is not None:
            fields["body"] = self._content(body, len(body))
        self._write(fields)

    def answered(
        self, status: int, headers: Mapping[str, str], sent: Mapping[str, str] | None = None
    ) -> None:
        """Take the status and the headers of a response, and those of the request."""
        self._head = {"status": status, "headers": self._harmless(headers)}
        if sent is not None:
            self._head["sent_headers"] = self._harmless(sent)

    def piece(self, content: bytes) -> None:
        """Take a piece of the response's body."""
        self._size += len(content)
        self._body += content[: max(0, MAX_TEXT - len(self._body))]

    def ended(self, error: str = "") -> None:
        """Write the response; what is called later changes nothing.

        Args:
            error: What went wrong with the connection; empty: nothing did.
        """
        if self._ended:
            return
        self._ended = True
        seconds = round(self.clock() - self._began, 3)
        fields: dict[str, JSON] = {"response": self.number, "seconds": seconds, **self._head}
        if self._size:
            kind = str(self._head.get("headers", {}).get("content-type", ""))
            name = "stream" if "event-stream" in kind else "body"
            body = bytes(self._body)
            whole = self._text(body, self._size) if name == "stream" else None
            fields[name] = whole if whole is not None else self._content(body, self._size)
        if error:
            fields["error"] = self.clean(error)
        self._write(fields)

    def _harmless(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.clean(value)
            for name, value in ((name.lower(), value) for name, value in headers.items())
            if name in HEADERS or name.startswith("x-ratelimit-")
        }

    def _content(self, body: bytes, size: int) -> JSON:
        """A body as JSON where it is some, else as text."""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return self._text(body, size)
        if _depth(value) >= MAX_DEPTH:
            return self._text(body, size)
        return each_text(value, self._short)

    def _text(self, body: bytes, size: int) -> str:
        text = self._short(body.decode("utf-8", "replace"))
        return text if size <= len(body) else f"{text}[… {size - len(body):,} bytes not written]"

    def _short(self, text: str) -> str:
        text = self.clean(text)
        more = len(text) - MAX_TEXT
        return text if more <= 0 else f"{text[:MAX_TEXT]}[… {more:,} characters not written]"

    def _write(self, fields: dict[str, JSON]) -> None:
        try:
            line = json.dumps(fields, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:  # half of a pair, which only an escape can hold
            line = json.dumps(fields, default=str).encode()
        self.sink(line + b"\n")


@dataclass(frozen=True, slots=True)
class Tapped:
    """A response whose body is written to the log as it is read.

    Args:
        response: The response.
        exchange: Takes it.
    """

    response: Response
    exchange: Exchange

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, piece by piece."""
        try:
            async for piece in self.response.aiter_bytes():
                self.exchange.piece(piece)
                yield piece
        except Exception as lost:
            self.exchange.ended(f"{type(lost).__name__}: {lost}")
            raise
        self.exchange.ended()

    async def aclose(self) -> None:
        """Close the response; one that was not read to its end is written as far as it was."""
        try:
            await self.response.aclose()
        finally:
            self.exchange.ended()


def is_request_log(first: bytes) -> bool:
    """Whether a file's first line says that it is a log that can be added to."""
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("agent_magics_requests") == VERSION


def _depth(value: JSON) -> int:
    depth, level = 0, [value]
    while level and depth < MAX_DEPTH:
        depth += 1
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    return depth
