"""From a turn's events to spans; the one module that imports opentelemetry.

One `invoke_agent` span for a turn, below it a `chat` span for each request and an `execute_tool`
span for each call; a sub-agent's turn stands below the call that delegated to it. Attribute names
are those of OpenTelemetry's semantic conventions for generative AI (1.37 and newer); what is ours
begins with `agent_magics.`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent_magics.events import (
    AnswerRestarted,
    ApprovalAsked,
    ApprovalGiven,
    CallDelta,
    CallFinished,
    CallJudged,
    CallStarted,
    Compacted,
    Event,
    MessageAdded,
    ReasoningDelta,
    Retrying,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.importing import installed_only
from agent_magics.messages import Assistant, Stop, ToolResult, Usage, User
from agent_magics.tracing.setting import Tracing, Where

if TYPE_CHECKING:
    from opentelemetry.trace import Span

NAME = "agent_magics"
MISSING = (
    "Tracing is on, but OpenTelemetry is not installed: %pip install agent_magics[tracing], or "
    "%config AgentMagics.tracing = 'auto'"
)
MAX_CONTENT = 20_000
"""Characters of one text in a span."""

_FINISHED: dict[Stop, str] = {
    "end": "stop",
    "calls": "tool_call",
    "length": "length",
    "filter": "content_filter",
    "refusal": "content_filter",
    "cut": "error",
}


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


@dataclass(slots=True)
class TurnTrace:
    """Reads the events of one turn. `observe` never raises: a span must not break a turn."""

    told: Told
    parent: Span | None = None
    agent: Span | None = None
    chat: Span | None = None
    tool: Span | None = None
    model: str = ""
    waiting: int = 0
    first: bool = False
    open: set[str] = field(default_factory=set)
    judged: dict[str, tuple[str, str]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    off: bool = False

    def observe(self, event: Event) -> None:
        """Take one event."""
        if self.off:
            return
        try:
            self._take(event)
        except Exception:  # noqa: BLE001  # a broken exporter or processor is not the turn's business
            self.off = True
            self.close()

    @contextmanager
    def inner(self) -> Iterator[Callable[[Event], None]]:
        """The observer of a sub-agent's turn, below the call that runs now."""
        trace = TurnTrace(self.told, self.tool or self.agent, off=self.off)
        try:
            yield trace.observe
        finally:
            trace.close()

    def close(self) -> None:
        """End what is still open: the turn was left without a word."""
        for span in (self.tool, self.chat, self.agent):
            if span is not None:
                _ended(span, self.told.now())
        self.tool = self.chat = self.agent = None

    def _take(self, event: Event) -> None:
        now = self.told.now()
        match event:
            case TurnStarted(prompt, model, skills):
                self._begin(prompt, model, skills, now)
            case TextDelta() | ReasoningDelta() | CallDelta():
                self._heard(now)
            case MessageAdded(User()):
                self.waiting = now
            case MessageAdded(Assistant() as answer):
                self._answered(answer, now)
            case MessageAdded(ToolResult(call_id)):
                self.open.discard(call_id)
                self.waiting = 0 if self.open else now
            case Retrying(reason, seconds, attempt):
                facts = {"attempt": attempt, "seconds": seconds}
                _event(self._asking(now), "agent_magics.retry", now, facts)
                self.told.write(self._asking(now), "agent_magics.retry.reason", reason)
            case AnswerRestarted():
                _event(self._asking(now), "agent_magics.answer_restarted", now, {})
            case Compacted(before, after):
                facts = {"before": before, "after": after}
                _event(self.agent, "agent_magics.compacted", now, facts)
            case TurnEnded():
                self._end(event, now)
            case _:
                self._take_call(event, now)

    def _take_call(self, event: Event, now: int) -> None:
        match event:
            case CallJudged(call, verdict):
                self.judged[call.id] = (verdict.decision, verdict.by)
            case ApprovalAsked(question):
                self.asked[question.call.id] = now
                facts = {"tool": question.call.name, "call": question.call.id}
                _event(self.agent, "agent_magics.approval_asked", now, facts)
            case ApprovalGiven(question, answer):
                ident = question.call.id
                self.judged[ident] = ("approved" if answer.allowed else "refused", answer.by)
                self.waited[ident] = (now - self.asked.get(ident, now)) / 1e9
                facts = {"call": ident, "allowed": answer.allowed, "by": answer.by}
                facts["edited"] = answer.arguments is not None
                _event(self.agent, "agent_magics.approval_given", now, facts)
            case CallStarted(call):
                self.tool = self._executed(call.name, call.id, call.arguments, now)
            case CallFinished():
                self._finished(event, now)
            case _:
                pass

    def _begin(self, prompt: str, model: str, skills: object, now: int) -> None:
        told, where = self.told, self.told.where
        self.model = model
        span = told.span(
            f"invoke_agent {NAME}",
            self.parent,
            "INTERNAL",
            now,
            gen_ai__operation__name="invoke_agent",
            gen_ai__agent__name=NAME,
            gen_ai__request__model=model,
            gen_ai__conversation__id=told.conversation,
            server__address=where.address,
            server__port=where.port,
            agent_magics__skills=[name for name, _ in skills],  # type: ignore[attr-defined]  # pairs
        )
        if not span.is_recording():
            # Nobody wants it: the rest of the turn costs nothing.
            self.off = True
            return
        self.agent = span
        told.write(span, "gen_ai.input.messages", _message("user", prompt))

    def _asking(self, now: int) -> Span | None:
        """The span of the request that is under way; it began when the turn had nothing else to do."""
        if self.chat is None and self.agent is not None:
            where = self.told.where
            self.chat = self.told.span(
                f"chat {self.model}",
                self.agent,
                "CLIENT",
                self.waiting or now,
                gen_ai__operation__name="chat",
                gen_ai__request__model=self.model,
                gen_ai__request__stream=True,
                gen_ai__conversation__id=self.told.conversation,
                server__address=where.address,
                server__port=where.port,
            )
            self.first = True
        return self.chat

    def _heard(self, now: int) -> None:
        span = self._asking(now)
        if self.first and span is not None:
            self.first = False
            if self.waiting:
                seconds = (now - self.waiting) / 1e9
                span.set_attribute("gen_ai.response.time_to_first_chunk", seconds)

    def _answered(self, answer: Assistant, now: int) -> None:
        span = self._asking(now)
        self.open = {call.id for call in answer.calls}
        if span is None:
            return
        span.set_attribute("gen_ai.response.finish_reasons", [_FINISHED[answer.stop]])
        _used(span, answer.usage)
        self.told.write(span, "gen_ai.output.messages", _message("assistant", answer.text, answer))
        if self.agent is not None and answer.text:
            said = _message("assistant", answer.text)
            self.told.write(self.agent, "gen_ai.output.messages", said)
        _ended(span, now)
        # Where the answer was cut, the next request begins at once.
        self.chat, self.waiting = None, 0 if answer.calls else now

    def _executed(self, name: str, ident: str, arguments: str, now: int) -> Span | None:
        if self.agent is None:
            return None
        decision, by = self.judged.get(ident, ("", ""))
        span = self.told.span(
            f"execute_tool {name}",
            self.agent,
            "INTERNAL",
            now,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=name,
            gen_ai__tool__call__id=ident,
            gen_ai__tool__type="function",
            agent_magics__decision=decision,
            agent_magics__decided_by=by,
            agent_magics__approval_seconds=self.waited.get(ident),
        )
        self.told.write(span, "gen_ai.tool.call.arguments", arguments)
        return span

    def _finished(self, event: CallFinished, now: int) -> None:
        call = event.call
        # One that did not run has a span without length, so that the refusal is seen.
        span = self.tool or self._executed(call.name, call.id, call.arguments, now)
        self.tool = None
        if span is None:
            return
        span.set_attribute("agent_magics.outcome", event.outcome)
        if event.outcome != "done":
            self.told.fail(span, "tool_error" if event.outcome == "failed" else event.outcome)
        self.told.write(span, "gen_ai.tool.call.result", event.result.text)
        _ended(span, now)

    def _end(self, event: TurnEnded, now: int) -> None:
        if event.reason in ("failed", "interrupted"):
            kind = "model_error" if event.reason == "failed" else "interrupted"
            under_way = self.chat or (self._asking(now) if self.waiting else None)
            for span in (self.tool, under_way, self.agent):
                if span is not None:
                    self.told.fail(span, kind)
        if self.agent is not None:
            self.agent.set_attribute("agent_magics.ended", event.reason)
            self.agent.set_attribute("agent_magics.requests", event.requests)
            _used(self.agent, event.usage)
        self.close()


