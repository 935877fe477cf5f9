"""Keeping a conversation within the model's context: sizes, pruning, what a summary keeps. Pure.

Both ways change the front of the prompt, which voids providers' prompt caches, so they come rarely
and in big steps. The person's own words, the files touched and the open errors outlive any of it;
the active skills stand in the system prompt and are not touched by construction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from agent_magics.context import cut_middle, estimated_tokens
from agent_magics.messages import (
    Assistant,
    Conversation,
    Message,
    ToolCall,
    ToolResult,
    User,
    turns,
)

PROTECTED = 40_000
"""Tokens of the newest tool results that pruning leaves alone."""
WORTH_PRUNING = 20_000
"""Tokens that pruning must win, or it does not happen (the prompt cache is worth more)."""
MUST_GAIN = 0.10
"""Share of the size that a compaction must win, or it has failed."""
IMAGE_TOKENS = 1_200
WORDS_KEPT = 20_000
"""Characters of the person's earlier words that a summary keeps verbatim, newest first."""
FILES_KEPT = 60
PINNED = ("skill",)
"""Tools whose results outlive pruning and summaries: the text of a skill that a model loaded."""
SHORTEST = 80
"""Characters below which a result is not cut any further."""

SUMMARY_PROMPT = (
    "The conversation so far is about to be replaced by a summary, since it no longer fits. Write "
    "that summary for yourself: what the person wants, what was found out (with file and line), "
    "what was changed, which decisions were made and why, what failed, and what is left to do. "
    "Leave nothing out that the next step needs. Do not call tools."
)


def conversation_tokens(conversation: Conversation, system: str = "") -> int:
    """The size of the next prompt: what the server last counted, plus an estimate of what is new.

    Args:
        conversation: Up to now.
        system: Counted only while no server has counted anything yet.
    """
    for index in range(len(conversation) - 1, -1, -1):
        message = conversation[index]
        if isinstance(message, Assistant) and message.usage.input:
            newer = sum(_tokens(m) for m in conversation[index + 1 :])
            return message.usage.input + message.usage.output + newer
    return estimated_tokens(system) + sum(_tokens(m) for m in conversation)


def pruned(
    conversation: Conversation, protected: int = PROTECTED, worth: int = WORTH_PRUNING
) -> Conversation | None:
    """The conversation with old tool results cut down, or None when that would not win enough.

    Older results keep one line that says what they were. The usage that servers counted before is
    dropped, since it no longer tells the size.

    Args:
        conversation: Up to now.
        protected: Tokens of the newest results that stay.
        worth: Tokens that must be won.
    """
    seen = won = 0
    names = {c.id: c for m in conversation if isinstance(m, Assistant) for c in m.calls}
    kept: list[Message] = []
    newest = True  # the results that the model has not read yet; without them it calls again
    for message in reversed(conversation):
        newest = newest and isinstance(message, ToolResult)
        if isinstance(message, ToolResult):
            size = _tokens(message)
            seen += size
            call = names.get(message.call_id)
            short = _stub(message, call)
            pinned = newest or (call is not None and call.name in PINNED)
            if seen > protected and not pinned and _tokens(short) < size:
                won += size - _tokens(short)
                kept.append(short)
                continue
        kept.append(message)
    if won < worth:
        return None
    return _uncounted(tuple(reversed(kept)))


def halved(conversation: Conversation) -> Conversation | None:
    """The conversation with its longest tool results cut to half, or None when all are short.

    The last resort: one huge result in a small context is the commonest reason that a request does
    not fit, and its two ends are worth more than nothing.
    """
    longest = max((len(m.text) for m in conversation if isinstance(m, ToolResult)), default=0)
    budget = longest // 2
    if budget < SHORTEST:
        return None
    cut = tuple(
        replace(m, text=cut_middle(m.text, budget), images=())
        if isinstance(m, ToolResult) and len(m.text) > budget
        else m
        for m in conversation
    )
    return _uncounted(cut)


