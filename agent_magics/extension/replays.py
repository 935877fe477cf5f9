"""`replay:FILE` as a model: from the words that name it to the file that is played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent_magics.errors import ConfigError, UsageProblem
from agent_magics.magics.services import ModelChoice
from agent_magics.providers.recording import read_recording
from agent_magics.providers.replay import ReplayModel, manner_of

PREFIX = "replay:"


def replay_choice(
    name: str, why: str, root: Callable[[], Path], known: dict[str, Path]
) -> ModelChoice:
    """The model that plays a file.

    Args:
        name: `replay:FILE`; FILE is relative to the workspace.
        why: Where that was said.
        root: The workspace.
        known: Which file each name meant last: where the working folder was changed since and holds
            no such file, it still means that one. This adds to it.

    Raises:
        UsageProblem: There is no such file, or it is no recording; the message says which line.
    """
    file = name.removeprefix(PREFIX).strip()
    if not file:
        raise UsageProblem("replay: needs a recording's file: %agent model replay:FILE.jsonl")
    try:
        path = (root() / Path(file).expanduser()).absolute()
        if not path.exists():
            path = known.get(name, path)
        recording = read_recording(path)
        known[name] = path
    except (ConfigError, RuntimeError, ValueError) as error:
        raise UsageProblem(f"{name!r} cannot be replayed. {error}") from error

    def make() -> ReplayModel:
        return ReplayModel(recording, name, manner_of(recording, file))

    return ModelChoice(name, f"the recording {path}", why, make, True)
