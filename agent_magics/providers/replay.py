"""A model that plays a recording: its words come from a file, everything else is real.

A recording can come from anybody, so it is data like a model's own words: its calls go through the
same checks, the same policy and the same questions, and it never approves anything. To a prompt
that the file does not know, and where what happens does not fit it, the model says exactly that
and makes nothing up. What it is called and what it says about itself is a `Manner`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from agent_magics.events import Notice, TextDelta
from agent_magics.messages import Assistant, Conversation, ToolResult, User
from agent_magics.plain import visible
from agent_magics.ports import Request, Streamed
from agent_magics.providers.recording import Recording

PIECE, PAUSE = 48, 0.01
"""Characters and seconds of one streamed piece: fast, but visibly a stream."""
PROMPTS, PROMPT = 5, 80
"""How many prompts of a recording are named, and how many characters of each."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a replay says beside the recorded words.

    Args:
        unknown: The answer to a prompt that the recording does not have.
        differs: The answer where what the tools returned does not fit.
        banner: Stands before each final answer, as part of it.
        notice: Is shown before the first answer of a turn, beside the conversation.
    """

    unknown: str
    differs: str
    banner: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class ReplayModel:
    """Fulfils `ports.Model` from a recording."""

    recording: Recording
    name: str
    manner: Manner

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Play the reply that fits; see the module's text for what happens when none does."""
        prompt, step, results = position(request.conversation)
        if step == 0 and self.manner.notice:
            yield Notice(self.manner.notice)
        message = self._next(request, prompt, step, results)
        for start in range(0, len(message.text), PIECE):
            yield TextDelta(message.text[start : start + PIECE])
            await asyncio.sleep(PAUSE)
        yield message

    def _next(
        self, request: Request, prompt: str, step: int, results: tuple[ToolResult, ...]
    ) -> Assistant:
        if not self.recording.knows(prompt):
            return Assistant(self.manner.unknown)
        reply = None
        if request.tool_choice == "auto":
            reply = self.recording.reply(prompt, step, results)
        if reply is None:
            return Assistant(self.manner.differs)
        if reply.calls or not self.manner.banner:
            return reply
        return replace(reply, text=f"{self.manner.banner}\n\n{reply.text}")


def manner_of(recording: Recording, file: str) -> Manner:
    """How a file of the person's is replayed.

    Args:
        recording: What it holds.
        file: Its name, as the person gave it.
    """
    shown = _code(file)
    known = list(dict.fromkeys(reply.prompt for reply in recording.replies))
    listed = "".join(f"\n- {_code(prompt)}" for prompt in known[:PROMPTS])
    more = f"\n- … and {len(known) - PROMPTS} more" if len(known) > PROMPTS else ""
    return Manner(
        unknown=(
            f"**The recording {shown} has no answer to this prompt**, and a replay makes none up. "
            f"It knows:\n{listed}{more}\n\nAsk one of these, record this prompt as well "
            "(`%agent record FILE`), or choose a model: `%agent model NAME`."
        ),
        differs=(
            f"**The replay of {shown} stops here.** What the calls brought does not fit the "
            "recording, or it holds no further answer to this prompt. Record it again, or edit "
            "the file: `after` and `expect` say when an answer fits."
        ),
        notice=(
            f"Replay of {visible(file)}: the model's words are played from this recording; the "
            "tools, the approvals and their results are real."
        ),
    )


def position(conversation: Conversation) -> tuple[str, int, tuple[ToolResult, ...]]:
    """The newest prompt, how many replies it has had, and the results since the last one."""
    prompt, step = "", 0
    results: list[ToolResult] = []
    for message in conversation:
        if isinstance(message, User):
            prompt, step, results = message.text, 0, []
        elif isinstance(message, Assistant):
            step, results = step + 1, []
        else:
            results.append(message)
    return prompt, step, tuple(results)


def _code(text: str) -> str:
    """A stranger's text as one line of code in Markdown."""
    line = visible(" ".join(text.split())).replace("`", "'")
    return f"`{line if len(line) <= PROMPT else line[:PROMPT] + '…'}`"
