"""From a turn's events to spans; the one module that imports opentelemetry.

One `invoke_agent` span for a turn, below it a `chat` span for each request and an `execute_tool`
span for each call; a sub-agent's turn stands below the call that delegated to it. Attribute names
are those of OpenTelemetry's semantic conventions for generative AI (1.37 and newer); what is ours
begins with `agent_magics.`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

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
from agent_magics.messages import Assistant, ToolResult, User
from agent_magics.tracing.setting import Tracing, Where
from agent_magics.tracing.writing import FINISHED, NAME, Span, Told, message, moment, used

MISSING = (
    "Tracing is on, but OpenTelemetry is not installed: %pip install agent_magics[tracing], or "
    "%config AgentMagics.tracing = 'auto'"
)

LONGEST_NAME = 64
"""Characters of a tool's name (the providers' limit); a model may ask for one of any length."""


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
                with suppress(Exception):  # a broken processor is not the turn's business
                    span.end(end_time=self.told.now())
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
                span = self._asking(now)
                moment(span, "agent_magics.retry", now, {"attempt": attempt, "seconds": seconds})
                if span is not None:
                    self.told.write(span, "agent_magics.retry_reason", reason)
            case AnswerRestarted():
                moment(self._asking(now), "agent_magics.answer_restarted", now, {})
            case Compacted(before, after):
                facts = {"before": before, "after": after}
                moment(self.agent, "agent_magics.compacted", now, facts)
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
                moment(self.agent, "agent_magics.approval_asked", now, facts)
            case ApprovalGiven(question, answer):
                ident = question.call.id
                self.judged[ident] = ("approved" if answer.allowed else "refused", answer.by)
                self.waited[ident] = (now - self.asked.get(ident, now)) / 1e9
                allowed = {"allowed": answer.allowed, "edited": answer.arguments is not None}
                given: dict[str, object] = {"call": ident, "by": answer.by}
                moment(self.agent, "agent_magics.approval_given", now, given | allowed)
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
        told.write(span, "gen_ai.input.messages", message("user", prompt))

    def _asking(self, now: int) -> Span | None:
        """The span of the request under way; it began when there was nothing else to do."""
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
        span.set_attribute("gen_ai.response.finish_reasons", [FINISHED[answer.stop]])
        used(span, answer.usage)
        self.told.write(span, "gen_ai.output.messages", message("assistant", answer.text, answer))
        if self.agent is not None and answer.text:
            said = message("assistant", answer.text)
            self.told.write(self.agent, "gen_ai.output.messages", said)
        span.end(end_time=now)
        # Where the answer was cut, the next request begins at once.
        self.chat, self.waiting = None, 0 if answer.calls else now

    def _executed(self, name: str, ident: str, arguments: str, now: int) -> Span | None:
        if self.agent is None:
            return None
        decision, by = self.judged.get(ident, ("", ""))
        name = name[:LONGEST_NAME]
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
        span.end(end_time=now)

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
            used(self.agent, event.usage)
        self.close()


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