def split_for_summary(conversation: Conversation) -> tuple[Conversation, Conversation] | None:
    """What a summary would replace and what stays: the cut is always before a prompt.

    The newest turn stays, and the one before it as well when it is small. None when there is
    nothing older.
    """
    parts = turns(conversation)
    if len(parts) < 2:
        return None
    keep = 1
    if len(parts) > 2 and conversation_size(parts[-2]) < PROTECTED // 4:
        keep = 2
    old = tuple(m for part in parts[:-keep] for m in part)
    new = tuple(m for part in parts[-keep:] for m in part)
    return old, new


def with_summary(old: Conversation, new: Conversation, summary: str) -> Conversation:
    """The conversation with `old` replaced by a summary and by what must not be lost."""
    parts = ["Earlier parts of this conversation were replaced by this summary.", summary.strip()]
    words = _words(old)
    if words:
        parts.append("What I wrote in them, verbatim:\n" + words)
    parts.extend(_pinned(old))
    files = _files(old)
    if files:
        parts.append("Files that were read or changed: " + files)
    errors = _open_errors(old)
    if errors:
        parts.append("Errors that were still open:\n" + errors)
    head = User("\n\n".join(parts))
    return (head, Assistant("Understood."), *_uncounted(new))


def gained_enough(before: int, after: int) -> bool:
    """Whether a compaction was worth it; one that is not must not be tried again and again."""
    return after <= before * (1 - MUST_GAIN)


def conversation_size(conversation: Conversation) -> int:
    """The estimated size in tokens, whatever servers have counted."""
    return sum(_tokens(message) for message in conversation)


def _tokens(message: Message) -> int:
    match message:
        case User(images=images):
            return estimated_tokens(message.whole) + len(images) * IMAGE_TOKENS + 4
        case Assistant(text, calls):
            written = sum(len(call.name) + len(call.arguments) for call in calls)
            return estimated_tokens(text) + (written + 3) // 4 + 4
        case ToolResult(_, text, _, images):
            return estimated_tokens(text) + len(images) * IMAGE_TOKENS + 4


def _stub(result: ToolResult, call: ToolCall | None) -> ToolResult:
    what = f"{call.name} {call.arguments[:120]}" if call else "a call"
    text = f"[The result of {what} was removed to save space; call it again if it is needed.]"
    return replace(result, text=text, images=(), display=())


def _uncounted(conversation: Conversation) -> Conversation:
    return tuple(
        replace(m, usage=replace(m.usage, input=0)) if isinstance(m, Assistant) else m
        for m in conversation
    )


def _words(old: Conversation) -> str:
    kept: list[str] = []
    left = WORDS_KEPT
    for message in reversed(old):
        if isinstance(message, User):
            text = message.text.strip()
            if len(text) > left:
                kept.append(text[:left] + " […]")
                break
            kept.append(text)
            left -= len(text)
    return "\n---\n".join(reversed(kept))


def _files(old: Conversation) -> str:
    paths: dict[str, str] = {}
    for call in _calls(old):
        arguments = json.loads(call.arguments)
        path = arguments.get("path")
        if isinstance(path, str) and call.name in ("read", "write", "edit", "delete"):
            changed = call.name != "read" or paths.get(path) == "changed"
            paths[path] = "changed" if changed else "read"
    shown = list(paths.items())[-FILES_KEPT:]
    return ", ".join(f"{path} ({how})" for path, how in shown)


def _open_errors(old: Conversation) -> str:
    """Errors of the last replaced turn; earlier ones were either mended or given up."""
    last = turns(old)[-1] if old else ()
    texts = [m.text.strip()[:400] for m in last if isinstance(m, ToolResult) and not m.ok]
    return "\n".join(f"- {text}" for text in texts[-3:])


def _pinned(old: Conversation) -> list[str]:
    """Results that a summary must keep verbatim, each text once."""
    ids = {call.id for call in _calls(old) if call.name in PINNED}
    texts = [m.text for m in old if isinstance(m, ToolResult) and m.ok and m.call_id in ids]
    return list(dict.fromkeys(text for text in texts if text.startswith("<skill")))


def _calls(conversation: Conversation) -> Iterator[ToolCall]:
    for message in conversation:
        if isinstance(message, Assistant):
            yield from message.calls
