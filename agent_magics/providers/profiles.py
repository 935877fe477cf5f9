"""What an endpoint takes: which fields, roles and features of the chat-completions protocol.

Owns the record only. Which server takes what is a table in `servers`, what a refusal teaches is in
`lessons`; a person can put a record of their own in place of the guess, and lessons still apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

MaxTokens: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
SystemRole: TypeAlias = Literal["system", "developer", "user"]
CallIds: TypeAlias = Literal["any", "plain", "nine"]

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Profile:
    """What one endpoint takes; the defaults are what most servers do.

    Args:
        max_tokens: The field for the limit on the answer.
        stream: Whether it can stream.
        stream_options: Whether it takes `stream_options`, which asks for usage in streams.
        system_role: The role of the system prompt; `user`: it goes before the first prompt.
        tool_choice_none: Whether it takes `tool_choice: "none"`; else the tools are left out.
        tools: Whether it takes tools at all; else they are described to it in words.
        tools_needed: Whether it wants a `tools` field when the history has calls.
        strict: Whether schemas are sent as `strict` where they qualify.
        images: Whether it takes images.
        name_length: Characters of a tool's name that it takes.
        call_ids: Which ids of calls it takes: `any`, `plain` (letters, digits, `_`, `-`), or
            `nine` (exactly nine letters or digits, as Mistral wants).
        empty_content: Whether an answer that only calls has `""` rather than null as content.
        answer_after_results: Whether an answer must stand between results and a prompt.
        alternate: Whether two prompts in a row must be joined.
        without: Names of fields that it refuses, in requests and in messages.
        without_schema: JSON Schema keywords that it refuses.
        key_header: The header that carries the key; `authorization` carries it as a bearer token.
        echoes: Which further fields of its own answers it takes back; `*`: all of them. What
            another model said never goes back with such fields.
        reasoning_needed: A field that must stand on each answer, empty where the model said
            nothing in it; empty: none.
        signed_calls: Whether each first call needs Google's signature of a thought.
    """

    max_tokens: MaxTokens = "max_tokens"
    stream: bool = True
    stream_options: bool = True
    system_role: SystemRole = "system"
    tool_choice_none: bool = True
    tools: bool = True
    tools_needed: bool = False
    strict: bool = False
    images: bool = True
    name_length: int = 64
    call_ids: CallIds = "any"
    empty_content: bool = False
    answer_after_results: bool = False
    alternate: bool = False
    without: frozenset[str] = field(default_factory=frozenset)
    without_schema: frozenset[str] = field(default_factory=frozenset)
    key_header: str = "authorization"
    echoes: frozenset[str] = frozenset(("*",))
    reasoning_needed: str = ""
    signed_calls: bool = False


CHOICES: Mapping[str, tuple[str, ...]] = {
    "max_tokens": get_args(MaxTokens),
    "system_role": get_args(SystemRole),
    "call_ids": get_args(CallIds),
}
"""Fields whose text is one of a few words."""
