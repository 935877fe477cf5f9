"""One try: the request as bytes, the response as an answer or a `Fault`.

Owns the bounds on silence, what counts as the end of a response, and the lessons that a refusal
teaches on the way (the same request in another form, within the same try). Knows the connection
only as something that sends bytes and gives bytes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing, suppress
from typing import Protocol

from agent_magics.events import Notice
from agent_magics.ports import Request, Streamed
from agent_magics.providers import advice
from agent_magics.providers.answers import AnswerReader
from agent_magics.providers.assembler import Offer
from agent_magics.providers.bodies import BodyWriter, fields_of
from agent_magics.providers.endpoint import Endpoint, Learnt
from agent_magics.providers.faults import Fault
from agent_magics.providers.lessons import Lesson, learnt
from agent_magics.providers.profiles import Profile
from agent_magics.providers.watch import Silent, Watch
from agent_magics.providers.wire import output_limit, sent_names

_MOST_LESSONS = 8
"""Lessons that one request may teach before its refusal stands."""

_DRAIN = 0.2
"""Seconds to wait for the end of a response after `[DONE]`, so that the connection can be kept."""


class Response(Protocol):
    """An open response with a good status."""

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, piece by piece, decompressed."""

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""


class Send(Protocol):
    """Sends a chat request."""

    def __call__(self, body: bytes) -> Awaitable[Response]:
        """The response as soon as its status is known; raises `Fault` and nothing else."""


class Tries:
    """Makes tries for one model of one endpoint.

    Args:
        model: The model's name.
        endpoint: Where it is.
        lessons: What servers taught so far.
        send: The connection.
    """

    __slots__ = ("_endpoint", "_lessons", "_model", "_place", "_send", "_writer")

    def __init__(self, model: str, endpoint: Endpoint, lessons: Learnt, send: Send) -> None:
        self._model = model
        self._endpoint = endpoint
        self._lessons = lessons
        self._send = send
        self._place = endpoint.place(model)
        self._writer = BodyWriter(model)

    @property
    def profile(self) -> Profile:
        """What is known of the endpoint by now."""
        return self._lessons.profile(self._endpoint, self._model)

    async def ask(self, request: Request) -> AsyncIterator[Streamed]:
        """One try, deltas first and the message last.

        Raises:
            Fault: It failed. A refusal that teaches something is no failure.
        """
        for lessons in range(_MOST_LESSONS + 1):
            profile = self.profile
            stream = self._endpoint.stream and profile.stream
            body = self._body(request, profile, stream=stream)
            names = sent_names(request.tools, profile)
            offer = Offer(self._model, request.tools, names, output_limit(request), request.words)
            shown = False
            try:
                async with aclosing(self._answer(body, offer)) as answer:
                    async for item in answer:
                        shown = True
                        yield item
                return
            except Fault as fault:
                learns = not shown and lessons < _MOST_LESSONS
                lesson = _lesson(fault, profile, body) if learns else None
                if lesson is None:
                    raise
            self._lessons.remember(self._endpoint, self._model, lesson.profile)
            if lesson.notice:
                yield Notice(self._place.clean(lesson.notice), "warning")

    def _body(self, request: Request, profile: Profile, *, stream: bool) -> bytes:
        try:
            return self._writer.write(request, profile, stream=stream)
        except (TypeError, ValueError, RecursionError) as wrong:
            error = advice.unwritable(str(wrong), self._place)
            raise Fault("a request that is no JSON", error, again=False) from None

    async def _answer(self, body: bytes, offer: Offer) -> AsyncGenerator[Streamed, None]:
        """The deltas and the message of one response."""
        reader = AnswerReader(offer, self._place)
        watch = Watch(self._endpoint.timeout.first)
        response: Response | None = None
        try:
            response = await watch.wait(self._send(body))
            pieces = response.aiter_bytes()
            while (piece := await self._next_piece(pieces, watch, reader)) is not None:
                watch.limit = self._endpoint.timeout.idle
                for delta in reader.feed(piece):
                    yield delta
                if reader.done:
                    await _drained(pieces, watch)
                    break
        except Silent:  # before the response began
            raise self._silence(watch.limit, reader) from None
        finally:
            watch.stop()
            if response is not None:
                await response.aclose()
        deltas, message = reader.end()
        for delta in deltas:
            yield delta
        yield message

    async def _next_piece(
        self, pieces: AsyncIterator[bytes], watch: Watch, reader: AnswerReader
    ) -> bytes | None:
        """The next bytes; None at the end, which a lost connection after the last word is too."""
        try:
            return await watch.wait(anext(pieces, None))
        except Silent:
            fault = self._silence(watch.limit, reader)
        except Exception as lost:  # noqa: BLE001  # httpx2, anyio, ssl, zlib: no common class
            fault = reader.broken(said_by(lost))
        if reader.finished:
            return None
        raise fault

    def _silence(self, limit: float, reader: AnswerReader) -> Fault:
        what = "next word" if limit == self._endpoint.timeout.idle else "first word"
        error = advice.too_slow(limit, what, self._place)
        partial = reader.broken("").partial
        return Fault(f"no {what} for {advice.duration(limit)}", error, partial=partial)


def said_by(lost: BaseException) -> str:
    """What a transport's exception says, in a few words."""
    return str(lost).split("\n", 1)[0][:200] or type(lost).__name__


def _lesson(fault: Fault, profile: Profile, body: bytes) -> Lesson | None:
    if fault.complaint is None or fault.complaint.overflows or fault.complaint.exhausted:
        return None
    return learnt(profile, fault.complaint, fields_of(body))


async def _drained(pieces: AsyncIterator[bytes], watch: Watch) -> None:
    """Read to the end of a response that has said all, so that its connection can be used again."""
    watch.limit = _DRAIN
    with suppress(Exception):  # whatever it is, the answer is complete
        for _ in range(16):
            if await watch.wait(anext(pieces, None)) is None:
                return
