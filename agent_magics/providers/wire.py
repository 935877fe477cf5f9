"""A request as the chat-completions protocol writes it: our values to JSON values. Pure.

Owns roles, content, tool schemas, ids and names on the wire, and where a `Profile` asks for
another form. The same value always gives the same JSON, so that a request begins with the bytes
of the one before. Knows no client and no connection; `bodies` makes the bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agent_magics.context import sent_text
from agent_magics.messages import (
    JSON,
    Assistant,
    Conversation,
    Image,
    Message,
    ToolCall,
    ToolResult,
    User,
)
from agent_magics.ports import Request
from agent_magics.providers.arguments import is_object
from agent_magics.providers.profiles import Profile
from agent_magics.tool import Tool

RESERVED = frozenset(("model", "messages", "stream", "stream_options", "tools", "tool_choice", "n"))
"""Fields of a request that `Request.options` cannot set: they are ours."""

_LIMITS = ("max_tokens", "max_completion_tokens")
_REASONING = frozenset(("reasoning_content", "reasoning", "reasoning_text", "thinking"))
_TAKEN = frozenset(("role", "content", "tool_calls"))
_UNSIGNING = re.compile(r"gemini-[12]\b|gemma")
"""Models of Google's that ask for no signature."""
_UNSIGNED: JSON = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Stands where Gemini wants a signature and another model made the call; Google's own word for it
(ai.google.dev, "Thought signatures")."""
READ = "I have read the results."
"""Stands between results and a prompt for servers that want an answer there."""


def settings(request: Request, model: str, profile: Profile, *, stream: bool) -> dict[str, JSON]:
    """Every field of a request but `messages`, in an order that never changes."""
    fields: dict[str, JSON] = {"model": model}
    if stream:
        fields["stream"] = True
        if profile.stream_options:
            fields["stream_options"] = {"include_usage": True}
    fields.update(_tool_fields(request, profile))
    if (limit := output_limit(request)) is not None and profile.max_tokens not in profile.without:
        fields[profile.max_tokens] = limit
    for name in sorted(request.options):
        if name not in RESERVED and name not in _LIMITS and name not in profile.without:
            fields[name] = request.options[name]
    return fields


def output_limit(request: Request) -> int | None:
    """The limit on the answer, in tokens, that a request asks for."""
    if request.max_output is not None:
        return request.max_output
    given = (request.options.get(name) for name in _LIMITS)
    return next((int(value) for value in given if isinstance(value, int)), None)


def _tool_fields(request: Request, profile: Profile) -> dict[str, JSON]:
    refuse_calls = request.tool_choice == "none"
    offered = profile.tools and request.tools and (profile.tool_choice_none or not refuse_calls)
    if not offered:
        has_calls = any(isinstance(m, Assistant) and m.calls for m in request.conversation)
        return {"tools": []} if profile.tools_needed and has_calls else {}
    fields: dict[str, JSON] = {"tools": [tool_schema(tool, profile) for tool in request.tools]}
    if refuse_calls:
        fields["tool_choice"] = "none"
    return fields


def tool_schema(tool: Tool, profile: Profile) -> JSON:
    """A tool as the request offers it."""
    parameters: JSON = tool.parameters or {"type": "object", "properties": {}}
    if profile.without_schema:
        parameters = _without(parameters, profile.without_schema)
    function: dict[str, JSON] = {
        "name": wire_name(tool.name, profile),
        "description": tool.description,
        "parameters": parameters,
    }
    if profile.strict and _qualifies(parameters):
        function["strict"] = True
    return {"type": "function", "function": function}


def sent_names(tools: Sequence[Tool], profile: Profile) -> Mapping[str, str]:
    """Names as they are sent to the tools' names, where the two differ."""
    pairs = ((wire_name(tool.name, profile), tool.name) for tool in tools)
    return {sent: name for sent, name in pairs if sent != name}


def wire_name(name: str, profile: Profile) -> str:
    """A tool's name in letters that every server takes, cut to the length that this one takes."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "unknown"
    if len(plain) <= profile.name_length:
        return plain
    return f"{plain[: profile.name_length - 7]}_{_digest(name)[:6]}"


def wire_id(call_id: str, profile: Profile) -> str:
    """A call's id in the form that the server takes."""
    if profile.call_ids == "nine":
        fits = re.fullmatch(r"[A-Za-z0-9]{9}", call_id)
        return call_id if fits else _digest(call_id)[:9]
    if profile.call_ids == "plain":
        fits = re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id)
        return call_id if fits else f"call_{_digest(call_id)[:9]}"
    return call_id


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


# --- messages --------------------------------------------------------------------------------


def first_message(system: str, profile: Profile) -> JSON:
    """The system prompt as a message."""
    return {"role": profile.system_role, "content": system}


