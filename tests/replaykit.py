"""Records whole turns with hand-made parts, and plays the recordings back."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_magics.context import ActiveSkill
from agent_magics.differences import Places
from agent_magics.events import ReplayCompared
from agent_magics.messages import Assistant
from agent_magics.providers.manners import manner_of
from agent_magics.providers.playing import Replay
from agent_magics.providers.recording_lines import header_line, read_recording
from agent_magics.providers.replay import ReplayModel
from agent_magics.providers.taping import TapedModel, TurnTape
from agent_magics.result import TurnResult
from agent_magics.turn import Turn
from tests.turns import Scene

HERE = Places(("/work/here",), "/home/me")
THERE = Places(("/elsewhere/there",), "/home/you")


@dataclass
class Studio:
    """One scene, recorded or played.

    Args:
        scene: Its tools, its answers and, for recording, its replies.
        places: Where it happens.
        redact: Takes secrets out.
        began: Told of each turn before it begins.
    """

    scene: Scene
    places: Places = HERE
    redact: Any = str
    began: Any = None
    lines: list[bytes] = field(default_factory=lambda: [header_line("t", "")])
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def record(self, prompt: str) -> TurnResult:
        """One turn of the scene's model, recorded."""
        tape = TurnTape(
            self.lines.append,
            self.warnings.append,
            self.redact,
            self.places,
            self._numbers,
            prompt,
            self._skills(),
        )
        turn = replace(self.scene.turn(), model=TapedModel(self.scene.model, tape))
        return self._ask(prompt, turn, tape.observe)

    def play(self, prompt: str, replay: Replay) -> TurnResult:
        """One turn of a replay."""
        model = ReplayModel(
            replay, "replay:r", manner_of(replay.recording, replay.file), self.places
        )
        model.begin(prompt, self._skills(), self.redact)

        def epilogue(ended: Any) -> tuple[ReplayCompared, ...]:
            compared = model.comparison(ended)
            return () if compared is None else (ReplayCompared(compared),)

        turn = replace(self.scene.turn(), model=model, epilogue=epilogue)
        return self._ask(prompt, turn, model.observe)

    def written(self, path: Path) -> Path:
        """The lines as a file."""
        path.write_bytes(b"".join(self.lines))
        return path

    def replay(self, path: Path, **options: Any) -> Replay:
        """The lines as a replay."""
        return Replay(read_recording(self.written(path)), "r.jsonl", **options)

    def _skills(self) -> tuple[tuple[str, str], ...]:
        return tuple((skill.name, skill.digest) for skill in self.scene.skills)

    def _ask(self, prompt: str, turn: Turn, observe: Any) -> TurnResult:
        scene = self.scene
        if self.began is not None:
            self.began(turn)
        active = [ActiveSkill(skill) for skill in scene.skills]
        return asyncio.run(scene.session.ask(prompt, turn, scene.log, active, [observe]))


def said(result: TurnResult) -> list[Any]:
    """What the model said in a turn, without what a replay does not repeat."""
    return [
        (m.text, m.reasoning, m.stop, [(c.name, c.arguments, c.problem) for c in m.calls])
        for m in result.conversation
        if isinstance(m, Assistant)
    ]


def recorded_and_played(
    path: Path, make: Any, prompts: Sequence[str], replies: Iterable[Any]
) -> tuple[list[TurnResult], list[TurnResult]]:
    """The turns as they were recorded, and as they are played in a scene of the same making."""
    studio = Studio(make(list(replies)))
    then = [studio.record(prompt) for prompt in prompts]
    assert studio.warnings == []
    stage = Studio(make([]))
    replay = studio.replay(path)
    return then, [stage.play(prompt, replay) for prompt in prompts]
