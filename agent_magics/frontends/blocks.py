"""From events to blocks: what a person sees of a turn, as values.

Owns the order of the blocks and which one an event changes. A pure state machine: it has no clock,
publishes nothing, and takes any event at any time. Places (`Block.key`) are its own counters,
never a model's words; a place that shows what is going on is taken over by the block that comes
next, so that no empty output is left behind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from agent_magics.events import (
    AnswerRestarted,
    ApprovalAsked,
    ApprovalGiven,
    CallDelta,
    CallFinished,
    CallJudged,
    CallProgress,
    CallProposed,
    CallStarted,
    Compacted,
    Event,
    MessageAdded,
    Notice,
    PolicyChanged,
    ReasoningDelta,
    ReplayCompared,
    Retrying,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.frontends import blocks_lines as lines
from agent_magics.frontends.blocks_answer import Answer
from agent_magics.frontends.blocks_attached import attached_block
from agent_magics.frontends.blocks_block import Block
from agent_magics.frontends.blocks_call import bundle_blocks, call_block
from agent_magics.frontends.blocks_plan import plan_block, plan_of
from agent_magics.frontends.blocks_proposed import proposed_blocks
from agent_magics.frontends.blocks_question import answer_block, question_html, question_text
from agent_magics.frontends.blocks_reasoning import Reasoning
from agent_magics.frontends.blocks_record import CallRecord
from agent_magics.frontends.findings import Reported
from agent_magics.frontends.summary import count, safe_line
from agent_magics.messages import Assistant, ToolCall, ToolResult, User
from agent_magics.policy import Rule

__all__ = ["Block", "Transcript", "answer_block", "question_html", "question_text"]

_Answering: TypeAlias = TextDelta | ReasoningDelta | CallDelta | AnswerRestarted | MessageAdded
_Calling: TypeAlias = (
    CallProposed
    | CallJudged
    | ApprovalAsked
    | ApprovalGiven
    | CallStarted
    | CallProgress
    | CallFinished
)
_Telling: TypeAlias = (
    TurnStarted | PolicyChanged | Retrying | Notice | Compacted | ReplayCompared | TurnEnded
)

WRITTEN = 1_000
"""Characters that a call's arguments must have grown by before their size is shown again."""
UNWRITTEN = (-WRITTEN, "")
"""Size and name of the call that is being written, while there is none."""


