"""A session: the turns that share a conversation. The only mutable state of the agent.

The loop yields what happens; `Session.ask` reduces it to state and passes it on to the renderer.
However a turn ends, the conversation it leaves can be followed by the next prompt.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agent_magics.compaction import conversation_size
from agent_magics.context import ActiveSkill
from agent_magics.differences import Comparison
from agent_magics.errors import AgentMagicsError
from agent_magics.events import (
    AnswerRestarted,
    ApprovalGiven,
    CallFinished,
    CallJudged,
    Compacted,
    Ending,
    Event,
    MessageAdded,
    PolicyChanged,
    Question,
    ReplayCompared,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.fitting import Fitter
from agent_magics.loop import run_turn
from agent_magics.messages import (
    Assistant,
    Conversation,
    Message,
    ToolCall,
    ToolResult,
    Usage,
    User,
    appended,
    closed,
    turns,
)
from agent_magics.policy import Answer, Policy
from agent_magics.ports import Model, Renderer
from agent_magics.pricing import total_cost
from agent_magics.result import CallRecord, TurnResult
from agent_magics.tool import Tool
from agent_magics.turn import Turn


@dataclass(slots=True)
class _Record:
    """What the reducer collects of the running turn."""

    calls: list[CallRecord] = field(default_factory=list)
    judged: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    asked: dict[str, ToolCall] = field(default_factory=dict)
    ended: TurnEnded | None = None
    usage: Usage = Usage()
    requests: int = 0
    streamed: str = ""
    replay: Comparison | None = None


@dataclass(slots=True)
class Session:
    """A conversation with what is in force for it.

    Args:
        name: What the person calls it.
        policy: Rules in force, session rules included.
        conversation: Always closed between turns.
        active: The skills in force, in the order of their use.
        bundled: The tools those skills brought.
        usage: Tokens of all turns.
        cost: Of all turns whose price is known; None: of none.
        last: The newest turn's result.
        id: Under what it is saved; empty before that.
        found_tools: Names of tools that the model looked for, where there are too many for each
            request.
        refusals: Calls of all turns that were not allowed to run.
        ended: All turns of this kernel, without their calls and messages.
    """

    name: str = "default"
    policy: Policy = field(default_factory=Policy)
    conversation: Conversation = ()
    active: tuple[ActiveSkill, ...] = ()
    bundled: tuple[Tool, ...] = ()
    usage: Usage = Usage()
    cost: float | None = None
    last: TurnResult | None = None
    id: str = ""
    found_tools: set[str] = field(default_factory=set)
    refusals: list[CallRecord] = field(default_factory=list)
    ended: list[TurnResult] = field(default_factory=list)

    async def ask(
        self,
        prompt: str,
        turn: Turn,
        renderer: Renderer,
        active: Sequence[ActiveSkill] = (),
        observers: Sequence[Callable[[Event], None]] = (),
    ) -> TurnResult:
        """Run one turn to its end.

        Args:
            prompt: What the person wrote, byte for byte.
            turn: What is fixed for the turn; its policy is this session's.
            renderer: Shows each event after the state has changed.
            active: The skills of this turn, for the record.
            observers: Further readers of the events.

        Returns:
            The turn's result, also kept as `last`.

        Raises:
            ModelError: No usable answer; the conversation is closed and stays usable.
            CancelledError: Interrupted; likewise.
        """
        record = _Record()
        skills = tuple((a.skill.name, a.skill.digest) for a in active)
        started = turn.clock()

        def happened(event: Event) -> None:
            if isinstance(event, TurnEnded):
                for further in turn.epilogue(event):
                    happened(further)
            self._reduce(event, record)
            renderer.show(event)
            for observer in observers:
                observer(event)

        happened(TurnStarted(prompt, turn.model.name, skills))
        try:
            said = User(prompt, attachments=turn.attachments)
            async with aclosing(run_turn(turn, self.conversation, said)) as events:  # type: ignore[type-var]
                async for event in events:
                    happened(event)
        except asyncio.CancelledError:
            self._close("interrupted by the person", record)
            happened(_early("interrupted", record, turn, started, "Interrupted."))
            raise
        except AgentMagicsError as error:
            self._close(f"the turn failed: {error}", record)
            happened(_early("failed", record, turn, started, str(error)))
            raise
        finally:
            self._close("the turn broke off", record)
            self.policy = self.policy.replacing("cell", ())
            self.last = self._result(prompt, turn, skills, record)
            self.refusals.extend(self.last.refused)
            self.ended.append(replace(self.last, calls=(), conversation=()))
        return self.last

    async def compact(self, model: Model, system: str, renderer: Renderer) -> tuple[int, int]:
        """Shorten the conversation now: old results first, then a summary of older turns.

        Returns:
            Its size in tokens before and after, estimated; equal when nothing could be won.

        Raises:
            ModelError: No summary came; the conversation is as it was.
        """
        before = self.conversation
        sizes = (conversation_size(before), conversation_size(before))
        fitter = Fitter(model, system)
        try:
            async for event in fitter.shorten(before):
                renderer.show(event)
                if isinstance(event, Compacted):
                    self.conversation = event.conversation
                    sizes = (sizes[0], conversation_size(event.conversation))
        except (AgentMagicsError, asyncio.CancelledError):
            self.conversation = before
            raise
        self.usage += fitter.usage
        return sizes

    def reset(self) -> None:
        """Forget the conversation; skills and session rules stay, as they are not part of it."""
        self.conversation = ()
        self.usage = Usage()
        self.cost = None
        self.last = None
        self.id = ""
        self.found_tools.clear()

    def _close(self, reason: str, record: _Record) -> None:
        """Make the conversation one that can be followed, with what was said of a broken answer."""
        if record.streamed.strip():
            said = Assistant(f"{record.streamed.rstrip()}\n\n({reason})", stop="cut")
            self.conversation = appended(self.conversation, said)
            record.streamed = ""
        self.conversation = closed(self.conversation, reason)

    def _add(self, message: Message, record: _Record) -> None:
        record.streamed = ""
        self.conversation = appended(self.conversation, message)
        if isinstance(message, Assistant):
            record.requests += 1
            record.usage += message.usage
            self.usage += message.usage
            record.asked.update((call.id, call) for call in message.calls)

    def _reduce(self, event: Event, record: _Record) -> None:
        match event:
            case TextDelta(text):
                record.streamed += text
            case AnswerRestarted():
                record.streamed = ""
            case MessageAdded(message):
                self._add(message, record)
            case PolicyChanged(rule):
                self.policy = self.policy.with_rule(rule)
            case Compacted(conversation=conversation):
                self.conversation = conversation
            case CallJudged(call, verdict):
                record.judged[call.id] = (verdict.decision, verdict.by, verdict.reason)
            case ApprovalGiven(question, answer):
                record.judged[question.call.id] = _decision(question, answer)
            case CallFinished():
                record.usage += event.usage
                self.usage += event.usage
                record.calls.append(_call_record(event, record))
            case ReplayCompared(comparison):
                record.replay = comparison
            case TurnEnded():
                record.ended = event
                self.cost = total_cost(self.cost, event.cost)
            case _:
                pass

    def _result(
        self, prompt: str, turn: Turn, skills: tuple[tuple[str, str], ...], record: _Record
    ) -> TurnResult:
        # The newest turn by its prompt: a compaction may have shortened what stands before it.
        messages = turns(self.conversation)[-1]
        texts = [m.text for m in messages if isinstance(m, Assistant) and m.text]
        ended = record.ended
        return TurnResult(
            texts[-1] if texts else "",
            prompt,
            turn.model.name,
            skills,
            tuple(record.calls) + _unfinished(messages, record),
            messages,
            record.usage,
            ended.reason if ended else "failed",
            record.requests,
            ended.seconds if ended else 0.0,
            replay=record.replay,
            cost=ended.cost if ended else None,
        )


def _early(reason: Ending, record: _Record, turn: Turn, started: float, text: str) -> TurnEnded:
    """The end of a turn that did not come to its own."""
    seconds, cost = turn.clock() - started, turn.limits.known_cost(record.usage)
    return TurnEnded(reason, record.usage, seconds, record.requests, text, cost)


def _decision(question: Question, answer: Answer) -> tuple[str, str, str]:
    reason = answer.scope.label if answer.scope else answer.reason or question.reason
    if question.hook and answer.reason:
        reason = f"{answer.reason} (asked, since {question.reason})"
    return ("approved" if answer.allowed else "refused", answer.by, reason)


def _call_record(event: CallFinished, record: _Record) -> CallRecord:
    call = event.call
    asked = record.asked.get(call.id, call)
    # A no that was meant for the calls behind it, too, leaves them without a question of their own.
    unjudged = "refused" if event.outcome == "refused" else ""
    decision, by, reason = record.judged.get(call.id, (unjudged, "", ""))
    ran = json.loads(call.arguments) if event.outcome in ("done", "failed") and decision else None
    return CallRecord(
        call.name,
        json.loads(asked.arguments),
        ran,
        decision,
        by,
        reason,
        event.outcome,
        event.result.text,
        event.seconds,
        event.result.display,
    )


def _unfinished(messages: Conversation, record: _Record) -> tuple[CallRecord, ...]:
    """Calls that an interrupt or an error left without an end."""
    results = {m.call_id: m for m in messages if isinstance(m, ToolResult)}
    waiting = list(record.asked.values())[len(record.calls) :]
    return tuple(
        CallRecord(
            call.name,
            json.loads(call.arguments),
            None,
            *record.judged.get(call.id, ("", "", "")),
            "interrupted",
            results[call.id].text if call.id in results else "",
            0.0,
        )
        for call in waiting
    )
