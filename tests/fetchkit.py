"""A small web on loopback, and the tool `fetch` in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.tool import Tool, ToolOutput
from agent_magics.tools import builtin_tools
from agent_magics.tools.checking import check
from agent_magics.tools.discretion import discreet
from agent_magics.tools.web.getting import Bounds, Way
from agent_magics.tools.web.pages import Web
from agent_magics.tools.workspace import Workspace
from tests.listening import Listener

SECRET = "MY_API_KEY=sk-verysecretvalue123"
Reply = bytes | Callable[[socket.socket, threading.Event], None]


def reply(
    body: bytes | str = b"",
    kind: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    **headers: str,
) -> bytes:
    """An answer as it goes over the wire."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode() + data


def moved(where: str, status: str = "302 Found") -> bytes:
    """An answer that leads elsewhere."""
    return reply(b"", "", status, Location=where)


def values(head: str, name: str) -> list[str]:
    """The values of a header in the head of a request."""
    pairs = [line.partition(": ") for line in head.split("\r\n")[1:]]
    return [value for key, _, value in pairs if key.lower() == name.lower()]


class Site:
    """`with Site({"/": reply("…")}) as site:` answers until the block ends."""

    def __init__(self, routes: Mapping[str, Reply], tls: ssl.SSLContext | None = None) -> None:
        self.routes = dict(routes)
        self.heads: list[str] = []
        self._tls = tls
        self._listener = Listener(self._serve)
        self.port = self._listener.port

    def __enter__(self) -> Site:
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.stop()

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [head.split(" ")[1] for head in self.heads]

    def header(self, name: str, index: int = -1) -> list[str]:
        """The values of a header of a request."""
        return values(self.heads[index], name)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            try:
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    head += piece
                raw, _, body = head.partition(b"\r\n\r\n")
                text = raw.decode("latin-1")
                self.heads.append(text)
                # What is left unread when a connection is closed resets it, and the answer is lost.
                sizes = values(text, "Content-Length")
                while sizes and len(body) < int(sizes[0]) and (piece := connection.recv(65536)):
                    body += piece
                path = text.split(" ")[1].partition("?")[0]
                answer = self.routes.get(path, reply("nothing here", status="404 Not Found"))
                if callable(answer):
                    answer(connection, self._listener.ended)
                else:
                    connection.sendall(answer)
            finally:
                connection.close()


@dataclass
class Names:
    """A name server of one's own: each name's answers, one after the other; the last one stays."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int):
        self.asked.append(host)
        left = self.answers.get(host, [()])
        found = left.pop(0) if len(left) > 1 else left[0]
        return [ipaddress.ip_address(address) for address in found]


class Fetcher:
    """The tool with a web that consists of what a test opens, used as the loop uses it."""

    def __init__(
        self,
        *opened: str,
        answers: Mapping[str, Sequence[str]] | None = None,
        bounds: Bounds | None = None,
        proxies: Mapping[str, str] | None = None,
        trust: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self.names = Names({name: [found] for name, found in (answers or {}).items()})
        pairs = (entry.rpartition(":") for entry in opened)
        allowed = frozenset((host.strip("[]"), int(port)) for host, _, port in pairs)
        self.now = 0.0

        def way(given: Way) -> Way:
            return replace(given, trust=trust)

        self.web = Web(
            lambda: allowed,
            lambda: proxies or {},
            self.names,
            bounds or Bounds(),
            way,
            lambda: self.now,
            lambda: datetime(2026, 11, 30, 16, 5, tzinfo=UTC),
        )
        self.workspace = Workspace(Path.cwd, secrets=lambda: [SECRET])

    @property
    def tool(self) -> Tool:
        tools = builtin_tools(self.workspace, web=self.web)
        tool = next(tool for tool in tools if tool.name == "fetch")
        return discreet(tool, self.workspace.redactor)

    def run(self, url: str, **arguments: object) -> ToolOutput:
        given = {"url": url, **arguments}
        assert not check(self.tool.parameters, given)
        return asyncio.run(self.tool.run(given, lambda _: None))

    def text(self, url: str, **arguments: object) -> str:
        return self.run(url, **arguments).text

    def refusal(self, url: str, **arguments: object) -> str:
        with pytest.raises(ToolError) as caught:
            self.run(url, **arguments)
        return str(caught.value)

    def body(self, url: str, **arguments: object) -> str:
        """The text between the fences."""
        text = self.text(url, **arguments)
        return text.partition(">\n")[2].rpartition("\n</web_page>")[0]
