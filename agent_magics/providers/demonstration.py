"""The demonstration model: plays a recording of the model's side while everything else is real.

It is what answers when no model is configured, so that a new user can try the product. It says
in every answer what it is; to a prompt that it has no recording for, and where the tools' real
results do not fit the recording, it says exactly that and imitates nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from agent_magics.events import TextDelta
from agent_magics.messages import Assistant, Conversation, ToolResult, User
from agent_magics.ports import Request, Streamed
from agent_magics.providers.recording import Recording, read_recording

NAME = "demonstration"
PIECE, PAUSE = 48, 0.01
"""Characters and seconds of one streamed piece: fast, but visibly a stream."""

CONNECT = (
    "To connect a real model: set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for any compatible "
    'server, before Jupyter starts; or `%config AgentMagics.base_url = "…"` and `%agent model '
    "NAME` here. `%agent test` checks it."
)
BANNER = (
    "> **Scripted demonstration.** No model is configured, so the model's words below are played "
    "from a recording; the tools, the approvals and their results are real. " + CONNECT
)
UNKNOWN = (
    "**This is the scripted demonstration, not a model.** It has no recording for this prompt, so "
    "it cannot answer it. It knows the prompts of the quickstart notebook.\n\n" + CONNECT
)
DIFFERS = (
    "**The scripted demonstration stops here.** What the tools returned does not fit its recording "
    "(another folder, an edited file, or a refused call that the recording does not foresee), and "
    "it does not make answers up.\n\n" + CONNECT
)


def bundled_recording() -> Path:
    """The recording of the quickstart notebook."""
    return Path(__file__).parent / "recordings" / "quickstart.jsonl"


@dataclass(frozen=True, slots=True)
class DemonstrationModel:
    """Fulfils `ports.Model` from a recording."""

    recording: Recording
    name: str = NAME

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Play the reply that fits; see the module's text for what happens when none does."""
        message = self._next(request)
        for start in range(0, len(message.text), PIECE):
            yield TextDelta(message.text[start : start + PIECE])
            await asyncio.sleep(PAUSE)
        yield message

    def _next(self, request: Request) -> Assistant:
        prompt, step, results = _position(request.conversation)
        if not self.recording.knows(prompt):
            return Assistant(UNKNOWN)
        reply = None
        if request.tool_choice == "auto":
            reply = self.recording.reply(prompt, step, results)
        if reply is None:
            return Assistant(DIFFERS)
        if reply.calls:
            return reply
        return replace(reply, text=f"{BANNER}\n\n{reply.text}")


def demonstration() -> DemonstrationModel:
    """The model that answers when nothing is configured."""
    return DemonstrationModel(read_recording(bundled_recording()))


def _position(conversation: Conversation) -> tuple[str, int, tuple[ToolResult, ...]]:
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
