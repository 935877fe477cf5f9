"""Recordings: the model's side of a conversation as JSON lines that a person can read and edit.

The first line says what the file is, each later line is one of the model's replies:

    {"agent_magics_recording": 1, "title": "Quickstart"}
    {"prompt": "What is here?", "step": 0, "reply": {"calls": [{"name": "ls", "arguments": {}}]}}
    {"prompt": "What is here?", "step": 1, "expect": ["app.py"], "reply": {"text": "One program."}}
    {"prompt": "What is here?", "step": 1, "after": "refused", "reply": {"text": "I may not look."}}

`prompt` is what the person wrote (compared without regard to white space at its ends and the
number of blanks within). `step` counts the model's replies to that prompt from 0. Several lines
may share a step; the first one that fits is played: `after` is `ok` (every call of the step before
ran well), `refused` (one did not) or left out (either), and `expect` lists texts that must all
occur in the results of the step before. A reply has `text`, `calls`, or both.

This module knows the format alone; who plays it is `replay`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from agent_magics.errors import ConfigError
from agent_magics.messages import JSON, Assistant, ToolCall, ToolResult

VERSION = 1
After: TypeAlias = Literal["any", "ok", "refused"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One recorded reply and when it fits.

    Args:
        prompt: The person's words, with white space normalised.
        step: The number of the reply within its turn, from 0.
        message: What the model says.
        after: What must have become of the calls before.
        expect: Texts that must occur in their results.
    """

    prompt: str
    step: int
    message: Assistant
    after: After = "any"
    expect: tuple[str, ...] = ()

    def fits(self, results: Sequence[ToolResult]) -> bool:
        """Whether the reply can follow these results."""
        went_well = all(result.ok for result in results)
        if self.after != "any" and went_well != (self.after == "ok"):
            return False
        seen = "\n".join(result.text for result in results)
        return all(text in seen for text in self.expect)


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of replies."""

    title: str
    replies: tuple[Reply, ...]

    def knows(self, prompt: str) -> bool:
        """Whether there is any reply to this prompt."""
        return any(reply.prompt == spaced(prompt) for reply in self.replies)

    def reply(self, prompt: str, step: int, results: Sequence[ToolResult]) -> Assistant | None:
        """The first reply of the step that fits, or None."""
        for reply in self.replies:
            if (reply.prompt, reply.step) == (spaced(prompt), step) and reply.fits(results):
                return reply.message
        return None


def spaced(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def read_recording(path: Path) -> Recording:
    """Read and check a recording.

    Raises:
        ConfigError: The file cannot be read, or a line is off; the message has its number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The recording {path.name} cannot be read: {error}") from error
    title = ""
    replies: list[Reply] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if number == 1:
                title = _header(record)
            else:
                replies.append(_reply(record))
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"The recording {path.name}, line {number}: {error}") from error
    if not replies:
        raise ConfigError(f"The recording {path.name} holds no reply.")
    return Recording(title, tuple(replies))


def _header(record: JSON) -> str:
    version = record.get("agent_magics_recording") if isinstance(record, Mapping) else None
    if version != VERSION:
        raise ValueError(f'the first line must be {{"agent_magics_recording": {VERSION}, …}}')
    return str(record.get("title", ""))


def _reply(record: JSON) -> Reply:
    if not isinstance(record, Mapping):
        raise TypeError("a JSON object is needed")
    unknown = set(record) - {"prompt", "step", "reply", "after", "expect"}
    if unknown:
        raise ValueError(f"unknown key {min(unknown)!r}")
    for key, kind in (("prompt", str), ("step", int), ("reply", Mapping)):
        if not isinstance(record.get(key), kind):
            raise TypeError(f"{key!r} is missing or of the wrong type")
    after = record.get("after", "any")
    if after not in ("any", "ok", "refused"):
        raise ValueError(f"'after' must be ok or refused, not {after!r}")
    expect = record.get("expect", [])
    if not isinstance(expect, list) or not all(isinstance(text, str) for text in expect):
        raise TypeError("'expect' must be a list of texts")
    message = _message(record["reply"], record["step"])
    return Reply(spaced(record["prompt"]), record["step"], message, after, tuple(expect))


def _message(reply: Mapping[str, JSON], step: int) -> Assistant:
    text = reply.get("text", "")
    calls = []
    for number, call in enumerate(reply.get("calls", [])):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            raise TypeError("each call needs a 'name'")
        arguments = call.get("arguments", {})
        if not isinstance(arguments, Mapping):
            raise TypeError("a call's 'arguments' must be an object")
        written = json.dumps(arguments, ensure_ascii=False)
        calls.append(ToolCall(f"rec{step}{number}", call["name"], written))
    if not isinstance(text, str) or not (text or calls):
        raise ValueError("a reply needs 'text', 'calls', or both")
    return Assistant(text, tuple(calls), "calls" if calls else "end")
