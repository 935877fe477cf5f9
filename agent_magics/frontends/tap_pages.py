"""Read-only requests of a page that loads while a question is open, answered meanwhile.

A page that is (re)loaded asks the kernel who it is, which widgets there are and what they look
like, before it shows any. A kernel whose cell waits for an answer does not reply, so the card
would never come back. These replies change nothing and depend on no cell, so they may overtake.
Knows nothing of cards.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from typing import Any

from agent_magics.frontends.tap import CommTap
from agent_magics.frontends.tap_check import Message

CONTROL = "jupyter.widget.control"
"""The comm target through which a page asks for the state of every widget at once."""

log = logging.getLogger(__name__)


class PageAnswers:
    """Answers pages while it is open. Made in the agent's loop, where widgets are looked at.

    Args:
        tap: Brings the requests.
    """

    def __init__(self, tap: CommTap) -> None:
        self._tap = tap
        self._kernel = tap.kernel
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._comms: list[str] = []
        tap.bystanders.append(self._take)

    def close(self) -> None:
        """Let every message go its usual way again. Harmless twice."""
        if self._take in self._tap.bystanders:
            self._tap.bystanders.remove(self._take)
        for comm_id in self._comms:
            self._tap.unwatch(comm_id)

    def _take(self, idents: list[bytes], message: Message) -> bool:
        """Whether the request is answered here. On the thread of the shell channel."""
        content = message["content"]
        match message["header"]["msg_type"]:
            case "kernel_info_request":
                reply = {"status": "ok", **self._kernel.kernel_info}
                self._reply(idents, message, "kernel_info_reply", reply)
            case "comm_info_request":
                reply = {"status": "ok", "comms": self._comm_infos(content.get("target_name"))}
                self._reply(idents, message, "comm_info_reply", reply)
            case "comm_open" if content.get("target_name") == CONTROL:
                comm_id = content["comm_id"]
                self._comms.append(comm_id)
                self._tap.watch(comm_id, lambda later: self._hand_over("comm_msg", idents, later))
                self._hand_over("comm_open", idents, message)
            case _:
                return False
        return True

    def _reply(self, idents: list[bytes], message: Message, kind: str, content: Any) -> None:
        with self._tap.answering(message):
            session = self._kernel.session
            session.send(self._tap.reply_stream, kind, content, parent=message, ident=idents)

    def _comm_infos(self, target: str | None) -> dict[str, dict[str, str]]:
        manager = getattr(self._kernel, "comm_manager", None)
        comms = dict(manager.comms) if manager is not None else {}
        return {
            comm_id: {"target_name": comm.target_name}
            for comm_id, comm in comms.items()
            if target is None or comm.target_name == target
        }

    def _hand_over(self, handler: str, idents: list[bytes], message: Message) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            self._loop.call_soon_threadsafe(
                self._handle, handler, idents, message, context=self._context
            )

    def _handle(self, handler: str, idents: list[bytes], message: Message) -> None:
        with self._tap.answering(message):
            try:
                manager = self._kernel.comm_manager
                if handler == "comm_msg":
                    # Not manager.comm_msg: that runs the hooks of a cell that starts and ends.
                    comm = manager.get_comm(message["content"]["comm_id"])
                    if comm is not None and comm._msg_callback:
                        comm._msg_callback(message)
                else:
                    manager.comm_open(None, idents, message)
            except Exception:
                # A page that gets no states asks for each widget by itself.
                log.debug("a page's request failed", exc_info=True)
