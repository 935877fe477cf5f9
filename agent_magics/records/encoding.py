"""Messages as JSON values and back. Pure.

What is left at its default is not written. Everything that people, models and tools wrote goes
through a function that takes secrets out; the structure around it does not, so that no secret can
make a file unreadable. The person's displays beside a result are kept up to a bound, since no
model ever sees them; what the model saw is kept whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, get_args, get_type_hints

from agent_magics.messages import (
    JSON,
    Assistant,
    Attachment,
    Display,
    Image,
    Message,
    Stop,
    ToolCall,
    ToolResult,
    Usage,
    User,
)

Redact: TypeAlias = Callable[[str], str]

DISPLAY_TEXT = 200_000
"""Characters that are kept of one display's text."""
DISPLAY_DATA = 1_000_000
"""Characters that are kept of one display's bundle: about a figure of 700 kB."""
_USAGE = ("input", "output", "cached", "reasoning", "requests")
_STOPS: frozenset[str] = frozenset(get_args(Stop))
_KINDS: frozenset[str] = frozenset(get_args(get_type_hints(Display)["kind"]))


def encoded(message: Message, redact: Redact = str) -> dict[str, JSON]:
    """A message as a value for `json.dumps`.

    Args:
        message: Any.
        redact: Takes secrets out of a text.
    """
    match message:
        case User(text, images, attached):
            return _kept(
                role="user",
                text=redact(text),
                images=[_image(i) for i in images],
                attached=[{"name": a.name, "text": redact(a.text)} for a in attached],
            )
        case Assistant():
            return _kept(
                role="assistant",
                text=redact(message.text),
                calls=[_call(call, redact) for call in message.calls],
                stop=message.stop if message.stop != "end" else "",
                usage=encoded_usage(message.usage),
                reasoning=redact(message.reasoning),
                extra=_each(message.extra, redact),
                model=redact(message.model),
            )
        case ToolResult(call_id, text, ok, images, display):
            return _kept(
                role="tool",
                call=call_id,
                text=redact(text),
                failed=not ok,
                images=[_image(i) for i in images],
                display=[_display(d, redact) for d in display],
            )


def decoded(value: JSON) -> Message:
    """The message that a value holds; unknown fields are left out.

    Raises:
        ValueError: It holds none.
    """
    fields = _object(value)
    match fields.get("role"):
        case "user":
            return User(text_of(fields, "text"), _images(fields), _attached(fields))
        case "assistant":
            stop = text_of(fields, "stop") or "end"
            return Assistant(
                text_of(fields, "text"),
                tuple(_decoded_call(call) for call in _list(fields, "calls")),
                stop if stop in _STOPS else "end",  # type: ignore[arg-type]  # checked here
                decoded_usage(fields.get("usage", {})),
                text_of(fields, "reasoning"),
                _object(fields.get("extra", {})),
                text_of(fields, "model"),
            )
        case "tool":
            return ToolResult(
                text_of(fields, "call"),
                text_of(fields, "text"),
                not fields.get("failed", False),
                _images(fields),
                tuple(_displays(fields)),
            )
        case role:
            raise ValueError(f"no message has the role {role!r}")


def encoded_usage(usage: Usage) -> dict[str, int]:
    """Counts of tokens without the zeros."""
    return {name: getattr(usage, name) for name in _USAGE if getattr(usage, name)}


def decoded_usage(value: JSON) -> Usage:
    """Counts of tokens; what is no count is zero."""
    fields = _object(value)
    return Usage(*(number if isinstance(number := fields.get(n), int) else 0 for n in _USAGE))


def redacted_arguments(text: str, redact: Redact) -> str:
    """The text of a call's arguments without secrets, still the text of a JSON object.

    A secret may stand in it with JSON's escapes, so the values are looked through, not the text.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redact(text)
    clean = _each(value, redact)
    return text if clean == value else json.dumps(clean, ensure_ascii=False)


def text_of(fields: Mapping[str, JSON], name: str) -> str:
    """A text of an object; empty where there is none.

    Raises:
        ValueError: It is something else.
    """
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _kept(**fields: JSON) -> dict[str, JSON]:
    """What is not at its default; the role and the text always stay."""
    always = ("role", "call", "text")
    return {name: value for name, value in fields.items() if value or name in always}


def _call(call: ToolCall, redact: Redact) -> dict[str, JSON]:
    fields = {
        "id": call.id,
        "name": call.name,
        "arguments": redacted_arguments(call.arguments, redact),
    }
    rest = {
        "extra": _each(call.extra, redact),
        "problem": redact(call.problem),
        "written": call.written,
    }
    return fields | {name: value for name, value in rest.items() if value}


def _decoded_call(value: JSON) -> ToolCall:
    fields = _object(value)
    arguments, problem = text_of(fields, "arguments"), text_of(fields, "problem")
    try:
        sound = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        sound = False
    return ToolCall(
        text_of(fields, "id"),
        text_of(fields, "name"),
        arguments if sound else "{}",
        _object(fields.get("extra", {})),
        problem if sound else problem or "The arguments could not be read from the saved session.",
        bool(fields.get("written", False)),
    )


def _image(image: Image) -> dict[str, str]:
    return {"type": image.media_type, "data": image.data}


def _images(fields: Mapping[str, JSON]) -> tuple[Image, ...]:
    parts = [_object(value) for value in _list(fields, "images")]
    return tuple(Image(text_of(part, "type"), text_of(part, "data")) for part in parts)


def _attached(fields: Mapping[str, JSON]) -> tuple[Attachment, ...]:
    parts = [_object(value) for value in _list(fields, "attached")]
    return tuple(Attachment(text_of(part, "name"), text_of(part, "text")) for part in parts)


def _display(display: Display, redact: Redact) -> dict[str, JSON]:
    text = display.text
    if len(text) > DISPLAY_TEXT:
        text = f"{text[:DISPLAY_TEXT]}\n[… {len(text) - DISPLAY_TEXT:,} characters not saved …]"
    fields = {
        "kind": display.kind,
        "text": redact(text),
        "language": display.language,
        "data": _each(_bounded(display.data), redact),
    }
    return {name: value for name, value in fields.items() if value}


def _bounded(data: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A bundle within the bound, the smallest parts first; what is left out is said as text."""
    kept: dict[str, JSON] = {}
    notes: list[str] = []
    room = DISPLAY_DATA
    for kind, value in sorted(data.items(), key=lambda item: _size(item[1])):
        size = _size(value)
        if size <= room:
            kept[kind] = value
            room -= size
        else:
            notes.append(f"[{kind} of {size:,} characters not saved]")
    if notes:
        kept["text/plain"] = "\n".join([str(kept.get("text/plain", "")), *notes]).strip()
    return kept


def _size(value: JSON) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value, default=str))


def _displays(result: Mapping[str, JSON]) -> Iterator[Display]:
    """What the person saw; a kind of a later version must not cost the result itself."""
    for value in _list(result, "display"):
        fields = _object(value)
        kind = fields.get("kind")
        if kind in _KINDS:
            data = _object(fields.get("data", {}))
            yield Display(kind, text_of(fields, "text"), text_of(fields, "language"), data)


def _each(value: JSON, redact: Redact) -> Any:
    """A JSON value with every text of it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): _each(part, redact) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each(part, redact) for part in value]
    return value


def _object(value: JSON) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise ValueError("no object where one is needed")
    return value


def _list(fields: Mapping[str, JSON], name: str) -> Iterable[JSON]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list")
    return value
