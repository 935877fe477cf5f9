"""Messages between a process's pipes and whoever speaks the protocol.

Owns the two pumps, and that a message which is too long fails what waits for it instead of holding
it up for ever. Knows no message: what is one, `Wire` says. The only module that imports anyio.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from agent_magics.tools.mcp.pipes import LONGEST, ServerProcess, TooLong
from agent_magics.tools.plain import size


@dataclass(frozen=True, slots=True)
class Wire:
    """What the pumps need to know of messages.

    Args:
        read: A line as a message; raises ValueError for one that is none.
        write: A message as a line.
        asks: The id of a request that waits for an answer; None for other messages.
        answers: The id that an answer is for; None for other messages.
        failed: The answer to a request that cannot be had, with the reason.
    """

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    asks: Callable[[Any], Hashable | None]
    answers: Callable[[Any], Hashable | None]
    failed: Callable[[Hashable, str], Any]


@asynccontextmanager
async def piped(process: ServerProcess, wire: Wire) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a local server; when its output ends, so do they."""
    import anyio

    incoming, read_stream = anyio.create_memory_object_stream[Any](0)
    write_stream, outgoing = anyio.create_memory_object_stream[Any](0)
    waiting: set[Hashable] = set()

    async def pump_in() -> None:
        async with incoming:
            async for line in process.messages():
                for message in _read(line, wire, waiting, process):
                    waiting.discard(wire.answers(message))
                    try:
                        await incoming.send(message)
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        return

    async def pump_out() -> None:
        async with outgoing:
            async for message in outgoing:
                if (ident := wire.asks(message)) is not None:
                    waiting.add(ident)
                try:
                    await process.send(wire.write(message))
                except (OSError, RuntimeError):
                    # It does not listen any more: its output will end as well, or is ended here.
                    await incoming.aclose()
                    return

    async with anyio.create_task_group() as pumps:
        pumps.start_soon(pump_in)
        pumps.start_soon(pump_out)
        try:
            yield read_stream, write_stream
        finally:
            pumps.cancel_scope.cancel()
            read_stream.close()
            write_stream.close()


def _read(
    line: bytes | TooLong, wire: Wire, waiting: set[Hashable], process: ServerProcess
) -> tuple[Any, ...]:
    """The messages of one line; for one that is too long, a failure for each that waits."""
    if isinstance(line, TooLong):
        why = f"the answer is too long: {size(line.length)}, at most {size(LONGEST)} are taken"
        return tuple(wire.failed(ident, why) for ident in sorted(waiting, key=str))
    try:
        return (wire.read(line),)
    except ValueError:
        process.log.note(f"a message that cannot be read ({size(len(line))}) was passed over")
        return ()


@dataclass(frozen=True, slots=True)
class Mending:
    """A transport whose incoming messages are mended; see the module `mending`.

    Args:
        inner: Any transport of the SDK.
        mend: A message as it should have been.
    """

    inner: AbstractAsyncContextManager[tuple[Any, Any]]
    mend: Callable[[Any], Any]

    async def __aenter__(self) -> tuple[Any, Any]:
        read, write = await self.inner.__aenter__()
        return _Mended(read, self.mend), write

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self.inner.__aexit__(kind, error, trace)


@dataclass(frozen=True, slots=True)
class _Mended:
    """The reading end of a transport, with each message mended."""

    inner: Any
    mend: Callable[[Any], Any]

    @property
    def last_context(self) -> Any:
        return getattr(self.inner, "last_context", None)

    async def receive(self) -> Any:
        return self.mend(await self.inner.receive())

    async def aclose(self) -> None:
        await self.inner.aclose()

    def __aiter__(self) -> _Mended:
        return self

    async def __anext__(self) -> Any:
        return self.mend(await self.inner.__anext__())

    async def __aenter__(self) -> _Mended:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        result: bool | None = await self.inner.__aexit__(kind, error, trace)
        return result
