"""The official SDK, and no other module imports it: a connection to one server, in our own values.

`mcp` is an extra: without it, the message says what to install. Owns how the SDK is set up (what a
server may ask of us, what is read of an HTTP answer) and what its errors mean. When a server is
started, restarted or given up is the business of `connection`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agent_magics.errors import ConfigError, ToolError
from agent_magics.importing import installed_only
from agent_magics.messages import JSON
from agent_magics.tools.mcp.http import Tracked, http_client
from agent_magics.tools.mcp.mending import mended
from agent_magics.tools.mcp.pipes import LONGEST, ServerProcess
from agent_magics.tools.mcp.replies import listed_prompt, listed_resource, listed_tool, reply
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.mcp.transport import Mending, Wire, piped
from agent_magics.tools.mcp.values import (
    Elicit,
    Elicitation,
    OfferedPrompt,
    OfferedResource,
    OfferedTool,
    Reply,
    Tell,
)

if TYPE_CHECKING:
    import mcp
    import mcp_types

PAGES = 50
"""Pages of one list: a server whose list never ends must not hold anything up."""
MOST_LISTED = 2_000
"""Entries of one list that are kept."""
NO_SDK = (
    "MCP servers need the package mcp, version 2 or newer: %pip install 'agent_magics[mcp]', then "
    "restart the kernel"
)


Mode: TypeAlias = Literal["legacy", "auto"]
"""Begin with the handshake of the versions until 2025, or ask first which versions there are."""


class ServerGone(ToolError):
    """The connection ended in the midst of something."""


class OtherVersion(ToolError):
    """The server does not speak the versions of the protocol that it was spoken to in."""


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


def check_installed() -> None:
    """Import the SDK.

    Raises:
        ConfigError: It is not there, or too old.
    """
    try:
        with installed_only():
            import mcp
            import mcp_types  # noqa: F401  # comes with it from version 2 on

            _ = mcp.Client
    except (ImportError, AttributeError) as error:
        raise ConfigError(NO_SDK) from error
    for name in ("mcp", "client"):
        # Without a handler, Python prints the SDK's warnings below the person's cell.
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


class Link:
    """A live connection; what it raises is `ToolError`, and `ServerGone` when it ended.

    Args:
        client: The SDK's.
        tracked: What is known of the HTTP answers; None for local servers.
        process: Of a local server.
    """

    def __init__(
        self, client: mcp.Client, tracked: Tracked | None, process: ServerProcess | None
    ) -> None:
        self._client = client
        self._tracked = tracked
        self._process = process
        self.gone = process.quiet if process is not None else asyncio.Event()
        """Set when the connection has ended."""

    def told_end(self) -> str:
        """How it ended, in words."""
        return self._process.told_end() if self._process is not None else "its session ended"

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
        """What the SDK gives; its errors in words for the model."""
        import mcp
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        try:
            return await work
        except mcp.MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message == "Session terminated":
                self.gone.set()
                raise ServerGone(told(error, self._tracked)) from error
            raise ToolError(told(error, self._tracked)) from error
        except ValidationError as error:
            raise ToolError(
                f"The server's answer breaks the protocol ({_first_problem(error)})."
            ) from error
        except RuntimeError as error:
            raise ToolError(f"The server's answer cannot be used: {error}") from error


@asynccontextmanager
async def over_pipes(process: ServerProcess, asked: Asked, mode: Mode) -> AsyncIterator[Link]:
    """A connection with a local server; its process stays the caller's.

    Raises:
        OtherVersion: Another mode may do.
        ToolError: It cannot be had; the message says why.
    """
    async with _linked(piped(process, _wire()), asked, mode, process=process) as link:
        yield link


@asynccontextmanager
async def over_http(spec: ServerSpec, asked: Asked, mode: Mode) -> AsyncIterator[Link]:
    """A connection with a server at an address; raises as `over_pipes` does."""
    from mcp.client.streamable_http import streamable_http_client

    tracked = Tracked()
    async with http_client(spec, tracked) as client:
        transport = streamable_http_client(spec.url, http_client=client, max_sse_event_size=LONGEST)
        async with _linked(transport, asked, mode, tracked) as link:
            yield link


@asynccontextmanager
async def _linked(
    transport: Any,
    asked: Asked,
    mode: Mode,
    tracked: Tracked | None = None,
    process: ServerProcess | None = None,
) -> AsyncIterator[Link]:
    import mcp

    client = mcp.Client(
        Mending(transport, _mended),
        elicitation_callback=_elicitation(asked.elicit),
        message_handler=_handler(asked.changed),
        client_info=mcp.Implementation(name="agent_magics", version=asked.version or "0"),
        mode=mode,
        cache=None,
    )
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(client)
        except Exception as error:
            raise _not_begun(error, tracked, process) from error
        listening = asyncio.create_task(_listen(client, asked.changed))
        try:
            yield Link(client, tracked, process)
        finally:
            listening.cancel()


def _wire() -> Wire:
    """What the pumps of a local server need to know of the SDK's messages."""
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    def read(line: bytes) -> Any:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))

    def write(message: Any) -> bytes:
        text: str = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode("utf-8")

    def asks(message: Any) -> Any:
        inner = message.message
        return inner.id if isinstance(inner, types.JSONRPCRequest) else None

    def answers(message: Any) -> Any:
        inner = message.message
        return inner.id if isinstance(inner, types.JSONRPCResponse | types.JSONRPCError) else None

    def failed(ident: Any, why: str) -> Any:
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=why)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=ident, error=error))

    return Wire(read, write, asks, answers, failed)


