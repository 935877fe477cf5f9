"""Opening a connection to a server: a process of its own, or an address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_magics.tools.mcp.connection import Opener
from agent_magics.tools.mcp.link import Asked, Link
from agent_magics.tools.mcp.logfile import LogFile
from agent_magics.tools.mcp.pipes import ServerProcess, started
from agent_magics.tools.mcp.sdk import (
    Mode,
    OtherVersion,
    check_installed,
    over_http,
    over_pipes,
)
from agent_magics.tools.mcp.specs import ServerSpec, filled


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a server is started with.

    Args:
        folder: Where local servers run.
        variables: The environment, of which they are told little.
        keys: The names of variables that no server of a project may be told.
    """

    folder: Callable[[], Path]
    variables: Mapping[str, str]
    keys: Callable[[], Collection[str]]


def opener(
    spec: ServerSpec, around: Surroundings, log: LogFile, processes: set[ServerProcess]
) -> Opener:
    """What opens a connection to this server, as often as it is asked to.

    Args:
        spec: What is configured.
        around: What it is started with, as of each start.
        log: Takes what it writes beside its messages.
        processes: Holds its process while that lives, so that it can be ended from any thread.
    """

    @asynccontextmanager
    async def opened(asked: Asked) -> AsyncIterator[Link]:
        check_installed()
        refused = around.keys() if spec.origin == "project" else ()
        full = filled(spec, around.variables, refused)
        async with AsyncExitStack() as stack:
            try:
                # First: it is what nearly every server speaks, and lets them ask the person.
                link = await stack.enter_async_context(tried(full, asked, "legacy"))
            except OtherVersion:
                link = await stack.enter_async_context(tried(full, asked, "auto"))
            yield link

    @asynccontextmanager
    async def tried(full: ServerSpec, asked: Asked, mode: Mode) -> AsyncIterator[Link]:
        if full.url:
            async with over_http(full, asked, mode) as link:
                yield link
            return
        process = await started(full, around.folder(), around.variables, log)
        processes.add(process)
        try:
            async with over_pipes(process, asked, mode) as link:
                yield link
        finally:
            await process.close()
            processes.discard(process)

    return opened
