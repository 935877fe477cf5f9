"""`replay:FILE` as a model: from the words that name it to the file that is played.

replay:FILE                       # relative to the workspace; `~` is the home folder
replay:FILE?tools=recorded        # calls are answered from the file
replay:FILE?strict                # what goes otherwise than recorded is an error
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from agent_magics.differences import Places
from agent_magics.errors import ConfigError, UsageProblem
from agent_magics.magics.services import ModelChoice
from agent_magics.providers.manners import manner_of
from agent_magics.providers.playing import Replay
from agent_magics.providers.recording_lines import read_recording
from agent_magics.providers.replay import ReplayModel

PREFIX = "replay:"
_OPTION = r"(?:tools=(?:run|recorded)|strict)"
_OPTIONS = re.compile(rf"\?({_OPTION}(?:&{_OPTION}){{0,3}})$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be played, and how.

    Args:
        file: As the person named it.
        tools: `run` or `recorded`.
        strict: Whether a difference is an error.
    """

    file: str
    tools: str
    strict: bool


@dataclass(slots=True)
class Replays:
    """The files that one kernel plays, each read again when it was changed."""

    _open: dict[tuple[str, Wanted], tuple[tuple[int, int, int], Replay]] = field(
        default_factory=dict
    )
    _last: dict[str, Path] = field(default_factory=dict)
    """Which file each name meant last: after the working folder was changed it still does, unless
    the new one has a file of that name."""

    def opened(self, asked: Wanted, root: Path) -> tuple[Replay, Path]:
        """The file, as far as it was played.

        Args:
            asked: Which.
            root: The workspace.

        Raises:
            UsageProblem: There is no such file, or it is no recording; it says which line.
        """
        try:
            path = (root / Path(asked.file).expanduser()).absolute()
            if not any(stamp := _stamp(path)) and asked.file in self._last:
                path = self._last[asked.file]
                stamp = _stamp(path)
            known = self._open.get((str(path), asked))
            if known is None or known[0] != stamp:
                recording = read_recording(path)
                known = (stamp, Replay(recording, asked.file, asked.strict, asked.tools))
                self._open[str(path), asked] = known
            self._last[asked.file] = path
        except (ConfigError, RuntimeError, ValueError) as error:
            raise UsageProblem(f"{PREFIX}{asked.file} cannot be replayed. {error}") from error
        return known[1], path


def wanted(name: str, tools: str, *, strict: bool) -> Wanted:
    """What a model's name asks for.

    Args:
        name: `replay:FILE`, perhaps with options.
        tools: What the setting says, which the name goes before.
        strict: Whether a setting says so.

    Raises:
        UsageProblem: It names no file.
    """
    file = name.removeprefix(PREFIX).strip()
    if options := _OPTIONS.search(file):
        file = file[: options.start()]
        for option in options[1].split("&"):
            strict = strict or option == "strict"
            tools = option.removeprefix("tools=") if option.startswith("tools=") else tools
    if not file:
        raise UsageProblem("replay: needs a recording's file: %agent model replay:FILE.jsonl")
    return Wanted(file, tools, strict)


def replay_choice(name: str, why: str, replay: Replay, path: Path, root: Path) -> ModelChoice:
    """The model that plays a file.

    Args:
        name: As the person gave it.
        why: Where that was said.
        replay: The file.
        path: Where it is.
        root: The workspace.
    """
    places = Places((os.path.realpath(root), str(root)), str(Path.home()))
    manner = manner_of(replay.recording, replay.file, replay.tools)

    def make() -> ReplayModel:
        return ReplayModel(replay, name, manner, places)

    return ModelChoice(name, f"the recording {path}", why, make, True)


def _stamp(path: Path) -> tuple[int, int, int]:
    """Tells versions of a file apart; all zeros where there is none, which reading it says."""
    try:
        known = path.stat()
    except OSError:
        return (0, 0, 0)
    return (known.st_mtime_ns, known.st_size, known.st_ino)