def wire_message(message: Message, model: str, profile: Profile) -> JSON:
    """One message; depends on nothing but itself, so its JSON can be kept.

    Args:
        message: Of the conversation. Images of results come in a message of their own.
        model: Who is asked; what only another model understands is left out.
        profile: What the endpoint takes.
    """
    match message:
        case User():
            text = sent_text(message)
            return {"role": "user", "content": _user_content(text, message.images, profile)}
        case ToolResult():
            return {
                "role": "tool",
                "tool_call_id": wire_id(message.call_id, profile),
                "content": message.text or "(no output)",
            }
        case Assistant():
            return _assistant(message, model, profile)


def _assistant(message: Assistant, model: str, profile: Profile) -> JSON:
    same = message.model == model
    content: JSON = message.text
    if not content:
        content = "(no text)" if not message.calls else "" if profile.empty_content else None
    fields: dict[str, JSON] = {"role": "assistant", "content": content}
    if message.calls:
        calls = [_call(call, profile, same=same) for call in message.calls]
        if profile.signed_calls and not _UNSIGNING.search(model):
            calls[0].setdefault("extra_content", _UNSIGNED)
        fields["tool_calls"] = calls
    if same:
        # Reasoning goes back where a server insists on it: with calls. Some refuse it elsewhere.
        left_out = _TAKEN if message.calls else _TAKEN | _REASONING
        echoed = _echoed(message.extra, profile)
        fields.update({name: value for name, value in echoed.items() if name not in left_out})
    if profile.reasoning_needed:
        fields.setdefault(profile.reasoning_needed, "")
    return fields


def _call(call: ToolCall, profile: Profile, *, same: bool) -> dict[str, JSON]:
    """A call as the history shows it; with the provider's own fields for the model that made it."""
    return {
        "id": wire_id(call.id, profile),
        "type": "function",
        "function": {
            "name": wire_name(call.name, profile),
            "arguments": call.arguments if is_object(call.arguments) else "{}",
            **(_echoed(call.extra.get("function") or {}, profile) if same else {}),
        },
        **(_echoed(call.extra, profile) if same else {}),
    }


def _echoed(extra: Mapping[str, JSON], profile: Profile) -> dict[str, JSON]:
    taken = profile.without | {"function", "id", "type", "name", "arguments"}
    back = profile.echoes
    return {
        name: value
        for name, value in extra.items()
        if name not in taken and ("*" in back or name in back)
    }


def _user_content(text: str, images: Sequence[Image], profile: Profile) -> JSON:
    if not images:
        return text
    if not profile.images:
        return f"{text}\n\n({len(images)} image(s) left out: this model takes none.)"
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:{i.media_type};base64,{i.data}"}}
        for i in images
    ]
    return [{"type": "text", "text": text}, *pictures]


def pictures_of(results: Iterable[ToolResult]) -> User | None:
    """The prompt that carries the images of results, which no result can carry itself."""
    images = tuple(image for result in results for image in result.images)
    return User("The image(s) that the calls above returned:", images) if images else None


def in_order(conversation: Conversation, nudge: str) -> Iterator[Message]:
    """The messages as they are sent: images after the last result of a message's calls."""
    results: list[ToolResult] = []
    for message in conversation:
        if not isinstance(message, ToolResult) and results:
            if pictures := pictures_of(results):
                yield pictures
            results.clear()
        if isinstance(message, ToolResult):
            results.append(message)
        yield message
    if pictures := pictures_of(results):
        yield pictures
    if nudge:
        yield User(nudge)


def rearranged(messages: Sequence[JSON], profile: Profile) -> list[JSON]:
    """The messages in the order of roles that a strict server wants."""
    result: list[JSON] = []
    for message in messages:
        last = result[-1] if result else None
        if last is not None and message["role"] == "user":
            if last["role"] == "tool" and profile.answer_after_results:
                result.append({"role": "assistant", "content": READ})
            elif last["role"] == "user":
                result[-1] = {**last, "content": _joined(last["content"], message["content"])}
                continue
        result.append(message)
    return result


def _joined(first: JSON, second: JSON) -> JSON:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    parts = ([{"type": "text", "text": c}] if isinstance(c, str) else c for c in (first, second))
    return [part for content in parts for part in content]


# --- schemas ---------------------------------------------------------------------------------


def _without(schema: JSON, keywords: frozenset[str]) -> JSON:
    """A JSON Schema without some keywords; properties that are called like one stay."""
    if isinstance(schema, list):
        return [_without(part, keywords) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: (
            {name: _without(part, keywords) for name, part in value.items()}
            if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping)
            else _without(value, keywords)
        )
        for key, value in schema.items()
        if key.lower() not in keywords
    }


def _qualifies(schema: Mapping[str, Any]) -> bool:
    """Whether a schema fits the `strict` mode: closed objects, everything required."""
    if schema.get("type") != "object":
        return True
    properties = schema.get("properties") or {}
    closed = schema.get("additionalProperties") is False
    required = set(schema.get("required") or ()) == set(properties)
    inner = (part for part in properties.values() if isinstance(part, Mapping))
    return closed and required and all(_qualifies(part) for part in inner)
