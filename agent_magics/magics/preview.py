"""`%%agent --preview`: exactly what would be sent, with sizes, and nothing is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent_magics.context import estimated_tokens, sent_text
from agent_magics.magics.views import View, pairs_view
from agent_magics.messages import Assistant, Attachment, Conversation, Message, ToolResult, User
from agent_magics.tool import Tool


def preview_view(
    system: str,
    conversation: Conversation,
    prompt: str,
    tools: Sequence[Tool],
    attachments: tuple[Attachment, ...] = (),
    small: str = "",
) -> View:
    """The request's parts in the order in which a model reads them."""
    offered = [
        {"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools
    ]
    schema = json.dumps(offered, ensure_ascii=False)
    history = "\n\n".join(_said(message) for message in conversation)
    attached = [
        (f"attached: {a.title}", text, text)
        for a in attachments
        for text in [sent_text(User("", (), (a,))).strip()]
    ]
    parts = [
        ("tools", ", ".join(t.name for t in tools) or "none", schema),
        ("system prompt", system, system),
        ("conversation so far", history or "(empty)", history),
        *attached,
        ("prompt", prompt, prompt),
    ]
    total = sum(estimated_tokens(whole) for _, _, whole in parts)
    pairs = [
        (f"{name} (about {estimated_tokens(whole)} tokens)", shown) for name, shown, whole in parts
    ]
    if small:
        pairs.insert(0, ("small model", small))
    return pairs_view(f"Preview: about {total} tokens; nothing was sent", pairs)


def _said(message: Message) -> str:
    match message:
        case User():
            return f"person: {sent_text(message)}"
        case Assistant(text, calls):
            asked = "".join(f"\ncalls {call.name} {call.arguments}" for call in calls)
            return f"assistant: {text}{asked}"
        case ToolResult(_, text):
            return f"result: {text}"
