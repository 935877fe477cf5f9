"""One tool call as one block: a line that says what happened and unfolds to the whole of it.

Owns how a call's state reads at each moment, from the proposal to the result. The record of an
approval lives here; a card's place only points at it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_magics.events import Question
from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, fit, metadata, rounded
from agent_magics.frontends.blocks_payload import (
    LONG_VALUE,
    RECORD,
    TEXT_RECORD,
    argument_rows,
    brief,
    display_html,
    display_text,
    displays_html,
    extra_previews,
    fenced,
)
from agent_magics.frontends.blocks_question import (
    TITLE,
    answer_facts,
    arguments_beside,
    decision_words,
    edit_diff,
    title_html,
)
from agent_magics.frontends.summary import code_text, cut, duration, printed, safe_line
from agent_magics.messages import Display, ToolCall, ToolResult
from agent_magics.policy import Answer, Verdict

TAIL, TAIL_LINES, TAIL_WIDTH = 2_000, 10, 200
"""Characters that are kept of a running call's output, and the lines and columns shown of them."""
WHY = 160
"""Characters of a failure's reason in the one line."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What is known of a call so far.

    Args:
        key: The block's place.
        call: As the model wrote it.
        title: Its one-line summary.
        verdict: What the policy said.
        question: What a person is asked, or was.
        answer: What they said.
        ran: As it runs or ran, once it started.
        tail: The end of its live output.
        result: What came back.
        outcome: As in `CallFinished`; `unfinished`: the turn ended before.
        seconds: How long it ran.
    """

    key: str
    call: ToolCall
    title: str
    verdict: Verdict | None = None
    question: Question | None = None
    answer: Answer | None = None
    ran: ToolCall | None = None
    tail: str = ""
    result: ToolResult | None = None
    outcome: str = ""
    seconds: float = 0.0

    def with_progress(self, text: str) -> CallRecord:
        """The record with a piece of live output; only its end is kept."""
        return replace(self, tail=(self.tail + text[-TAIL:])[-TAIL:])


@dataclass(frozen=True, slots=True)
class _State:
    sign: str
    word: str
    tone: theme.Tone
    said: bool = True


_FINISHED = {
    "done": _State("✓", "done", "good", said=False),
    "failed": _State("✗", "failed", "bad"),
    "refused": _State("⊘", "not run", "warn", said=False),
    "denied": _State("⊘", "denied by policy", "warn"),
    "invalid": _State("✗", "not run", "bad"),
    "unfinished": _State("✗", "not finished", "bad"),
}
_WAITING = _State("?", "waiting for your answer", "warn")
_RUNNING = _State("▸", "running", "plain")
_PROPOSED = _State("▸", "proposed", "plain", said=False)


def call_block(record: CallRecord, *, stable: bool = False) -> Block:
    """The block of a call as far as it is known.

    Args:
        record: What is known.
        stable: Leave out times, so that two runs can be compared.
    """
    state, title = _state(record), _title(record)
    time = "" if stable or record.outcome not in ("done", "failed") else duration(record.seconds)
    words = " · ".join(_words(record, state))
    head = (
        f"{theme.mark(state.sign, state.word, state.tone)} "
        f"{title_html(record.call.name, title)}"
        f" {theme.muted(f'· {words}' if words else '', theme.time_span(time))}"
    )
    said = " · ".join(part for part in (f"{state.sign} {code_text(title)}", words, time) if part)
    live = not record.outcome
    if live:
        tail = _tail(record)
        html = theme.line(head) + (theme.text_box(tail, "output so far") if tail else "")
        text = said + (f"\n\n{fenced(tail)}" if tail else "")
    else:
        html = theme.fold(head, _body_html(record))
        text = "\n\n".join([said, *_body_text(record, title)])
    return Block(record.key, html, text, _facts(record, stable), live)


def bundle_blocks(result: ToolResult, new_key: Callable[[], str]) -> list[Block]:
    """What the user's own code wants to show, to be published as it is.

    Args:
        result: What a call brought.
        new_key: Gives the place of the next block.
    """
    blocks = []
    for display in result.display:
        if display.kind == "bundle" and display.data:
            html, text = display_html(display, RECORD), display_text(display)
            facts = metadata("display")
            blocks.append(Block(new_key(), html, text, facts, bundle=dict(display.data)))
    return blocks


def _state(record: CallRecord) -> _State:
    if record.outcome:
        return _FINISHED.get(record.outcome, _FINISHED["unfinished"])
    if record.question and record.answer is None:
        return _WAITING
    return _RUNNING if record.ran else _PROPOSED


def _title(record: CallRecord) -> str:
    """The title; where a person edited what it names, what ran."""
    title = record.title
    if record.answer and record.answer.arguments is not None and record.answer.allowed:
        before, after = _values(record.call.arguments), _values(record.answer.arguments)
        for name, value in before.items():
            changed = after.get(name, value)
            if changed != value and title.endswith(f" {value}"):
                title = title.removesuffix(value) + changed
    return safe_line(title, TITLE)


