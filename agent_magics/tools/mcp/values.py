"""What an MCP server offers and answers, as plain values. Knows no protocol and no SDK.

All texts are a stranger's, as they came; what makes them safe are `shapes` and `results`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agent_magics.messages import JSON


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server describes it.

    Args:
        name: As the server wants to be asked for it.
        title: For people; may be empty.
        description: May hold anything.
        schema: Of its arguments; may be anything.
        hints: What the server says that a call does (`read-only`, `destructive` …): its word only.
    """

    name: str
    title: str = ""
    description: str = ""
    schema: JSON = None
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt that a server offers.

    Args:
        name: As the server wants to be asked for it.
        description: In its own words.
        arguments: Names, and whether each is required.
    """

    name: str
    description: str = ""
    arguments: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedResource:
    """A resource that a server offers, or a template of such (`template`)."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    template: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of an answer.

    Args:
        kind: `text`; `image`, `audio` and `blob` with `data` in base64; `link` to a resource.
        text: The text, or what a link is called.
        data: In base64.
        media_type: As the server says.
        uri: Of a resource.
    """

    kind: Literal["text", "image", "audio", "blob", "link"]
    text: str = ""
    data: str = ""
    media_type: str = ""
    uri: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from a call, a resource or a prompt.

    Args:
        parts: In the server's order.
        structured: The same for programs, where the server sends it.
        ok: False when the server says that the call failed.
    """

    parts: tuple[Part, ...] = ()
    structured: JSON = None
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A question of a server to the person.

    Args:
        message: In the server's words.
        schema: Of the fields that it wants.
        url: An address that the person should open instead; empty for fields.
    """

    message: str
    schema: Mapping[str, JSON] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class Elicited:
    """The person's answer: the fields, or None with the reason in `action`."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, JSON] | None = None


Elicit: TypeAlias = Callable[[Elicitation], Awaitable[Elicited]]
Tell: TypeAlias = Callable[[str], None]
"""Takes a line about how far a call is; may be called from any thread."""
