"""One tool call as one block: a line that says what happened and unfolds to the whole of it.

Owns what the fold and the plain text hold. No other block keeps an approval.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_magics.findings import MIME
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
    edit_diff,
    title_html,
)
from agent_magics.frontends.blocks_record import RAN, CallRecord, state_of, why_of, words_of
from agent_magics.frontends.summary import code_text, cut, duration, printed, safe_line
from agent_magics.messages import Display, ToolResult

OWN_BLOCKS = ("bundle", "cell")
"""Kinds of displays that are shown below the call, and not in its fold."""
TAIL_LINES, TAIL_WIDTH = 10, 200
"""Lines and columns that are shown of a running call's output."""
NAMES = 1_000
"""Characters that are shown of changes to names."""


def call_block(record: CallRecord, *, stable: bool = False) -> Block:
    """The block of a call as far as it is known.

    Args:
        record: What is known.
        stable: Leave out times, so that two runs can be compared.
    """
    state, title = state_of(record), record.shown_title
    time = "" if stable or record.outcome not in RAN else duration(record.seconds)
    words = " · ".join(words_of(record))
    head = (
        f"{theme.mark(state.sign, state.word, state.tone)} "
        f"{title_html(record.call.name, title)}"
        f" {theme.muted(f'· {words}' if words else '', theme.time_span(time))}"
    )
    said = " · ".join(part for part in (f"{state.sign} {code_text(title)}", words, time) if part)
    live = not record.outcome
    if live:
        tail = _tail(record)
        box = theme.inside(theme.text_box(tail, "output so far")) if tail else ""
        html = theme.line(head) + box
        text = said + (f"\n\n{fenced(tail)}" if tail else "")
    else:
        html = theme.fold(head, _body_html(record))
        names = names_of(record)
        if names:
            html += theme.muted_line(theme.text_html(names))
        text = "\n\n".join([said, *([names] if names else []), *_body_text(record)])
    return Block(record.key, html, text, _facts(record, stable), live)


def names_of(record: CallRecord) -> str:
    """What the call did to the user's variables, in one line; empty where it did nothing."""
    displays = record.result.display if record.result else ()
    told = next((display.text for display in displays if display.kind == "names"), "")
    return f"names {safe_line(told, NAMES)}" if told else ""


def bundle_blocks(result: ToolResult, new_key: Callable[[], str]) -> list[Block]:
    """What the user's own code wants to show, to be published as it is.

    Args:
        result: What a call brought.
        new_key: Gives the place of the next block.
    """
    blocks = []
    for display in result.display:
        # Findings are drawn from their data, whatever else comes with them.
        if display.kind == "bundle" and display.data and MIME not in display.data:
            html, text = display_html(display, RECORD), display_text(display)
            facts = metadata("display")
            blocks.append(Block(new_key(), html, text, facts, bundle=dict(display.data)))
    return blocks


def _tail(record: CallRecord) -> str:
    """The last lines of a running call's output, at most `TAIL_LINES` by `TAIL_WIDTH`."""
    rows = printed(record.tail).strip("\n").split("\n")[-TAIL_LINES:]
    return "\n".join(safe_line(row.expandtabs(4), TAIL_WIDTH) for row in rows)


def _parts(record: CallRecord) -> tuple[tuple[Display, ...], tuple[Display, ...]]:
    """What was to be seen before the call ran, unless its result repeats it; and the result."""
    shown: tuple[Display, ...] = ()
    if record.result:
        shown = tuple(d for d in record.result.display if d.kind not in (*OWN_BLOCKS, "names"))
        if not record.result.display and record.result.text:
            shown = (Display("text", record.result.text),)
    previews = record.question.preview if record.question else ()
    # Edited arguments make the preview one of something that did not run.
    return (() if record.edited is not None else extra_previews(previews, shown)), shown


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
    elif record.untold:
        rows = cut(argument_rows(record.call.arguments), RECORD)
        parts.append(theme.label("arguments") + theme.text_box(rows, "arguments"))
    limit = RECORD // 2 if previews and shown else RECORD
    if previews:
        parts.append(theme.label("what was asked") + displays_html(previews, limit, whole=True))
    if shown:
        ran = record.outcome in RAN
        head = theme.label("result" if ran else "what the model was told") if parts else ""
        parts.append(head + displays_html(shown, limit))
    return "".join(parts)


def _body_text(record: CallRecord) -> list[str]:
    """The call's payload in plain text, without what its line says."""
    previews, shown = _parts(record)
    changes = any(display.kind == "diff" for display in (*previews, *shown))
    parts = []
    if change := _edit(record):
        parts.append(fenced(cut(change, TEXT_RECORD), "diff"))
    elif not changes and not previews and record.untold:
        parts.append(fenced(brief(argument_rows(record.call.arguments, LONG_VALUE))))
    if _said_already(record):
        shown = ()
    return parts + [display_text(display) for display in (*previews, *shown)]


def _said_already(record: CallRecord) -> bool:
    """Whether the call's line holds the whole of its result."""
    if record.outcome not in RAN:
        return True
    text = record.result.text.strip() if record.result else ""
    return bool(text) and text == why_of(record)


def _edit(record: CallRecord) -> str:
    """Both versions of edited arguments, whole, as a diff."""
    return edit_diff(record.call, record.answer, context=10_000) if record.answer else ""


def _facts(record: CallRecord, stable: bool) -> dict[str, object]:
    answer, verdict = record.answer, record.verdict
    decision = answer_facts(answer) if answer else {}
    if record.edited is not None:
        decision["edited"] = fit(record.edited)
    ran = record.outcome in RAN
    return metadata(
        "call",
        id=fit(record.call.id),
        tool=fit(record.call.name, 64),
        arguments=fit(record.call.arguments),
        policy=verdict.decision if verdict else None,
        hook=fit(verdict.reason) if verdict and verdict.by != "policy" else None,
        answer={name: value for name, value in decision.items() if value not in (None, "")},
        outcome=fit(record.outcome, 40),
        seconds=rounded(record.seconds) if ran and not stable else None,
    )
