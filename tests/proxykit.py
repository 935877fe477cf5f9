"""A proxy on loopback that works, or fails in one of the ways in which proxies do."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from typing import Literal

from tests.listening import Listener

Way = Literal["works", "wants a password", "refuses", "hangs", "cuts", "cuts later"]


class Proxy:
    """`with Proxy("works", target) as proxy:` stands between a client and whoever it asks for.

    Args:
        way: What it does.
        target: The port on loopback that every tunnel leads to, whatever name was asked for.
    """

    def __init__(self, way: Way, target: int = 0) -> None:
        self.way = way
        self.heads: list[str] = []
        self._target = target
        self._listener = Listener(self._serve)
        self.port = self._listener.port

    def __enter__(self) -> Proxy:
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.stop()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def passwords(self) -> list[str]:
        """What clients gave as user and password."""
        found = []
        for head in self.heads:
            for line in head.split("\r\n"):
                name, _, value = line.partition(": ")
                if name.lower() == "proxy-authorization":
                    found.append(base64.b64decode(value.removeprefix("Basic ")).decode())
        return found

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            self.heads.append(head.decode("latin-1"))
            match self.way:
                case "wants a password":
                    client.sendall(
                        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: "
                        b'Basic realm="x"\r\nContent-Length: 0\r\n\r\n'
                    )
                case "refuses":
                    client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                case "hangs":
                    self._listener.ended.wait(30)
                case "cuts":
                    return
                case _:
                    self._tunnel(client, head)

    def _tunnel(self, client: socket.socket, head: bytes) -> None:
        with socket.create_connection(("127.0.0.1", self._target), 5) as server:
            # The time-out was for the connection alone: an answer may take longer.
            server.settimeout(None)
            if head.startswith(b"CONNECT"):
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                if self.way == "cuts later":
                    client.recv(65536)
                    return
            else:
                server.sendall(head)
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(10)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    # Also after a reset: who waits at the other end must not wait for ever.
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
