"""All addresses of a host, by the system's resolver, without holding up an interrupt."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from agent_magics.tools.web.urls import IP

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[IP]]]
"""All addresses of a host, in the order in which to try them; none: there is no such host."""


async def system_addresses(host: str, port: int) -> Sequence[IP]:
    """What this machine's resolver says.

    In a daemon thread of its own: a resolver that hangs must hold up neither an interrupt nor the
    end of the cell's event loop, which waits for the threads of its pool.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[tuple[IP, ...]] = loop.create_future()

    def settle(found: tuple[IP, ...]) -> None:
        if not answer.done():
            answer.set_result(found)

    def look() -> None:
        found = _found(host, port)
        # The cell may have ended meanwhile, and its loop with it.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=look, name="agent_magics-resolver", daemon=True).start()
    return await answer


def _found(host: str, port: int) -> tuple[IP, ...]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(ipaddress.ip_address(info[4][0]) for info in infos)
