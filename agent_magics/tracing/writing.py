"""How spans are written: their names of attributes, and what of a text stands in them.

Knows OpenTelemetry by the few methods that it calls; who imports it hands its module over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent_magics.messages import Assistant, Stop, Usage
from agent_magics.tracing.setting import Where

NAME = "agent_magics"
MAX_CONTENT = 20_000
"""Characters of one text in a span."""

FINISHED: dict[Stop, str] = {
    "end": "stop",
    "calls": "tool_call",
    "length": "length",
    "filter": "content_filter",
    "refusal": "content_filter",
    "cut": "error",
}


class Span(Protocol):
    """What is used of `opentelemetry.trace.Span`."""

    def is_recording(self) -> bool:
        """Whether anybody wants it."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Add a fact."""

    def set_status(self, status: Any) -> None:
        """Say how it went."""

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        """Add a moment."""

    def end(self, end_time: int | None = None) -> None:
        """Be over."""


@dataclass(frozen=True, slots=True)
class Told:
    """What all spans of a turn need.

    Args:
        api: The module `opentelemetry.trace`.
        where: Who answers.
        conversation: Its id.
        content: Whether texts are written.
        redact: Takes secrets out of them.
        now: Nanoseconds since 1970.
    """

    api: Any
    where: Where
    conversation: str
    content: bool
    redact: Callable[[str], str]
    now: Callable[[], int] = time.time_ns

    def span(self, name: str, parent: Span | None, kind: str, start: int, **facts: Any) -> Span:
        """A new span; one without a parent stands below whatever span is current."""
        tracer = self.api.get_tracer(NAME)
        context = None if parent is None else self.api.set_span_in_context(parent)
        named = {key.replace("__", "."): value for key, value in facts.items() if value}
        return tracer.start_span(  # type: ignore[no-any-return]  # the module is only known as Any
            name,
            context=context,
            kind=getattr(self.api.SpanKind, kind),
            attributes={**named, "gen_ai.provider.name": self.where.provider},
            start_time=start,
        )

    def fail(self, span: Span, kind: str) -> None:
        """Mark a span as failed, with a word of few different ones."""
        span.set_attribute("error.type", kind)
        span.set_status(self.api.Status(self.api.StatusCode.ERROR))

    def write(self, span: Span, name: str, text: str) -> None:
        """Put a text into a span, where texts are wanted."""
        if self.content:
            span.set_attribute(name, self.redact(text)[:MAX_CONTENT])


def used(span: Span, usage: Usage) -> None:
    """Write the tokens that are known."""
    for name, tokens in (
        ("gen_ai.usage.input_tokens", usage.input),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ):
        if tokens:
            span.set_attribute(name, tokens)


def moment(span: Span | None, name: str, now: int, facts: Mapping[str, Any]) -> None:
    """Add a moment to a span, if there is one."""
    if span is not None:
        span.add_event(name, facts, timestamp=now)


def message(role: str, text: str, answer: Assistant | None = None) -> str:
    """One message in the form of the conventions, as JSON."""
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    said: dict[str, Any] = {"role": role, "parts": parts}
    if answer is not None:
        parts.extend(
            {"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments}
            for c in answer.calls
        )
        said["finish_reason"] = FINISHED[answer.stop]
    return json.dumps([said], ensure_ascii=False)
