"""What the SDK's objects hold, as our own values. Knows their fields, imports nothing of theirs."""

from __future__ import annotations

from typing import Any

from agent_magics.tools.mcp.values import (
    OfferedPrompt,
    OfferedResource,
    OfferedTool,
    Part,
    Reply,
)

_HINTS = (
    ("read_only_hint", True, "only reads"),
    ("destructive_hint", True, "may destroy"),
    ("idempotent_hint", True, "the same when repeated"),
    ("open_world_hint", True, "reaches other systems"),
)
"""Fields of a tool's annotations, what they must say to be shown, and the words for it."""


def listed_tool(item: Any) -> OfferedTool:
    """A tool of a list."""
    hints = item.annotations
    said = tuple(words for name, value, words in _HINTS if getattr(hints, name, None) is value)
    title = item.title or getattr(hints, "title", None) or ""
    return OfferedTool(item.name, title, item.description or "", item.input_schema, said)


def listed_prompt(item: Any) -> OfferedPrompt:
    """A prompt of a list."""
    arguments = tuple((a.name, bool(a.required)) for a in item.arguments or ())
    return OfferedPrompt(item.name, item.description or item.title or "", arguments)


def listed_resource(item: Any) -> OfferedResource:
    """A resource, or a template of such."""
    template = getattr(item, "uri_template", None)
    return OfferedResource(
        str(template or item.uri),
        item.name,
        item.description or item.title or "",
        item.mime_type or "",
        template is not None,
    )


def reply(result: Any) -> Reply:
    """The answer to a call, a prompt or a resource."""
    if hasattr(result, "contents"):
        return Reply(tuple(_contents(item) for item in result.contents))
    if hasattr(result, "messages"):
        return Reply(tuple(_part(message.content) for message in result.messages))
    return Reply(
        tuple(_part(item) for item in result.content),
        result.structured_content,
        not result.is_error,
    )


def _part(item: Any) -> Part:
    match item.type:
        case "text":
            return Part("text", item.text)
        case "image" | "audio":
            return Part(item.type, data=item.data, media_type=item.mime_type)
        case "resource":
            return _contents(item.resource)
        case _:
            text = " ".join(filter(None, (item.title or item.name, item.description)))
            return Part("link", text, media_type=item.mime_type or "", uri=str(item.uri))


def _contents(item: Any) -> Part:
    kind = item.mime_type or ""
    if hasattr(item, "text"):
        return Part("text", item.text, media_type=kind, uri=str(item.uri))
    if kind.startswith("image/"):
        return Part("image", data=item.blob, media_type=kind, uri=str(item.uri))
    return Part("blob", data=item.blob, media_type=kind, uri=str(item.uri))
