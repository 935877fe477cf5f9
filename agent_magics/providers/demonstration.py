"""The demonstration: a replay of the recording that comes with the package.

It is what answers when no model is configured, so that a new user can try the product. It says
in every answer what it is; how a recording is played is `replay`'s business.
"""

from __future__ import annotations

from pathlib import Path

from agent_magics.providers.manners import Manner
from agent_magics.providers.playing import Replay
from agent_magics.providers.recording_lines import read_recording
from agent_magics.providers.replay import ReplayModel

NAME = "demonstration"

CONNECT = (
    "To connect a real model: set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for any compatible "
    'server, before Jupyter starts; or `%config AgentMagics.base_url = "…"` and `%agent model '
    "NAME` here. `%agent test` checks it."
)
MANNER = Manner(
    banner=(
        "> **Scripted demonstration.** No model is configured, so the model's words below are "
        "played from a recording; the tools, the approvals and their results are real. " + CONNECT
    ),
    unknown=(
        "**This is the scripted demonstration, not a model.** It has no recording for this prompt, "
        "so it cannot answer it. It knows the prompts of the quickstart notebook.\n\n" + CONNECT
    ),
    differs=(
        "**The scripted demonstration stops here.** What the tools returned does not fit its "
        "recording (another folder, an edited file, or a refused call that the recording does not "
        "foresee), and it does not make answers up.\n\n" + CONNECT
    ),
)


def bundled_recording() -> Path:
    """The recording of the quickstart notebook."""
    return Path(__file__).parent / "recordings" / "quickstart.jsonl"


def demonstration() -> ReplayModel:
    """The model that answers when nothing is configured."""
    return ReplayModel(Replay(read_recording(bundled_recording()), NAME), NAME, MANNER)
