"""An approval in words: the question with the whole of what would run, and the answer's record.

Owns what a person reads before they decide. What a model chose (title, arguments, preview) is
shown whole, escaped and inside a frame or behind a bar, and nothing of ours follows it, so it can
neither push anything out of sight nor speak for us. Knows no buttons and no prompt.
"""

from __future__ import annotations

from agent_magics.events import Question
from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import NOTHING, Block, fit, metadata
from agent_magics.frontends.blocks_payload import (
    arguments_diff,
    display_html,
    pretty,
    shown_text,
    side_arguments,
)
from agent_magics.frontends.summary import safe_line
from agent_magics.messages import ToolCall
from agent_magics.policy import Answer

NAME, TITLE, REASON, LABEL = 64, 200, 160, 60
"""Characters of a tool's name, a title, a reason, and a scope that are shown."""
BAR = "│ "
"""Begins each line of what a model chose, in plain text."""
OUTSIDE = "It reaches outside the workspace."
_APPROVED = {"option": "approved by option", "judge": "approved by the reviewer model"}


def question_html(question: Question) -> str:
    """The body of an approval card: what would run, why it is asked, and the payload last."""
    title = safe_line(question.title, TITLE)
    parts = [
        theme.line(
            f"<b>{theme.text_html(question.heading)}</b> {title_html(question.call.name, title)}"
        ),
        theme.muted_line(theme.text_html(_why(question))),
    ]
    if question.outside:
        parts.append(theme.line(f"<b>{theme.span(OUTSIDE, 'warn')}</b>"))
    if side := arguments_beside(question):
        parts.append(theme.line(theme.code(side)))
    arguments = theme.text_box(pretty(question.call.arguments), "arguments")
    if question.preview:
        if question.editable:
            parts.append(theme.fold(theme.span("all arguments", "muted"), arguments))
        parts.extend(display_html(display, whole=True) for display in question.preview)
    else:
        parts.append(arguments)
    return f'<div role="group" aria-label="Approval">{"".join(parts)}</div>'


def question_text(question: Question) -> str:
    """The question in plain text; each line of the payload stands behind a bar."""
    return "\n".join([*question_head(question), *(BAR + row for row in payload_rows(question))])


def question_head(question: Question) -> list[str]:
    """What would run and why it is asked, in lines that hold one thing each."""
    lines = [f"{question.heading} {safe_line(question.title, TITLE)}", _why(question)]
    if question.outside:
        lines.append(OUTSIDE)
    if side := arguments_beside(question):
        lines.append(BAR + side)
    return lines


def payload_rows(question: Question) -> list[str]:
    """What would run, whole, in lines: the previews, or the arguments where there is none."""
    texts = [shown_text(d, whole=True) for d in question.preview] or [
        pretty(question.call.arguments)
    ]
    return "\n\n".join(text.removesuffix("\n") for text in texts).split("\n")


def _why(question: Question) -> str:
    reason, origin = safe_line(question.reason, REASON), safe_line(question.origin, 80)
    if not question.editable:
        return f"asked because: {reason}"
    tool = "built-in tool" if origin == "built-in" else f"tool of {origin}"
    return tool + (f" · asked because: {reason}" if reason else "")


def arguments_beside(question: Question) -> str:
    """The arguments that the previews leave out, in one line."""
    if not question.preview or not question.editable:
        return ""
    operand = question.title.removeprefix(question.call.name).strip()
    previews = (display.text for display in question.preview)
    return side_arguments(question.call.arguments, [operand, *previews])


def title_html(tool: str, title: str) -> str:
    """A call's title: the tool in bold, its operand as code.

    Args:
        tool: The tool's name as the model wrote it.
        title: On one line, and safe; begins with the tool's name as a rule.
    """
    name = safe_line(tool, NAME)
    if not title.startswith(f"{name} "):
        return f"<b>{theme.text_html(title)}</b>"
    return f"<b>{theme.text_html(name)}</b> {theme.code(title.removeprefix(name).strip())}"


def decision_words(answer: Answer) -> str:
    """An answer in a few words, for the one line of a call."""
    if answer.allowed:
        words = _APPROVED.get(answer.by, "approved")
        if answer.by == "judge" and answer.reason:
            words += f": “{safe_line(answer.reason, REASON)}”"
        words += ", edited" if answer.arguments is not None else ""
        return words + (f", always: {safe_line(answer.scope.label, LABEL)}" if answer.scope else "")
    words = {
        "timeout": "no answer in time",
        "nobody": "nobody could be asked",
        "interrupt": "interrupted before an answer",
        "option": "refused by option",
        "judge": "refused by the reviewer model",
    }.get(answer.by, "denied")
    words += ", with the calls behind it" if answer.rest else ""
    return words + (f": “{safe_line(answer.reason, REASON)}”" if answer.reason else "")


def answer_block(question: Question, answer: Answer, key: str) -> Block:
    """What stays in the place of a card once it is answered.

    The record of a decision is a part of the call's own block: in its line, and whole in its fold.
    So that nobody reads it twice, there is nothing to see in the card's place then; its plain text
    and its metadata say whose place it was. A question that is not about running its call (may a
    model that repeats itself go on?) has no other record, and leaves one line.

    Args:
        question: As it was asked.
        answer: As it was given.
        key: The card's place.
    """
    title, name = safe_line(question.title, TITLE), safe_line(question.call.name, TITLE)
    text = f"{title} — {decision_words(answer)}"
    facts = metadata("approval", id=fit(question.call.id), **answer_facts(answer))
    if f"{title} ".startswith(f"{name} "):
        return Block(key, NOTHING, f"↳ {text}", facts)
    sign = theme.mark("↳", "answer", "good" if answer.allowed else "warn")
    return Block(key, theme.line(f"{sign} {theme.span(text, 'muted')}"), f"↳ {text}", facts)


def edit_diff(call: ToolCall, answer: Answer, context: int) -> str:
    """What a person changed in the arguments; empty where they changed nothing.

    Args:
        call: As the model wrote it.
        answer: What the person said.
        context: Unchanged rows around a change.
    """
    if answer.arguments is None:
        return ""
    return arguments_diff(call.arguments, answer.arguments, context)


def answer_facts(answer: Answer) -> dict[str, str | bool | None]:
    """An answer for a block's metadata."""
    return {
        "allowed": answer.allowed,
        "by": fit(answer.by, 40),
        "reason": fit(answer.reason),
        "scope": fit(str(answer.scope.rule)) if answer.scope else None,
    }
