"""One server's life: started when it is needed, started once more when it died, and its end.

Everything here runs on the servers' own thread; `state` alone is read from others, and is replaced
as a whole. Knows no SDK: what opens a connection is given to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from agent_magics.errors import AgentMagicsError, ToolError
from agent_magics.messages import JSON
from agent_magics.tools.mcp.link import Asked, Link, ServerGone
from agent_magics.tools.mcp.logfile import LogFile
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.mcp.values import (
    Elicit,
    Elicitation,
    Elicited,
    OfferedTool,
    Reply,
    Tell,
)

T = TypeVar("T")
Opener: TypeAlias = Callable[[Asked], AbstractAsyncContextManager[Link]]
Word: TypeAlias = Literal["not started", "starting", "running", "failed", "ended", "stopped"]

SLICE = 1.0
"""Seconds between two looks at the clock of a call."""
WIND_DOWN = 6.0
"""Seconds that a server may take to be closed, before it is left to itself."""


@dataclass(frozen=True, slots=True)
class State:
    """What is known of a server.

    Args:
        word: Where it is in its life.
        detail: Why it is not running, in words.
        about: What the server says that it is.
        offers: Which of tools, prompts and resources it has.
        tools: As it lists them.
    """

    word: Word = "not started"
    detail: str = ""
    about: str = ""
    offers: frozenset[str] = frozenset()
    tools: tuple[OfferedTool, ...] = ()


class Connection:
    """A server as the tools use it.

    Args:
        spec: What is configured.
        opener: Opens a connection; what it raises says why it could not.
        log: Of the server.
        version: Of this package, for the server.
    """

    def __init__(self, spec: ServerSpec, opener: Opener, log: LogFile, version: str = "") -> None:
        self.spec = spec
        self.log = log
        self.state = State()
        self._opener = opener
        self._version = version
        self._life: asyncio.Task[None] | None = None
        self._start: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._stop = asyncio.Event()
        self._changed = asyncio.Event()
        self._restarts = 1
        self._askers: list[Elicit] = []
        self._asking = 0
        self._why = ""

    @property
    def settled(self) -> bool:
        """Whether nothing is to be waited for: it runs, or will not by itself."""
        word = self.state.word
        return word in ("running", "failed", "stopped") or (word == "ended" and not self._restarts)

    async def ready(self) -> None:
        """Start it if it is to be started; returns when it runs or has failed.

        Cancelling the wait leaves it starting.
        """
        if self.settled:
            return
        if self._start is None or self._start.done():
            if self.state.word == "ended":
                self._restarts -= 1
            self._start = asyncio.create_task(self._started())
        await asyncio.shield(self._start)

    async def stop(self) -> None:
        """Close it. It does not start again by itself."""
        self._stop.set()
        if self._start is not None and not self._start.done():
            self._start.cancel()
        if self._life is not None and not self._life.done():
            if self._link is None:  # it is starting, and sees no wish to stop
                self._life.cancel()
            await asyncio.wait({self._life}, timeout=WIND_DOWN)
            self._life.cancel()
            await asyncio.wait({self._life}, timeout=1.0)
        self.state = State("stopped")

    async def call(
        self, name: str, arguments: Mapping[str, JSON], tell: Tell, elicit: Elicit
    ) -> Reply:
        """Call a tool.

        Raises:
            ToolError: It failed; the message says what is known of its effects.
        """
        return await self.use(lambda link: link.call(name, arguments, tell), elicit)

    async def use(self, work: Callable[[Link], Awaitable[T]], elicit: Elicit | None = None) -> T:
        """Do something with the connection, within the time-out of its calls.

        Raises:
            ToolError: The server is not there, too slow, or ended meanwhile.
        """
        link = await self._alive()
        if elicit is not None:
            self._askers.append(elicit)
        try:
            result = await self._patient(work(link))
        except ServerGone as error:
            await self._over()
            raise ToolError(
                f"The MCP server {self.spec.name} is gone: {self.state.detail or error}. Whether "
                f"this call had effects is not known.{self._onward()}"
            ) from error
        finally:
            if elicit is not None:
                self._askers.remove(elicit)
        self._restarts = 1
        return result

    # -- its life -----------------------------------------------------------------------------

    async def _alive(self) -> Link:
        await self.ready()
        if self._link is None:
            why = self.state.detail or self.state.word
            raise ToolError(
                f"The MCP server {self.spec.name} is not there ({why}); go on without it. "
                f"The person can look with %agent mcp log {self.spec.name} and start it with "
                f"%agent mcp restart {self.spec.name}."
            )
        return self._link

    async def _started(self) -> None:
        self._stop.clear()
        self._why = ""
        self.state = State("starting")
        self.log.note(f"starting: {self.spec.where}")
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._lived(begun))
        await asyncio.wait({begun}, timeout=self.spec.startup_timeout)
        if not begun.done():
            self._why = f"it did not answer within {self.spec.startup_timeout:g} s"
            self._life.cancel()
            await asyncio.wait({self._life}, timeout=WIND_DOWN)
            self.state = State("failed", self._why)

    async def _lived(self, begun: asyncio.Future[None]) -> None:
        """From the start to the end; never raises but `CancelledError`."""
        word: Word = "failed"
        try:
            async with self._opener(
                Asked(self._elicited, self._changed.set, self._version)
            ) as link:
                tools = await link.tools() if "tools" in link.offers else ()
                self._link, word = link, "ended"
                self.state = State("running", "", link.about, link.offers, tools)
                self.log.note(f"running: {link.about}, {len(tools)} tools")
                begun.set_result(None)
                await self._watched(link)
                self._why = self._why or link.told_end()
        except asyncio.CancelledError:
            self._why = self._why or "it was stopped"
            raise
        except (AgentMagicsError, OSError) as error:
            self._why = self._why or str(error)
        except Exception as error:  # noqa: BLE001  # the SDK's transports raise groups of anything
            self._why = self._why or _in_words(error)
        finally:
            self._link = None
            self.state = State("stopped") if self._stop.is_set() else State(word, self._why)
            closed = self._stop.is_set() or not self._why
            self.log.note(f"{self.state.word}: {'closed' if closed else self._why}")
            if not begun.done():
                begun.set_result(None)

    async def _watched(self, link: Link) -> None:
        """Wait for the end, and read the tools again when they change."""
        while True:
            waits = {
                asyncio.create_task(event.wait())
                for event in (link.gone, self._stop, self._changed)
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if link.gone.is_set() or self._stop.is_set():
                return
            self._changed.clear()
            with suppress(ToolError, TimeoutError):
                async with asyncio.timeout(self.spec.startup_timeout):
                    self.state = replace(self.state, tools=await link.tools())

    async def _over(self) -> None:
        if self._life is not None:
            await asyncio.wait({self._life}, timeout=WIND_DOWN)

    def _onward(self) -> str:
        if self._restarts:
            return " It is started again with the next call."
        return f" It is not started again by itself: %agent mcp restart {self.spec.name}"

    # -- calls --------------------------------------------------------------------------------

    async def _patient(self, work: Awaitable[T]) -> T:
        """Wait no longer than the time-out; the time that a person is asked does not count."""
        task = asyncio.ensure_future(work)
        clock = asyncio.get_running_loop().time
        left = self.spec.timeout
        try:
            while left > 0:
                before = clock()
                await asyncio.wait({task}, timeout=min(left, SLICE))
                if task.done():
                    return task.result()
                if not self._asking:
                    left -= clock() - before
            raise ToolError(
                f"The MCP server {self.spec.name} did not answer within {self.spec.timeout:g} s; "
                "the call was cancelled. Whether it had effects is not known."
            )
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=WIND_DOWN)

    async def _elicited(self, question: Elicitation) -> Elicited:
        """Put a question to whoever made the newest call; without a call there is nobody."""
        if not self._askers:
            self.log.note("a question without a call was declined")
            return Elicited("decline")
        self._asking += 1
        try:
            return await self._askers[-1](question)
        finally:
            self._asking -= 1


def _in_words(error: BaseException) -> str:
    """The first cause of an error, in a few words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
