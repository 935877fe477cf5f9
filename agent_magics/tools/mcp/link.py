"""A live connection with a server, in our own values.

Is given the SDK's client and what its errors mean, and imports nothing of the SDK. Owns the bounds
of lists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import JSON
from agent_magics.tools.mcp.replies import listed_prompt, listed_resource, listed_tool, reply
from agent_magics.tools.mcp.values import (
    Elicit,
    OfferedPrompt,
    OfferedResource,
    OfferedTool,
    Reply,
    Tell,
)

if TYPE_CHECKING:
    import mcp

PAGES = 50
"""Pages of one list: a server whose list never ends must not hold anything up."""
MOST_LISTED = 2_000
"""Entries of one list that are kept."""


class ServerSaid(ToolError):
    """An error that holds words of the server; whoever hands it to a model fences it."""


class ServerGone(ToolError):
    """The connection ended in the midst of something."""


Meaning: TypeAlias = Callable[[Exception], Exception]
"""What an error of the SDK means: a `ToolError`, or the error itself where nothing is known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a connection gives to, and takes from, who holds it.

    Args:
        elicit: Puts a server's question to the person.
        changed: Is told that one of the server's lists changed.
        version: Of this package, for the server.
    """

    elicit: Elicit
    changed: Callable[[], None]
    version: str = ""


class Link:
    """A live connection; what it raises is `ToolError`, and `ServerGone` when it ended.

    Args:
        client: The SDK's.
        meaning: What its errors mean.
        gone: Is set when the connection has ended.
        how: How it ended, in words.
    """

    def __init__(
        self,
        client: mcp.Client,
        meaning: Meaning,
        gone: asyncio.Event,
        how: Callable[[], str],
    ) -> None:
        self._client = client
        self._meaning = meaning
        self.gone = gone
        self.told_end = how

    @property
    def offers(self) -> frozenset[str]:
        """Which of tools, prompts and resources the server says it has."""
        has = self._client.server_capabilities
        kinds = {"tools": has.tools, "prompts": has.prompts, "resources": has.resources}
        return frozenset(name for name, there in kinds.items() if there is not None)

    @property
    def about(self) -> str:
        """What the server says that it is, and the version of the protocol."""
        info = self._client.server_info
        name = f"{info.name} {info.version}" if info is not None else "unnamed"
        return f"{name}, protocol {self._client.protocol_version}"

    async def tools(self) -> tuple[OfferedTool, ...]:
        """All its tools."""

        async def page(cursor: str | None) -> tuple[list[Any], str | None]:
            found = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            return list(found.tools), found.next_cursor

        return tuple(listed_tool(item) for item in await self._listed(page))

    async def prompts(self) -> tuple[OfferedPrompt, ...]:
        """All its prompts."""

        async def page(cursor: str | None) -> tuple[list[Any], str | None]:
            found = await self._client.list_prompts(cursor=cursor, cache_mode="bypass")
            return list(found.prompts), found.next_cursor

        return tuple(listed_prompt(item) for item in await self._listed(page))

    async def resources(self) -> tuple[OfferedResource, ...]:
        """All its resources, and the templates of such."""

        async def page(cursor: str | None) -> tuple[list[Any], str | None]:
            found = await self._client.list_resources(cursor=cursor, cache_mode="bypass")
            return list(found.resources), found.next_cursor

        async def templates(cursor: str | None) -> tuple[list[Any], str | None]:
            found = await self._client.list_resource_templates(cursor=cursor, cache_mode="bypass")
            return list(found.resource_templates), found.next_cursor

        listed = await self._listed(page)
        with suppress(ToolError):  # many servers have none, and say so with an error
            listed += await self._listed(templates)
        return tuple(listed_resource(item) for item in listed)

    async def call(self, name: str, arguments: Mapping[str, JSON], tell: Tell) -> Reply:
        """Call a tool; cancelling tells the server so."""

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            much = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            tell(f"{much} {message or ''}".rstrip() + "\n")

        work = self._client.call_tool(name, dict(arguments), progress_callback=progress)
        return reply(await self._meant(work))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> Reply:
        """A prompt with its arguments filled in."""
        return reply(await self._meant(self._client.get_prompt(name, dict(arguments))))

    async def read(self, uri: str) -> Reply:
        """A resource."""
        return reply(await self._meant(self._client.read_resource(uri, cache_mode="bypass")))

    async def _listed(
        self, page: Callable[[str | None], Awaitable[tuple[list[Any], str | None]]]
    ) -> list[Any]:
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(PAGES):
            items, cursor = await self._meant(page(cursor))
            found += items
            if cursor is None or len(found) >= MOST_LISTED:
                break
        return found[:MOST_LISTED]

    async def _meant(self, work: Awaitable[Any]) -> Any:
        """What the SDK gives; its errors in words."""
        try:
            return await work
        except Exception as error:
            meant = self._meaning(error)
            if isinstance(meant, ServerGone):
                self.gone.set()
            raise meant from error
