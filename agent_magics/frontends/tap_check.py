"""The tap's self-test: are messages told apart in this kernel, and do they arrive as they are?

Made with messages that are sent nowhere. Knows of the tap only how it takes them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias

Message: TypeAlias = Mapping[str, Any]
"""A deserialised Jupyter message."""

Receiver: TypeAlias = Callable[[Message], None]
"""Takes a message of a watched comm. Called on the thread that owns the shell stream: hand it on
and return. Whoever handles the message does so inside `CommTap.answering`."""


def check(
    kernel: Any,
    watched: MutableMapping[str, Receiver],
    take: Callable[[Sequence[Any]], bool],
) -> None:
    """Try every kind of message.

    Args:
        kernel: Whose session signs and reads them.
        watched: Receivers by comm; is as it was afterwards.
        take: Says whether a message was taken off the channel.

    Raises:
        ValueError: What is wrong, in a few words.
    """
    ours, other = uuid.uuid4().hex, uuid.uuid4().hex
    seen: list[Message] = []
    watched[ours] = seen.append
    try:
        for kind in ("comm_msg", "comm_close"):
            if not take(_frames(kernel, kind, ours)):
                raise ValueError("a widget's message is not recognised")
        for kind, comm_id in (("comm_msg", other), ("execute_request", ours)):
            if take(_frames(kernel, kind, comm_id)):
                raise ValueError("a foreign message is taken for a widget's")
    finally:
        del watched[ours]
    if [message["content"]["comm_id"] for message in seen] != [ours, ours]:
        raise ValueError("a widget's message arrives changed")


def _frames(kernel: Any, kind: str, comm_id: str) -> list[Any]:
    import zmq

    message = kernel.session.msg(kind, content={"comm_id": comm_id, "data": {}})
    return [zmq.Frame(part) for part in kernel.session.serialize(message, ident=[b"test"])]
