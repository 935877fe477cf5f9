"""A model that plays a recording: its words come from a file, everything else is real.

A recording can come from anybody, so it is data like a model's own words: its calls go through the
same checks, the same policy and the same questions, and it never approves anything. To a prompt
that the file does not know, and where what happens does not fit it, the model says exactly that
and makes nothing up. What it says about itself is a `Manner`; what went otherwise than recorded is
a `Comparison`. Whether tools run is not decided here, see `stand_ins`.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from agent_magics.differences import Comparison, Difference, Places, each_text, skill_differences
from agent_magics.errors import ReplayDiffers
from agent_magics.events import Event, Notice, TextDelta, TurnEnded
from agent_magics.messages import Assistant
from agent_magics.ports import Request, Streamed
from agent_magics.providers.manners import Manner
from agent_magics.providers.outcomes import Outcome, Outcomes, compared, outcomes_in
from agent_magics.providers.playing import (
    Lane,
    Replay,
    answers_since,
    newest_prompt,
    results_since,
    same_arguments,
)
from agent_magics.providers.recording import Kind, Reply, Result

PIECE, PIECES, PAUSE = 48, 100, 0.01
"""Characters of a streamed piece, pieces of a long answer, seconds between them: fast, but visibly
a stream."""
NO_VERDICT = json.dumps({"decision": "ask", "reason": "a recording approves nothing"})
"""What it says as a reviewer of calls: the person is asked."""


class ReplayModel:
    """Fulfils `ports.Model` from a recording, for one turn.

    Args:
        replay: The file.
        name: The model's name.
        manner: What is said beside the recorded words.
        places: Where the turn happens.
    """

    def __init__(
        self, replay: Replay, name: str, manner: Manner, places: Places | None = None
    ) -> None:
        self.replay = replay
        self.name = name
        self._manner = manner
        self._places = places or Places()
        self._redact: Callable[[str], str] = str
        self._prompt: str | None = None
        self._skills: tuple[tuple[str, str], ...] = ()
        self._outcomes = Outcomes()
        self._main: Lane | None = None
        self._task: Lane | None = None
        self._summaries = 0
        self._differences: list[Difference] = []
        self._compared = 0
        self._noticed = False

    def begin(
        self, prompt: str, skills: tuple[tuple[str, str], ...], redact: Callable[[str], str]
    ) -> None:
        """Say what the turn is, so that it can be compared.

        Args:
            prompt: What the person wrote.
            skills: Name and digest of what is active.
            redact: Takes secrets out of a text, as they were taken out of the recording.
        """
        self._prompt, self._skills, self._redact = prompt, skills, redact

    def observe(self, event: Event) -> None:
        """Take one event of the turn."""
        self._outcomes.observe(event)

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Play the reply that fits; see the module's text for what happens when none does.

        Raises:
            ReplayDiffers: None fits, and the replay is strict.
        """
        if request.purpose == "answer" and self._manner.notice and not self._noticed:
            self._noticed = True
            yield Notice(self._manner.notice)
        message = self._next(request)
        size = max(PIECE, len(message.text) // PIECES)
        for start in range(0, len(message.text), size):
            yield TextDelta(message.text[start : start + size])
            await asyncio.sleep(PAUSE)
        yield message

    def recorded_result(self, name: str, arguments: str) -> Result | None:
        """What the recording says that a call brought; each result is given once.

        Args:
            name: The tool.
            arguments: As JSON.
        """
        for exactly in (True, False):
            for lane in (self._task, self._main):
                for item in lane.waiting if lane else ():
                    if item[1].name == name and (not exactly or same_arguments(item[0], arguments)):
                        lane.waiting.remove(item)  # type: ignore[union-attr]  # it has some
                        return item[1]
        return None

    def comparison(self, ended: TurnEnded) -> Comparison | None:
        """The turn beside its recording; None where there was nothing to compare.

        Args:
            ended: How the turn ended.
        """
        found = list(self._differences)
        lane = self._main
        if lane is not None and ended.reason != "interrupted" and not found:
            rest = [self._reply(n) for n in lane.places if n not in lane.played]
            if rest and rest[0].turn is not None:  # in a written file, some are alternatives
                found.append(_unplayed(rest))
        if not self._manner.compares or not (found or self._compared):
            return None
        return Comparison(self.replay.file, self._compared, tuple(found), self.replay.strict)

    # ---- which reply

    def _next(self, request: Request) -> Assistant:
        match request.purpose:
            case "review":
                return Assistant(NO_VERDICT)
            case "summary":
                return self._summary()
            case "task":
                if len(request.conversation) == 1 or self._task is None:
                    self._task = self._lane("task", newest_prompt(request.conversation))
                return self._said(self._task, request, outcomes_in(request.conversation))
            case "answer":
                prompt = self._prompt or newest_prompt(request.conversation)
                lane = self._turn(prompt, answers_since(request.conversation))
                return self._said(lane, request, self._outcomes.taken())

    def _turn(self, prompt: str, step: int = 0) -> Lane | None:
        """The turn's own dialogue, which begins with its first request."""
        if self._main is None:
            self._main = self._lane("answer", prompt)
            if self._main is not None:
                self._main.step = step
                self._compare_skills(self._main)
        return self._main

    def _lane(self, kind: Kind, prompt: str) -> Lane | None:
        known = self._comparable_prompt(prompt)
        try:
            turn = self.replay.turn(kind, known)
        except LookupError:
            return None
        recording = self.replay.recording
        summaries = recording.of_turn("summary", known, turn) if kind == "answer" else ()
        return Lane(kind, known, recording.of_turn(kind, known, turn), summaries)

    def _said(
        self, lane: Lane | None, request: Request, outcomes: tuple[Outcome, ...]
    ) -> Assistant:
        if lane is None:
            prompt = newest_prompt(request.conversation)
            return self._stopped(self._unknown(prompt), self._manner.unknown)
        results = results_since(request.conversation)
        place = self.replay.recording.fitting(lane.places, lane.step, results)
        reply = None if place is None else self._reply(place)
        if reply and reply.message.calls and request.tool_choice == "none" and reply.turn is None:
            reply = None  # the last word of a written turn: a call would come to nothing
        if place is None or reply is None:
            answers = "1 answer" if lane.step == 1 else f"{lane.step} answers"
            after = f"after {answers}" if lane.step else "at all"
            end = Difference("end", f"no further answer {after}", now=lane.prompt)
            return self._stopped(end, self._manner.differs)
        if reply.results is not None:
            self._compared += len(reply.results)
            self._differences += compared(
                reply.results, lane.calls, outcomes, self._clean, self._places
            )
        elif outcomes and reply.turn is not None:
            self._differences += compared((), lane.calls, outcomes, self._clean, self._places)
        return self._played(lane, place, reply)

    def _played(self, lane: Lane, place: int, reply: Reply) -> Assistant:
        lane.played.append(place)
        lane.step += 1
        lane.calls = reply.message.calls
        following = (n for n in lane.places if self._reply(n).step == lane.step)
        then = next((self._reply(n).results for n in following), None) or ()
        written = [call.arguments for call in lane.calls]
        lane.waiting = list(zip(written, then, strict=False))
        message = self._here(reply.message)
        if message.calls or not self._manner.banner:
            return message
        return replace(message, text=f"{self._manner.banner}\n\n{message.text}")

    def _summary(self) -> Assistant:
        """A shortened conversation; where none was recorded, the conversation stays as it is."""
        if self._prompt:
            main = self._turn(self._prompt)
            places = main.summaries if main is not None else ()
        else:  # a conversation that is only shortened
            lane = self._lane("summary", "")
            places = lane.places if lane is not None else ()
        if self._summaries >= len(places):
            self._differences.append(Difference("end", "no summary of the conversation"))
            return Assistant("")
        place = places[self._summaries]
        self._summaries += 1
        return self._here(self._reply(place).message)

    # ---- what is otherwise

    def _stopped(self, why: Difference, said: str) -> Assistant:
        self._differences.append(why)
        if self.replay.strict:
            raise ReplayDiffers(
                f"The strict replay of {self.replay.file} cannot go on: {why.where}."
            )
        return Assistant(said)

    def _unknown(self, prompt: str) -> Difference:
        near = difflib.get_close_matches(prompt[:500], self.replay.recording.prompts, 1, 0.5)
        return Difference("prompt", "it has no answer to this prompt", "".join(near), prompt)

    def _compare_skills(self, lane: Lane) -> None:
        then = self._reply(lane.places[0]).skills
        if then is not None:
            self._compared += len(then)
            self._differences += skill_differences(then, self._skills)

    def _reply(self, place: int) -> Reply:
        return self.replay.recording.replies[place]

    def _here(self, message: Assistant) -> Assistant:
        """The message with this workspace's path in the place of the recorded one's."""
        calls = []
        for call in message.calls:
            given = each_text(json.loads(call.arguments), self._places.here)
            calls.append(replace(call, arguments=json.dumps(given, ensure_ascii=False)))
        return replace(message, text=self._places.here(message.text), calls=tuple(calls))

    def _comparable_prompt(self, prompt: str) -> str:
        return " ".join(self._places.portable(self._redact(prompt)).split())

    def _clean(self, text: str) -> str:
        return self._places.private(self._redact(text))


def _unplayed(rest: Sequence[Reply]) -> Difference:
    said = rest[0].message
    words = said.text or ", ".join(f"call of {call.name}" for call in said.calls)
    count = "1 answer" if len(rest) == 1 else f"{len(rest)} answers"
    return Difference("unplayed", f"{count} of the recording", recorded=words)
