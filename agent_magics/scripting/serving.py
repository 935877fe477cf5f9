"""The MCP servers of a program: started before anything is asked, ended when it is over.

Owns that a server which a program names is there or the program ends with an error, and that none
of them outlives what it was started for. Which servers there are is settled before.
"""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from agent_magics.errors import UsageProblem
from agent_magics.magics.background import in_background
from agent_magics.plain import visible
from agent_magics.tools.mcp.declared import Wanted
from agent_magics.tools.mcp.servers import Servers

USER = 4
"""Frames from a warning in one of the two context managers to the program that waits for it."""


async def started(servers: Servers, wanted: Wanted) -> tuple[str, ...]:
    """Start what is to be started and does not run yet; gives what the program should know.

    Args:
        servers: Of the program; those that it asks for and no others.
        wanted: The names of those that must be there, or True: those that start will do.

    Raises:
        UsageProblem: One that must be there did not start.
    """
    if not wanted:
        return ()
    said: list[str] = []

    def tell(line: str, wrong: bool) -> None:
        if wrong:
            said.append(line)

    await servers.ready(tell)
    for name in () if wanted is True else wanted:
        state = servers.state(name)
        if state.word != "running":
            log = servers.log(name).path
            more = f" What it wrote: {log}" if log.is_file() else ""
            raise UsageProblem(
                f"The MCP server {visible(name)} did not start: {state.detail or state.word}.{more}"
            )
    return tuple(said)


@contextmanager
def serving(servers: Servers, wanted: Wanted) -> Iterator[None]:
    """The servers for the time of a block, whose thread waits for their start and their end.

    Raises:
        UsageProblem: As `started`.
    """
    if not wanted:
        yield
        return
    try:
        for line in in_background(lambda: started(servers, wanted)):
            warnings.warn(line, UserWarning, stacklevel=USER)
        yield
    finally:
        servers.close()


@asynccontextmanager
async def serving_here(servers: Servers, wanted: Wanted) -> AsyncIterator[None]:
    """As `serving`, while the event loop goes on."""
    if not wanted:
        yield
        return
    try:
        for line in await started(servers, wanted):
            warnings.warn(line, UserWarning, stacklevel=USER)
        yield
    finally:
        await _ended(servers)


async def _ended(servers: Servers) -> None:
    """End the servers; cancelling ends the wait alone."""
    # A thread of its own: a pool that is busy or shut down would not come to it.
    ending = threading.Thread(target=servers.close, name="agent_magics mcp end")
    ending.start()
    await asyncio.to_thread(ending.join)
