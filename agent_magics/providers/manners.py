"""What a replay says beside the recorded words: that it is one, and why it cannot go on."""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.plain import visible
from agent_magics.providers.recording import Recording

PROMPTS, PROMPT = 5, 80
"""How many prompts of a recording are named, and how many characters of each."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a replay says.

    Args:
        unknown: The answer to a prompt that the recording does not have.
        differs: The answer where what the tools returned does not fit.
        banner: Stands before each final answer, as part of it.
        notice: Is shown before the first answer of a turn, beside the conversation.
        compares: Whether what went otherwise is reported.
    """

    unknown: str
    differs: str
    banner: str = ""
    notice: str = ""
    compares: bool = False


def manner_of(recording: Recording, file: str, tools: str = "run") -> Manner:
    """How a file of the person's is replayed.

    Args:
        recording: What it holds.
        file: Its name, as the person gave it.
        tools: `run`, or `recorded`.
    """
    shown = _code(file)
    known = recording.prompts
    listed = "".join(f"\n- {_code(prompt)}" for prompt in known[:PROMPTS])
    more = f"\n- … and {len(known) - PROMPTS} more" if len(known) > PROMPTS else ""
    real = "the tools, the approvals and their results are real."
    if tools == "recorded":
        real = "so are the answers of the tools, and no tool runs that looks or acts outside."
    cut = " Its last line was cut off and is left out." if recording.cut else ""
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
            f"Replay of {visible(file)}: the model's words are played from this recording; "
            f"{real}{cut}"
        ),
        compares=True,
    )


def _code(text: str) -> str:
    """A stranger's text as one line of code in Markdown."""
    line = visible(" ".join(text.split())).replace("`", "'")
    return f"`{line if len(line) <= PROMPT else line[:PROMPT] + '…'}`"
