"""Tools for servers that take none: described in words, calls and results as plain text. Pure.

Some models come without a tool template, some servers without a parser for it, and both refuse a
request that offers tools. The model is then told in the system prompt how to write a call, which
`written` recognises; what was called before stands in the history in the same form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_magics.context import sent_text
from agent_magics.messages import Assistant, Conversation, Image, Message, ToolResult, User
from agent_magics.ports import Request
from agent_magics.tool import Tool

_HOW = """\
You can call tools. To call one, end your message with a block like this and write nothing after it:

```json
{"name": "TOOL", "arguments": {"NAME": VALUE}}
```

The result comes back in the next message. The tools:
"""


def in_words(request: Request) -> Request:
    """The same request for a server that takes no tools."""
    system = request.system
    if request.tools and request.tool_choice != "none":
        described = "\n".join(_described(tool) for tool in request.tools)
        system = f"{system}\n\n{_HOW}{described}".strip()
    return replace(
        request,
        system=system,
        conversation=_plain(request.conversation, request.nudge),
        nudge="",
        tools=(),
    )


def _described(tool: Tool) -> str:
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required") or ()
    names = properties if isinstance(properties, Mapping) else {}
    shown = ", ".join(
        f"{name}{'' if name in required else '?'}: {_type(schema)}"
        for name, schema in names.items()
    )
    return f"- {tool.name}({shown}): {tool.description.strip().splitlines()[0]}"


def _type(schema: object) -> str:
    named = schema.get("type") if isinstance(schema, Mapping) else None
    return named if isinstance(named, str) else "any"


def _plain(conversation: Conversation, nudge: str) -> Conversation:
    """The conversation without a tool call or result in it; a nudge goes with the last prompt."""
    names = {c.id: c.name for m in conversation if isinstance(m, Assistant) for c in m.calls}
    messages: list[Message] = []
    for message in conversation:
        match message:
            case Assistant(calls=calls) if calls:
                blocks = (_block(call.name, call.arguments) for call in calls)
                text = "\n\n".join(part for part in (message.text, *blocks) if part)
                messages.append(Assistant(text, model=message.model))
            case ToolResult(text=text, images=images):
                name = names.get(message.call_id, "a tool")
                _say(messages, f"Result of {name}:\n{text or '(no output)'}", images)
            case User(images=images):
                _say(messages, sent_text(message), images)
            case _:
                messages.append(message)
    if nudge:
        _say(messages, nudge, ())
    return tuple(messages)


def _block(name: str, arguments: str) -> str:
    return f'```json\n{{"name": {json.dumps(name)}, "arguments": {arguments}}}\n```'


def _say(messages: list[Message], text: str, images: Sequence[Image]) -> None:
    """Add to the last prompt, or make one: such servers want the roles to alternate."""
    last = messages[-1] if messages else None
    if isinstance(last, User):
        messages[-1] = User(f"{last.text}\n\n{text}", (*last.images, *images))
    else:
        messages.append(User(text, tuple(images)))
