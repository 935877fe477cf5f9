"""An answer from the bytes of a response: events, one JSON value, or something else. Pure.

Owns the decision what came (servers answer a streaming request with JSON, the other way round, or
with a web page) and whether it is a whole answer. Everything that is not becomes a `Fault`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from agent_magics.errors import ContextOverflow
from agent_magics.events import CallDelta, ReasoningDelta, TextDelta
from agent_magics.messages import JSON, Assistant, Usage
from agent_magics.providers import advice
from agent_magics.providers.assembler import Assembler, Delta, Offer
from agent_magics.providers.complaints import Complaint, is_error, read_complaint
from agent_magics.providers.faults import Fault, Kind
from agent_magics.providers.place import Place
from agent_magics.providers.sse import LONGEST, EventReader, Unreadable

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PERMANENT = frozenset((
    *range(300, 400), 400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 413, 414, 415, 416, 417,
    418, 421, 422, 426, 428, 431, 451, 501, 505,
))  # fmt: skip
"""Statuses with which the same request is refused again; every other one may pass."""


class AnswerReader:
    """Takes the bytes of one response; gives deltas, and at the end the message.

    Args:
        offer: What of the request the reading depends on.
        place: For the texts of faults.
    """

    __slots__ = ("_assembler", "_body", "_events", "_form", "_place", "_size", "chosen")

    def __init__(self, offer: Offer, place: Place) -> None:
        self.chosen = False  # whether anything with choices came
        self._assembler = Assembler(offer)
        self._place = place
        self._form: Literal["", "events", "value"] = ""
        self._events = EventReader()
        self._body: list[bytes] = []
        self._size = 0

    @property
    def done(self) -> bool:
        """Whether the server said that nothing follows."""
        return self._events.done

    @property
    def finished(self) -> bool:
        """Whether the answer is complete, as far as the server said."""
        return self._events.done or bool(self._assembler.finish)

    @property
    def usage(self) -> Usage:
        """The tokens of the request, as far as the server said."""
        return self._assembler.usage

    def feed(self, piece: bytes) -> list[Delta]:
        """Take the next bytes.

        Raises:
            Fault: They hold an error, or cannot be read.
        """
        if self._form == "events":
            return self._take_events(piece)
        self._body.append(piece)
        self._size += len(piece)
        if self._size > LONGEST:
            error = advice.unreadable("it is endless", self._place)
            raise Fault("an endless answer", error, again=False)
        if self._form == "value":
            return []
        start = b"".join(self._body).lstrip(b" \t\r\n\xef\xbb\xbf")
        if not start:
            return []
        if start[:1] in (b"{", b"[", b"<"):
            self._form = "value"
            return []
        self._form = "events"
        body = b"".join(self._body)
        self._body.clear()
        return self._take_events(body)

    def end(self) -> tuple[list[Delta], Assistant]:
        """The last deltas and the message, when the response has ended.

        Raises:
            Fault: It is not a whole answer, or an empty one.
        """
        deltas = self._end_of_events() if self._form == "events" else self._whole_value()
        complete = self.finished or self._form == "value"
        message = self._assembler.message(broken=not complete)
        if message.stop == "cut":
            raise self.broken("it ended before it was complete", clean=True)
        if self._assembler.blank and message.stop in ("end", "filter"):
            raise self._empty(message)
        return deltas, message

    def _empty(self, message: Assistant) -> Fault:
        """The fault of an answer without content."""
        if self.chosen:
            error, reason = advice.empty_answer(self._place), "an empty answer"
        else:
            error, reason = advice.unreadable("it holds no answer", self._place), "no answer in it"
        withheld = message if message.stop == "filter" else None
        return Fault(reason, error, "empty", partial=withheld, usage=self.usage)

    def broken(self, what: str, *, clean: bool = False) -> Fault:
        """The fault of an answer that broke off here.

        Args:
            what: What happened.
            clean: Whether the server ended the response itself.
        """
        message = self._assembler.message(broken=True)
        partial = None if self._assembler.blank else message
        error = advice.broken_off(what, self._place)
        kind: Kind = "cut" if clean else "lost"
        reason = "the answer ended too early" if clean else "the answer broke off"
        return Fault(reason, error, kind, partial=partial, usage=self.usage)

    def _take_events(self, piece: bytes) -> list[Delta]:
        try:
            events = self._events.feed(piece)
        except Unreadable as wrong:
            raise self.broken(str(wrong)) from None
        if len(events) == 1:
            return self._take(events[0])
        return coalesced([delta for event in events for delta in self._take(event)])

    def _end_of_events(self) -> list[Delta]:
        try:
            events = self._events.end()
        except Unreadable as wrong:
            raise self.broken(str(wrong)) from None
        return [delta for event in events for delta in self._take(event)]

    def _take(self, value: Mapping[str, JSON]) -> list[Delta]:
        if is_error(value):
            raise refusal(read_complaint(value), self._place)
        self.chosen = self.chosen or bool(value.get("choices"))
        return self._assembler.feed(value)

    def _whole_value(self) -> list[Delta]:
        body = b"".join(self._body).strip().removeprefix(_BYTE_ORDER_MARK)
        if not body:
            error = advice.unreadable("it is empty", self._place)
            raise Fault("an empty response", error, "empty")
        if body.startswith(b"<"):
            title = read_complaint(body).message
            raise Fault("a web page", advice.page_in_place(title, self._place))
        try:
            value = json.loads(body.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            if b"\n{" not in body:
                raise self.broken("its JSON breaks off") from None
            # A stream as bare JSON lines, which looked like one value at first.
            self._form = "events"
            return [*self._take_events(body), *self._end_of_events()]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        if not isinstance(value, dict):
            error = advice.unreadable("it is no chat completion", self._place)
            raise Fault("an answer without content", error, "empty")
        return self._take(value)


def coalesced(deltas: list[Delta]) -> list[Delta]:
    """The same deltas in fewer: text in one piece, each call only as far as it is known last.

    What arrived in one piece is shown in one piece; a burst of a thousand chunks is one event.
    """
    result: list[Delta] = []
    for delta in deltas:
        match result[-1] if result else None, delta:
            case TextDelta(text=before), TextDelta(text=more):
                result[-1] = TextDelta(before + more)
            case ReasoningDelta(text=before), ReasoningDelta(text=more):
                result[-1] = ReasoningDelta(before + more)
            case CallDelta(key=before), CallDelta(key=same) if before == same:
                result[-1] = delta
            case _:
                result.append(delta)
    return result


def refusal(complaint: Complaint, place: Place, wait: float | None = None) -> Fault:
    """The fault of a refusal, by status or inside an answer."""
    error = advice.refused(complaint, place, wait)
    lasting = (
        isinstance(error, ContextOverflow)
        or complaint.exhausted
        or complaint.status in _PERMANENT
        or (complaint.status is None and "invalid_request" in complaint.words)
    )
    reason = place.clean(complaint.message)[:120] or f"status {complaint.status}"
    return Fault(reason, error, "refused", again=not lasting, wait=wait, complaint=complaint)
