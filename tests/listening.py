"""A socket on loopback that hands each connection to a function, on a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable


class Listener:
    """`start` and `stop` bound its life; what it makes of a connection is its owner's business.

    Args:
        serve: Takes one connection, and closes it.
    """

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self.ended = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def start(self) -> None:
        """Take connections from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more; `ended` says so to connections that are open."""
        self.ended.set()
        # Wakes the thread up.
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        self._thread.join(10)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self.ended.is_set():
                connection.close()
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