def _mended(message: Any) -> Any:
    """An incoming message; only results are touched."""
    inner: Any = getattr(message, "message", None)
    if isinstance(getattr(inner, "result", None), dict):
        inner.result = mended(inner.result)
    return message


def _elicitation(elicit: Elicit) -> Any:
    async def callback(
        _context: object, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult:
        import mcp_types as types

        if isinstance(params, types.ElicitRequestURLParams):
            question = Elicitation(params.message, url=params.url)
        else:
            question = Elicitation(params.message, params.requested_schema)
        answer = await elicit(question)
        content: Any = dict(answer.content) if answer.content is not None else None
        return types.ElicitResult(action=answer.action, content=content)

    return callback


def _handler(changed: Callable[[], None]) -> Any:
    async def handler(message: object) -> None:
        import mcp_types as types

        lists = (
            types.ToolListChangedNotification,
            types.PromptListChangedNotification,
            types.ResourceListChangedNotification,
        )
        if isinstance(message, lists):
            changed()

    return handler


async def _listen(client: mcp.Client, changed: Callable[[], None]) -> None:
    """Servers of the newer protocol tell changes only to who listens for them."""
    from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

    tools = client.server_capabilities.tools
    if tools is None or not tools.list_changed:
        return
    with suppress(ListenNotSupportedError, SubscriptionLost, TimeoutError, _mcp_error()):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                changed()


def _mcp_error() -> type[Exception]:
    import mcp

    return mcp.MCPError


def told(error: mcp.MCPError, tracked: Tracked | None) -> str:
    """An error of the protocol in words; with the HTTP status, where there is a bad one."""
    status = tracked.problem() if tracked is not None else ""
    return status or f"The server answered with an error: {error.message} (code {error.code})"


def _not_begun(
    error: BaseException, tracked: Tracked | None, process: ServerProcess | None
) -> Exception:
    """Why there is no connection; the transports raise groups of anything."""
    import mcp
    from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if process is not None and process.quiet.is_set():
        return ToolError(process.told_end())
    if isinstance(error, mcp.MCPError):
        other = error.code in (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)
        kind = OtherVersion if other else ToolError
        return kind(told(error, tracked))
    if isinstance(error, RuntimeError):
        return OtherVersion(str(error))
    text = " ".join(str(error).split())[:300]
    return ToolError(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _first_problem(error: Any) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    where = ".".join(str(part) for part in found[0]["loc"][:6]) if found else ""
    return f"{where}: {found[0]['msg']}" if found else "not readable"