def _used(span: Span, usage: Usage) -> None:
    for name, tokens in (
        ("gen_ai.usage.input_tokens", usage.input),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ):
        if tokens:
            span.set_attribute(name, tokens)


def _event(span: Span | None, name: str, now: int, facts: dict[str, Any]) -> None:
    if span is not None:
        span.add_event(name, facts, timestamp=now)


def _ended(span: Span, now: int) -> None:
    span.end(end_time=now)


def _message(role: str, text: str, answer: Assistant | None = None) -> str:
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    message: dict[str, Any] = {"role": role, "parts": parts}
    if answer is not None:
        parts.extend(
            {"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments}
            for c in answer.calls
        )
        message["finish_reason"] = _FINISHED[answer.stop]
    return json.dumps([message], ensure_ascii=False)


def opened(
    setting: Tracing,
    where: Where,
    conversation: str,
    redact: Callable[[str], str],
    warn: Callable[[str], None],
) -> TurnTrace | None:
    """The reader of a turn's events; None: nobody traces.

    Args:
        setting: What the person wants.
        where: Who answers.
        conversation: Its id.
        redact: Takes secrets out of texts.
        warn: Told when tracing is on and cannot be.
    """
    if setting.mode == "off":
        return None
    # Whoever has set up a tracer provider has loaded this; nobody else pays for it.
    if setting.mode == "auto" and "opentelemetry.trace" not in sys.modules:
        return None
    try:
        with installed_only():
            from opentelemetry import trace
    except ImportError:
        if setting.mode == "on":
            warn(MISSING)
        return None
    return TurnTrace(Told(trace, where, conversation, setting.content, redact))
