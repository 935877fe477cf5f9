"""The bytes of a request, each message written once for as long as it stays the same.

A session's tenth request repeats nine tenths of the one before. Writing JSON anew each time makes
a turn's cost grow with the session; so each message's bytes are kept for as long as the message is
in the conversation. Owns that memory and the layout of the body (`messages` last, so that each
body begins with the bytes of the one before). What is written is `wire`'s business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from agent_magics.messages import JSON, Message
from agent_magics.ports import Request
from agent_magics.providers import wire
from agent_magics.providers.profiles import Profile
from agent_magics.providers.prompted import in_words


class BodyWriter:
    """Writes the requests of one conversation after the other.

    Args:
        model: The model's name.
    """

    __slots__ = ("_kept", "_model")

    def __init__(self, model: str) -> None:
        self._model = model
        # One value, exchanged as a whole: two threads may write at the same time.
        self._kept: tuple[Profile, dict[int, tuple[Message, bytes]]] = (Profile(), {})

    def write(self, request: Request, profile: Profile, *, stream: bool) -> bytes:
        """The body of a request, in UTF-8; lone surrogates become `?`."""
        if request.words or not profile.tools:
            request = in_words(request)
        head = encoded(wire.settings(request, self._model, profile, stream=stream))
        messages = self._messages(request, profile)
        return b'%s,"messages":[%s]}' % (head[:-1], b",".join(messages))

    def _messages(self, request: Request, profile: Profile) -> list[bytes]:
        first = [wire.first_message(request.system, profile)] if request.system else []
        ordered = wire.in_order(request.conversation, request.nudge)
        if profile.alternate or profile.answer_after_results or profile.system_role == "user":
            plain = [wire.wire_message(message, self._model, profile) for message in ordered]
            return [encoded(m) for m in wire.rearranged([*first, *plain], profile)]
        written_for, written = self._kept
        if written_for != profile:
            written = {}
        kept: dict[int, tuple[Message, bytes]] = {}
        pieces = [encoded(message) for message in first]
        for message in ordered:
            known = written.get(id(message))
            if known is None or known[0] is not message:
                known = (message, encoded(wire.wire_message(message, self._model, profile)))
            kept[id(message)] = known
            pieces.append(known[1])
        self._kept = (profile, kept)
        return pieces


def encoded(value: JSON) -> bytes:
    """JSON in UTF-8, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def fields_of(body: bytes) -> frozenset[str]:
    """The names of everything that a body holds, for `lessons` to know what was sent.

    Lower-case keywords of schemas stand beside the fields of the request and of its messages;
    `null content` stands for an answer without text.
    """
    value = json.loads(body)
    names = set(value)
    for message in value["messages"]:
        names.update(message)
        if message["content"] is None:
            names.add("null content")
        if isinstance(message["content"], list):
            names.update(part["type"] for part in message["content"])
        for call in message.get("tool_calls") or ():
            names.update(call, call["function"])
    for tool in value.get("tools") or ():
        names.update(_keywords(tool["function"]["parameters"]))
    return frozenset(names)


def _keywords(schema: JSON) -> set[str]:
    names: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            names.update(key.lower() for key in part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return names