def _values(arguments: str) -> dict[str, str]:
    """The arguments that are texts."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return (
        {k: v for k, v in values.items() if isinstance(v, str)} if isinstance(values, dict) else {}
    )


def _words(record: CallRecord, state: _State) -> list[str]:
    words = []
    if record.answer:
        words.append(decision_words(record.answer))
    elif record.verdict and record.verdict.decision == "allow":
        words.append("allowed")
    if state.said:
        why = _why(record)
        words.append(f"{state.word}: {why}" if why else state.word)
    return words


def _why(record: CallRecord) -> str:
    if record.outcome == "denied" and record.verdict:
        return safe_line(record.verdict.reason, WHY)
    if record.outcome in ("failed", "invalid") and record.result:
        return safe_line(printed(record.result.text).strip().split("\n")[0], WHY)
    if record.outcome == "unfinished" and record.question and not record.answer:
        return "it was not run, since it was not answered"
    return ""


def _tail(record: CallRecord) -> str:
    """The last lines of a running call's output, at most `TAIL_LINES` by `TAIL_WIDTH`."""
    rows = printed(record.tail).strip("\n").split("\n")[-TAIL_LINES:]
    return "\n".join(safe_line(row.expandtabs(4), TAIL_WIDTH) for row in rows)


def _parts(record: CallRecord) -> tuple[tuple[Display, ...], tuple[Display, ...]]:
    """What was to be seen before the call ran, unless its result repeats it; and the result."""
    shown: tuple[Display, ...] = ()
    if record.result:
        shown = tuple(d for d in record.result.display if d.kind != "bundle")
        if not record.result.display and record.result.text:
            shown = (Display("text", record.result.text),)
    previews = record.question.preview if record.question else ()
    # Edited arguments make the preview one of something that did not run.
    edited = record.answer is not None and record.answer.arguments is not None
    return (() if edited else extra_previews(previews, shown)), shown


def _body_html(record: CallRecord) -> str:
    previews, shown = _parts(record)
    parts = []
    if record.question and record.question.reason:
        parts.append(theme.label(f"asked because: {safe_line(record.question.reason, TITLE)}"))
    if change := _edit(record):
        parts.append(theme.label("what you changed"))
        parts.append(theme.diff_box(cut(change, RECORD), "what you changed"))
    elif record.question and record.question.preview:
        # The preview is there to show what the arguments mean; what it leaves out is short.
        if side := arguments_beside(record.question):
            parts.append(theme.line(theme.code(side)))
    elif _untold(record.call.arguments, _title(record)):
        rows = cut(argument_rows(record.call.arguments), RECORD)
        parts.append(theme.label("arguments") + theme.text_box(rows, "arguments"))
    limit = RECORD // 2 if previews and shown else RECORD
    if previews:
        parts.append(theme.label("what was asked") + displays_html(previews, limit))
    if shown:
        ran = record.outcome in ("done", "failed")
        head = theme.label("result" if ran else "what the model was told") if parts else ""
        parts.append(head + displays_html(shown, limit))
    return "".join(parts)


def _body_text(record: CallRecord, title: str) -> list[str]:
    """The call's payload in plain text, without what its line says."""
    previews, shown = _parts(record)
    changes = any(display.kind == "diff" for display in (*previews, *shown))
    parts = []
    if change := _edit(record):
        parts.append(fenced(cut(change, TEXT_RECORD), "diff"))
    elif not changes and not previews and _untold(record.call.arguments, title):
        parts.append(fenced(brief(argument_rows(record.call.arguments, LONG_VALUE))))
    if _said_already(record):
        shown = ()
    return parts + [display_text(display) for display in (*previews, *shown)]


def _untold(arguments: str, title: str) -> bool:
    """Whether there is an argument that the title does not show whole."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return bool(arguments)
    if not isinstance(values, dict):
        return True
    return any(not isinstance(v, str) or v not in title for v in values.values())


def _said_already(record: CallRecord) -> bool:
    """Whether the call's line holds the whole of its result."""
    if record.outcome not in ("done", "failed"):
        return True
    text = record.result.text.strip() if record.result else ""
    return bool(text) and text == _why(record)


def _edit(record: CallRecord) -> str:
    """Both versions of edited arguments, whole, as a diff."""
    return edit_diff(record.call, record.answer, context=10_000) if record.answer else ""


def _facts(record: CallRecord, stable: bool) -> dict[str, object]:
    answer, verdict = record.answer, record.verdict
    decision = answer_facts(answer) if answer else {}
    if answer and answer.arguments is not None:
        decision["edited"] = fit(answer.arguments)
    ran = record.outcome in ("done", "failed")
    return metadata(
        "call",
        id=fit(record.call.id),
        tool=fit(record.call.name, 64),
        arguments=fit(record.call.arguments),
        policy=verdict.decision if verdict else None,
        answer={name: value for name, value in decision.items() if value not in (None, "")},
        outcome=fit(record.outcome, 40),
        seconds=rounded(record.seconds) if ran and not stable else None,
    )
