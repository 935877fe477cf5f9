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

A file that was recorded rather than written has more in its lines:

- `turn` numbers what belongs together, so that a prompt that was asked twice has two answers.
- `kind` is `task` for a sub-agent's answers (`prompt` is its task), `summary` for a shortened
  conversation, and left out for the answers of the turn.
- `skills` lists name and digest of what was active, in the first line of a turn.
- `results` lists what became of the calls of the step before: `name`, `ok`, `text`, a `digest`
  (which counts where the text is `cut`), whether it was `decided` and `by` whom, and `ran`, the
  arguments where a person had changed them. They never decide which reply is played.
- A reply may have `reasoning`, `stop`, `model` and `usage`; a call may have a `problem`.

The workspace's path is written as `⟨workspace⟩`. This module owns the values and which reply fits;
`recording_lines` reads and writes them; who plays them is `replay`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_magics.messages import JSON, Assistant, ToolResult

VERSION = 1
After: TypeAlias = Literal["any", "ok", "refused"]
Kind: TypeAlias = Literal["answer", "task", "summary"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one call.

    Args:
        name: The tool.
        text: What the model read, possibly cut.
        ok: False for an error, a refusal, an interrupt.
        digest: Of the whole text, without what depends on the machine and the moment.
        cut: Whether the text is not whole.
        decided: `allow`, `deny`, `approved`, `refused`, or empty for calls that were never judged.
        by: Who decided.
        ran: The arguments that ran where a person had changed them.
    """

    name: str
    text: str
    ok: bool = True
    digest: str = ""
    cut: bool = False
    decided: str = ""
    by: str = ""
    ran: JSON = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One recorded reply and when it fits.

    Args:
        prompt: The person's words, with white space normalised.
        step: The number of the reply within its turn, from 0.
        message: What the model says.
        after: What must have become of the calls before.
        expect: Texts that must occur in their results.
        kind: What the reply is for.
        turn: Numbers the turns of a file that was recorded; None in one that was written.
        skills: Name and digest of what was active.
        results: What became of the calls before; None: the file does not say.
    """

    prompt: str
    step: int
    message: Assistant
    after: After = "any"
    expect: tuple[str, ...] = ()
    kind: Kind = "answer"
    turn: int | None = None
    skills: tuple[tuple[str, str], ...] | None = None
    results: tuple[Result, ...] | None = None

    def fits(self, results: Sequence[ToolResult]) -> bool:
        """Whether the reply can follow these results."""
        went_well = all(result.ok for result in results)
        if self.after != "any" and went_well != (self.after == "ok"):
            return False
        seen = "\n".join(result.text for result in results)
        return all(text in seen for text in self.expect)


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of replies.

    Args:
        title: What the file is about.
        replies: In the order of their lines.
        cut: Whether the last line was half written, and is left out.
    """

    title: str
    replies: tuple[Reply, ...]
    cut: bool = False

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the person wrote, each once, in order."""
        return tuple(dict.fromkeys(r.prompt for r in self.replies if r.kind == "answer"))

    def turns(self, kind: Kind, prompt: str) -> tuple[int | None, ...]:
        """The turns in which this prompt was answered, in order; empty where it never was."""
        known = (r.turn for r in self.replies if (r.kind, r.prompt) == (kind, spaced(prompt)))
        return tuple(dict.fromkeys(known))

    def of_turn(self, kind: Kind, prompt: str, turn: int | None) -> tuple[int, ...]:
        """The places of a turn's replies in `replies`."""
        wanted = (kind, spaced(prompt), turn)
        return tuple(n for n, r in enumerate(self.replies) if (r.kind, r.prompt, r.turn) == wanted)

    def fitting(
        self, places: Sequence[int], step: int, results: Sequence[ToolResult]
    ) -> int | None:
        """The place of the reply to play, the first one that fits; or None.

        Args:
            places: Of the turn.
            step: How many replies there were.
            results: What the calls of the step before brought.
        """
        here = (n for n in places if self.replies[n].step == step)
        return next((n for n in here if self.replies[n].fits(results)), None)


def spaced(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())
