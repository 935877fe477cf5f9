"""What a server answered, for the model and the person. Pure.

Owns the bounds of an answer and its fence: whatever a server says is data. Text is cut with a
notice, pictures go to models that take them, and of what no model reads kind and size are said.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence

from agent_magics.errors import ToolError
from agent_magics.fencing import fenced
from agent_magics.messages import JSON, Display, Image
from agent_magics.plain import visible
from agent_magics.tool import ToolOutput
from agent_magics.tools.mcp.values import Part, Reply
from agent_magics.tools.pictures import recognised, shown_to_model
from agent_magics.tools.plain import counted, cut, size

BUDGET = 40_000
"""Characters of an answer that the model reads: about ten thousand tokens."""
PICTURES = 8
"""Pictures of one answer that a model sees."""
PARTS = 200
"""Pieces of one answer that are looked at."""
TAG = "mcp_result"


def output(reply: Reply, facts: Mapping[str, str]) -> ToolOutput:
    """An answer as the result of a tool.

    Args:
        reply: Of the server.
        facts: What is known of it, for the opening tag: the server, the tool.
    """
    texts: list[str] = []
    images: list[Image] = []
    notes: list[str] = []
    for part in reply.parts[:PARTS]:
        if part.kind == "image" and len(images) < PICTURES:
            note, image = _picture(part)
            images += [image] if image is not None else []
            notes.append(note)
        elif part.kind == "text":
            texts.append(_text(part))
        else:
            notes.append(_said(part))
    if len(reply.parts) > PARTS:
        notes.append(f"and {counted(len(reply.parts) - PARTS, 'more piece')}, left out")
    texts += _structured(reply.structured, texts)
    body = "\n".join(texts).strip("\n")
    parts = cut(body, BUDGET)
    if parts is not None:
        notes.append(f"the answer has {len(body):,} characters; ask for less to see the rest")
        body = str(parts)
    told = [f"[{note}]" for note in notes]
    if not reply.ok:
        told.insert(0, "[the server says that the call failed]")
    if not body and not notes:
        body = "(an empty answer)"
    fence = [fenced(TAG, body, facts)] if body else []
    # The fence is for the model; on the screen the text stands in a box of its own.
    seen = Display("text", visible("\n".join((*([body] if body else []), *told))))
    return ToolOutput("\n".join((*fence, *told)), (seen,), tuple(images), reply.ok)


def _text(part: Part) -> str:
    if not part.uri:
        return part.text
    return f"--- {visible(part.uri)}\n{part.text}"


def _picture(part: Part) -> tuple[str, Image | None]:
    """The line about a picture, and the picture where it can be sent."""
    try:
        data = base64.b64decode(part.data, validate=False)
    except (binascii.Error, ValueError):
        return "a picture that is not base64, left out", None
    picture = recognised(data)
    if picture is None:
        return f"{_said(part)} (not PNG, JPEG, GIF or WebP)", None
    try:
        line, image = shown_to_model(picture, data, "the picture")
    except ToolError:
        return f"{_said(part)}: it is damaged or too large", None
    return line.strip("[]"), image


def _said(part: Part) -> str:
    """One piece that is not shown, by its kind and size."""
    kind = visible(part.media_type) or "of no known kind"
    where = f" {visible(part.uri)}" if part.uri else ""
    if part.kind == "link":
        name = " ".join(visible(part.text).split())[:200]
        return f"a resource to read:{where} ({name}, {kind})"
    length = len(part.data) * 3 // 4
    names = {"audio": "sound", "image": "a picture"}
    return f"{names.get(part.kind, 'data')}{where}: {kind}, {size(length)}, not shown"


def _structured(value: JSON, texts: Sequence[str]) -> list[str]:
    """What is meant for programs, unless a text says the same."""
    if value is None:
        return []
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value.values())) in texts:
        return []  # so the SDKs wrap what is no object
    for text in texts:
        try:
            if json.loads(text) == value:
                return []
        except ValueError:
            continue
    return [json.dumps(value, ensure_ascii=False, indent=1, default=str)]
