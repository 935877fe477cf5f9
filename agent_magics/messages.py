"""The conversation as values: who said what, which calls were made, what came back.

Owns the one invariant everything else leans on: a conversation that is handed to a model is
*closed*, i.e. each tool call has exactly one result, in the order of the calls, and the last
word before a new prompt is the assistant's. Deliberately knows no wire format and no provider.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any
"""A value that `json.dumps` takes."""

Stop: TypeAlias = Literal["end", "calls", "length", "filter", "refusal", "cut"]
"""Why an assistant message ended.

`length`: at the output limit. `cut`: the stream broke off, or a person stopped it.
"""


LONGEST_ID = 40
"""Characters of a call's id: OpenAI refuses longer ones."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that take them.

    Args:
        media_type: For example `image/png`.
        data: The bytes in base64.
    """

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests; zero where the server did not say."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.requests + other.requests,
        )


@dataclass(frozen=True, slots=True)
class Attachment:
    """What the notebook puts beside a prompt for the model to read: data, never instructions.

    Args:
        title: What it is, in a few words, for the model and the person.
        text: Anything; it is fenced where it is sent, see `context.sent_text`.
    """

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class User:
    """What a person (or the program in their name) said.

    Args:
        text: Their own words, byte for byte.
        images: For models that take them.
        attachments: Sent before the text, in this order.
    """

    text: str
    images: tuple[Image, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for.

    Args:
        id: Not empty, unique in the conversation.
        name: The tool's name as the model wrote it.
        arguments: The text of a JSON object, always; see `problem`.
        extra: Fields of the provider that must be sent back with the call, to the same model.
        problem: Why the call cannot be run (arguments that were no JSON object, a cut message);
            empty where it can. The text is the call's result for the model.
        written: Whether the call was found in the model's text rather than in its own field.
    """

    id: str
    name: str
    arguments: str = "{}"
    extra: Mapping[str, JSON] = field(default_factory=dict)
    problem: str = ""
    written: bool = False


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a model said.

    Args:
        text: The visible answer, possibly empty when there are calls.
        calls: In the order in which the model made them.
        stop: Why the message ended.
        usage: Tokens of the request that brought it.
        reasoning: The model's reasoning text, where the server sends it.
        extra: Fields that must be sent back with the message, to the same model only.
        model: The model that said it, as it was asked for.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"
    usage: Usage = Usage()
    reasoning: str = ""
    extra: Mapping[str, JSON] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True, slots=True)
class Display:
    """Something for the person's eyes beside a result's text; the model never sees it.

    Args:
        kind: `text` (terminal output), `diff` (unified diff), `code` (with `language`),
            `bundle` (a MIME bundle made by the user's own code, `data` holds it), `plan` (steps of
            the work, one on a line behind `[ ]`, `[~]` for the active one, `[x]` or `[-]`), `cell`
            (one that is proposed, with `language`), `names` (what code did to the user's variables,
            in one line).
        text: The text to show, whole.
        language: A Pygments lexer name, for `code`.
        data: MIME type to content, for `bundle`; for `names`, lists of name, type and extent under
            `new`, `changed` and `deleted`.
    """

    kind: Literal["text", "diff", "code", "bundle", "plan", "cell", "names"]
    text: str = ""
    language: str = ""
    data: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back from one call.

    Args:
        call_id: The `ToolCall.id` it answers.
        text: What the model reads.
        ok: False for an error, a refusal, an interrupt.
        images: Pictures for models that take them.
        display: What the person sees in place of `text`, if anything.
    """

    call_id: str
    text: str
    ok: bool = True
    images: tuple[Image, ...] = ()
    display: tuple[Display, ...] = ()


Message: TypeAlias = User | Assistant | ToolResult
Conversation: TypeAlias = tuple[Message, ...]


def unanswered(conversation: Conversation) -> tuple[ToolCall, ...]:
    """The calls that have no result yet, in order."""
    answered = {m.call_id for m in conversation if isinstance(m, ToolResult)}
    return tuple(
        call
        for message in conversation
        if isinstance(message, Assistant)
        for call in message.calls
        if call.id not in answered
    )


def closed(conversation: Conversation, reason: str) -> Conversation:
    """The conversation with every open call answered, ending with a word of the assistant.

    Args:
        conversation: As an interrupt, an error or a crash left it.
        reason: Why it stopped, for the model to read ("interrupted by the user").

    Returns:
        A conversation that the next prompt can follow. A closed one comes back as it is.
    """
    waiting = unanswered(conversation)
    result = list(conversation)
    for call in waiting:
        text = f"Not finished: {reason}. Its effects are unknown; check before you rely on them."
        _insert_result(result, call, ToolResult(call.id, text, ok=False))
    if result and not isinstance(result[-1], Assistant):
        result.append(Assistant(f"({reason})", stop="cut"))
    return tuple(result)


def _insert_result(messages: list[Message], call: ToolCall, answer: ToolResult) -> None:
    """Put a result where providers want it: after the results of the calls before it."""
    start = next(i for i, m in enumerate(messages) if isinstance(m, Assistant) and call in m.calls)
    end = start + 1
    while end < len(messages) and isinstance(messages[end], ToolResult):
        end += 1
    messages.insert(end, answer)


def known_ids(conversation: Conversation) -> frozenset[str]:
    """Every call id of the conversation."""
    return frozenset(call.id for m in conversation if isinstance(m, Assistant) for call in m.calls)


def appended(conversation: Conversation, message: Message) -> Conversation:
    """The conversation with one more message.

    An answer that goes on where the one before it was cut becomes one message with it, since many
    servers refuse two answers in a row.
    """
    last = conversation[-1] if conversation else None
    if isinstance(message, Assistant) and isinstance(last, Assistant) and not last.calls:
        whole = replace(message, text=last.text + message.text, usage=last.usage + message.usage)
        return (*conversation[:-1], whole)
    return (*conversation, message)


def normalised(message: Assistant, taken: Iterable[str]) -> Assistant:
    """The message as it may enter a history: the one step between a server and what is kept.

    Servers repeat ids, leave them out, send the same one in every turn, name tools with characters
    that they later refuse, or send arguments that are no JSON object; a history with any of these
    is answered with 400 for ever. Here ids become non-empty, unique and of bounded length, names
    match what every provider takes, and arguments are the text of a JSON object.

    Args:
        message: As the provider read it.
        taken: The ids of the conversation so far.
    """
    used = set(taken)
    calls: list[ToolCall] = []
    for call in message.calls:
        name = call.id if call.id and len(call.id) <= LONGEST_ID else ""
        if not name or name in used:
            number = len(used)
            # Nine characters after the underscore: Mistral's own ids have exactly nine.
            while (name := f"call_{number:09d}") in used:
                number += 1
        used.add(name)
        calls.append(replace(_sound(call), id=name))
    return replace(message, calls=tuple(calls))


def _sound(call: ToolCall) -> ToolCall:
    """The call with a name and arguments that every server takes back."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unknown"
    try:
        sound = isinstance(json.loads(call.arguments), dict)
    except ValueError:
        sound = False
    if sound:
        return call if name == call.name else replace(call, name=name)
    problem = call.problem or f"The arguments are not a JSON object: {call.arguments[:200]!r}"
    return replace(call, name=name, arguments="{}", problem=problem)


def turns(conversation: Conversation) -> tuple[Conversation, ...]:
    """The conversation cut before each word of the person; nothing is lost or moved."""
    parts: list[list[Message]] = []
    for message in conversation:
        if isinstance(message, User) or not parts:
            parts.append([])
        parts[-1].append(message)
    return tuple(tuple(part) for part in parts)
