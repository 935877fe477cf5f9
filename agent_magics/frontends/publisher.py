"""Messages of one cell to its front end, from any thread, always with the cell's own parent.

Owns how a bundle travels. What `display()` publishes from another thread lands in whichever cell
runs at that time, or in none, depending on the kernel's version; a message that carries the saved
parent header lands in its own cell on all of them. Knows nothing of what is shown.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from typing import Any

from agent_magics.messages import JSON

Bundle = Mapping[str, JSON]
"""MIME type to content."""


class CellOutput:
    """The output area of the cell that runs when this is made.

    Args:
        kernel: An `ipykernel` kernel.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.parent: Mapping[str, Any] = dict(kernel.get_parent() or {})
        # Session.send builds the message from a counter that is not safe between threads.
        self._lock = threading.Lock()

    @property
    def client(self) -> str:
        """The front end's own session: another page, or the page after a reload, has another."""
        header = self.parent.get("header") or {}
        return str(header.get("session") or "")

    def show(self, bundle: Bundle, metadata: Bundle | None = None, *, slot: str = "") -> str:
        """Add an output.

        Args:
            bundle: What is shown.
            metadata: The output's metadata.
            slot: The display id to use; empty: a new one.

        Returns:
            The display id, for `replace`.
        """
        slot = slot or uuid.uuid4().hex
        self._display("display_data", bundle, metadata, slot)
        return slot

    def replace(self, slot: str, bundle: Bundle, metadata: Bundle | None = None) -> None:
        """Change an output in place."""
        self._display("update_display_data", bundle, metadata, slot)

    def text(self, text: str, stream: str = "stdout") -> None:
        """Print, as `print` would."""
        self._send("stream", {"name": stream, "text": text})

    def _display(self, kind: str, bundle: Bundle, metadata: Bundle | None, slot: str) -> None:
        content = {
            "data": dict(bundle),
            "metadata": dict(metadata or {}),
            "transient": {"display_id": slot},
        }
        self._send(kind, content)

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        kernel = self._kernel
        with self._lock:
            kernel.session.send(
                kernel.iopub_socket,
                kind,
                _sendable(content),
                parent=self.parent,
                ident=kernel._topic(kind),
            )


def _sendable(value: Any) -> Any:
    """The value with every text in it fit for UTF-8.

    A file name that is no valid text carries lone surrogates; a message with one breaks the front
    end's connection rather than one output.
    """
    match value:
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return value.encode(errors="backslashreplace").decode()
            return value
        case Mapping():
            return {_sendable(key): _sendable(item) for key, item in value.items()}
        case list() | tuple():
            return [_sendable(item) for item in value]
        case _:
            return value
