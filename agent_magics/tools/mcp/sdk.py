"""The official SDK, and no other module imports it: a connection to one server, in our own values.

`mcp` is an extra: without it, the message says what to install. Owns how the SDK is set up (what a
server may ask of us, what is read of an HTTP answer) and what its errors mean. When a server is
started, restarted or given up is the business of `connection`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agent_magics.errors import ConfigError, ToolError
from agent_magics.importing import installed_only
from agent_magics.tools.mcp.http import Tracked, http_client
from agent_magics.tools.mcp.link import Asked, Link, Meaning, ServerGone, ServerSaid
from agent_magics.tools.mcp.mending import mended
from agent_magics.tools.mcp.pipes import LONGEST, ServerProcess
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.mcp.transport import Mending, Wire, piped
from agent_magics.tools.mcp.values import Elicit, Elicitation

if TYPE_CHECKING:
    import mcp
    import mcp_types

MOST_SAID = 500
"""Characters of a server's error that are passed on."""
_SDKS_OWN = ("Server returned an error response", "Not Found", "Session terminated")
"""What the SDK says where it only knows the status."""
NO_SDK = (
    "MCP servers need the package mcp, version 2 or newer: %pip install 'agent_magics[mcp]', then "
    "restart the kernel"
)


Mode: TypeAlias = Literal["legacy", "auto"]
"""Begin with the handshake of the versions until 2025, or ask first which versions there are."""


class OtherVersion(ToolError):
    """The server does not speak the versions of the protocol that it was spoken to in."""


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
            cause = _first_cause(error)
            if process is not None and _is_end(cause):
                await process.last_breath()
            raise _not_begun(cause, tracked, process) from error
        listening = asyncio.create_task(_listen(client, asked.changed))
        gone = process.quiet if process is not None else asyncio.Event()
        how = process.told_end if process is not None else _session_over
        try:
            yield Link(client, _meaning(tracked), gone, how)
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


def _session_over() -> str:
    return "its session ended"


def _meaning(tracked: Tracked | None) -> Meaning:
    """What the SDK's errors mean for a call."""
    import mcp
    from mcp_types import CONNECTION_CLOSED
    from pydantic import ValidationError

    def meaning(error: Exception) -> Exception:
        match error:
            case mcp.MCPError():
                ended = error.code == CONNECTION_CLOSED or error.message == "Session terminated"
                return (ServerGone if ended else ServerSaid)(told(error, tracked))
            case ValidationError():
                first = _first_problem(error)
                return ServerSaid(f"The server's answer breaks the protocol ({first}).")
            case RuntimeError():
                return ServerSaid(f"The server's answer cannot be used: {error}")
            case _:
                return error

    return meaning


def told(error: mcp.MCPError, tracked: Tracked | None) -> str:
    """An error of the protocol in words; with the HTTP status, where there is a bad one."""
    said = " ".join(error.message.split())[:MOST_SAID]
    status = tracked.problem() if tracked is not None else ""
    if not status:
        return f"The server answered with an error: {said} (code {error.code})"
    return status if said in _SDKS_OWN or "not followed" in said else f"{status} ({said})"


def _first_cause(error: BaseException) -> BaseException:
    """What is behind the groups of anything that the transports raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_end(error: BaseException) -> bool:
    """Whether it may come of a server that ended, and so is not what a person should read."""
    import mcp
    from mcp_types import CONNECTION_CLOSED

    if isinstance(error, mcp.MCPError):
        return bool(error.code == CONNECTION_CLOSED)
    return not isinstance(error, RuntimeError)


def _not_begun(
    error: BaseException, tracked: Tracked | None, process: ServerProcess | None
) -> Exception:
    """Why there is no connection."""
    import mcp
    from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

    if process is not None and (process.quiet.is_set() or process.status is not None):
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