class Transcript:
    """The blocks of one turn.

    Args:
        quiet: Leave out reasoning, retries, notes, and calls that nobody had to decide on. What
            went with the prompt stays.
        stable: Leave out times, so that the blocks of two runs can be compared.
    """

    def __init__(self, quiet: bool = False, *, stable: bool = False) -> None:
        self._quiet, self._stable = quiet, stable
        self._places = 0
        self._status = ""
        self._model = ""
        self._skills: tuple[tuple[str, str], ...] = ()
        self._answer = Answer(self._place)
        self._reasoning = Reasoning(self._place)
        self._void: list[tuple[Answer, str]] = []
        self._written = UNWRITTEN
        self._retry: tuple[str, Retrying] | None = None
        self._calls: dict[str, CallRecord] = {}
        self._granted: list[Rule] = []
        self._plan = ""
        self._reported = Reported(self._place)

    def feed(self, event: Event) -> tuple[Block, ...]:
        """Take an event; gives the blocks that are new or changed, in their order.

        A block with a known key replaces the earlier one. Not each delta of a stream gives a
        block, so that bytes stay linear in the length of the answer; `pending` gives the rest.
        """
        match event:
            case TextDelta() | ReasoningDelta() | CallDelta() | AnswerRestarted() | MessageAdded():
                return tuple(self._answering(event))
            case (
                CallProposed()
                | CallJudged()
                | ApprovalAsked()
                | ApprovalGiven()
                | CallStarted()
                | CallProgress()
                | CallFinished()
            ):
                return (*self.pending(), *self._calling(event))
            case _:
                return (*self.pending(), *self._telling(event))

    def pending(self) -> tuple[Block, ...]:
        """What arrived since the last block; for a front end's timer, about once a second."""
        return tuple(self._answer.pending())

    # What a model says.

    def _answering(self, event: _Answering) -> list[Block]:
        match event:
            case TextDelta(text):
                thoughts = [] if self._quiet else self._reasoning.finished()
                return [*self._retried(), *thoughts, *self._answer.add(text)]
            case ReasoningDelta(text):
                return [*self._retried(), *([] if self._quiet else self._reasoning.add(text))]
            case CallDelta():
                return [*self._retried(), *self._writing(event)]
            case MessageAdded(Assistant() as message):
                return [*self._retried(), *self._said(message.text, message.reasoning)]
            case MessageAdded(ToolResult()):
                return self._doing(f"waiting for {self._model or 'the model'}")
            case MessageAdded(User() as prompt) if prompt.attachments or prompt.images:
                return self._sent(prompt)
            case MessageAdded():
                return []
            case _:
                return self._restarted(event)

    def _sent(self, prompt: User) -> list[Block]:
        sent = attached_block(self._place(), prompt)
        return [sent, *self._doing(f"waiting for {self._model or 'the model'}")]

    def _said(self, text: str | None, reasoning: str = "") -> list[Block]:
        """An answer is complete, or nothing more of it will come."""
        blocks = [] if self._quiet else self._reasoning.finished(reasoning)
        blocks += self._answer.finished(text)
        for answer, reason in self._void:
            blocks += answer.dropped(reason)
        self._answer, self._reasoning = Answer(self._place), Reasoning(self._place)
        self._void, self._written = [], UNWRITTEN
        return blocks

    def _writing(self, event: CallDelta) -> list[Block]:
        """Long arguments take their time; nothing else would be seen of it."""
        size, name = self._written
        if event.name == name and size <= len(event.arguments) < size + WRITTEN:
            return []
        self._written = (len(event.arguments), event.name)
        words = f"writing a call of {safe_line(event.name, 64) or 'a tool'}"
        if len(event.arguments) >= WRITTEN:
            words += f" ({count(len(event.arguments))} characters)"
        return [*self._answer.pending(), *self._doing(words)]

    def _restarted(self, event: AnswerRestarted) -> list[Block]:
        self._reasoning.restarted()
        self._written = UNWRITTEN
        void, self._answer = self._answer, Answer(self._place)
        if blocks := void.voided():
            self._void.append((void, event.reason))
        elif not self._retry and not self._quiet:
            blocks = [lines.restart_block(self._place(), event.reason)]
        return [*blocks, *self._doing("asking again")]

    def _retried(self) -> list[Block]:
        """The server answers again: what was a wait becomes a note."""
        if self._retry is None:
            return []
        (key, event), self._retry = self._retry, None
        return [lines.retry_block(key, event, live=False, stable=self._stable)]

    # Calls.

    def _calling(self, event: _Calling) -> list[Block]:
        match event:
            case CallProposed(call, title):
                return self._drawn(CallRecord(self._record(call).key, call, title))
            case CallJudged(call, verdict):
                self._calls[call.id] = replace(self._record(call), verdict=verdict)
                return []
            case ApprovalAsked(question):
                record = replace(self._record(question.call), title=question.title)
                return self._drawn(replace(record, question=question))
            case ApprovalGiven(question, answer):
                if answer.scope:
                    self._granted.append(answer.scope.rule)
                record = replace(self._record(question.call), question=question, answer=answer)
                return self._drawn(record)
            case CallStarted(call):
                return self._drawn(replace(self._record(call), ran=call))
            case CallProgress(call_id, text):
                if running := self._calls.get(call_id):
                    return self._drawn(running.with_progress(text))
                return []
            case _:
                return self._finished(event)

    def _record(self, call: ToolCall) -> CallRecord:
        return self._calls.get(call.id) or CallRecord("", call, call.name)

    def _drawn(self, record: CallRecord) -> list[Block]:
        """Keep and show what is known of a call."""
        if self._quiet and not (record.question or record.key):
            self._calls[record.call.id] = record
            return [] if record.outcome else self._doing(safe_line(record.title, 120))
        record = replace(record, key=record.key or self._place())
        self._calls[record.call.id] = record
        return [call_block(record, stable=self._stable)]

    def _finished(self, event: CallFinished) -> list[Block]:
        record = replace(
            self._record(event.call),
            result=event.result,
            outcome=event.outcome,
            seconds=event.seconds,
        )
        if plan := plan_of(record.result):
            del self._calls[record.call.id]
            return [] if self._quiet else self._planned(record, plan)
        blocks = self._drawn(record)
        del self._calls[record.call.id]
        return [
            *blocks,
            *bundle_blocks(event.result, self._place),
            *proposed_blocks(event.result, self._place),
            *self._reported.add(event.result),
        ]

    def _planned(self, record: CallRecord, plan: str) -> list[Block]:
        """The first plan takes the place of its call; later ones take the place of the first."""
        own = record.key or self._place()
        drawn = plan_block(self._plan or own, plan, call_block(record, stable=self._stable))
        if not self._plan:
            self._plan = own
            return [drawn]
        # What the call itself showed is taken over by what comes next.
        self._status = own
        return [drawn, *self._doing("going on")]

    # Everything else.

    def _telling(self, event: _Telling) -> list[Block]:
        match event:
            case TurnStarted(_, model, skills):
                self._model, self._skills = safe_line(model, 80), skills
                return self._doing(f"waiting for {self._model or 'the model'}")
            case PolicyChanged(rule):
                # The call's own line says what its "always" brought.
                known = rule in self._granted
                return [] if known else [lines.policy_block(self._place(), event)]
            case Retrying():
                return self._retrying(event)
            case Notice(_, level):
                hidden = self._quiet and level == "info"
                return [] if hidden else [lines.notice_block(self._place(), event)]
            case Compacted():
                return [] if self._quiet else [lines.compacted_block(self._place(), event)]
            case ReplayCompared(comparison):
                level = "warning" if comparison.differences else "info"
                return self._telling(Notice(str(comparison), level))
            case _:
                return self._ended(event)

    def _retrying(self, event: Retrying) -> list[Block]:
        if self._quiet:
            return self._doing(f"asking again: {safe_line(event.reason, 120)}")
        key = self._retry[0] if self._retry else self._place()
        self._retry = (key, event)
        return [lines.retry_block(key, event, live=True, stable=self._stable)]

    def _ended(self, event: TurnEnded) -> list[Block]:
        """Nothing stays open behind the last block."""
        blocks = [*self._retried(), *self._said(None)]
        for record in tuple(self._calls.values()):
            blocks += self._drawn(replace(record, outcome="unfinished"))
        self._calls.clear()
        key = self._place()
        footer = lines.turn_block(key, event, self._model, self._skills, stable=self._stable)
        return [*blocks, footer]

    # Places.

    def _place(self) -> str:
        """The place of the next block: the one that shows what is going on, or a new one."""
        if self._status:
            key, self._status = self._status, ""
            return key
        self._places += 1
        return f"b{self._places}"

    def _doing(self, words: str) -> list[Block]:
        """Say what is going on, in a place that the next block takes over."""
        self._status = self._place()
        return [lines.status_block(self._status, words)]
