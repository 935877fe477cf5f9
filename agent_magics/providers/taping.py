"""Recording a turn: what the model says, as the lines of a recording, as soon as it is said.

A `TapedModel` stands before any model and writes each of its answers before it passes it on. What
became of the calls is in the line of the answer that follows them. The judgements of a reviewer are
not recorded: nothing that approves may come from a file. Knows no file; it is given a function.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agent_magics.differences import Places, each_text
from agent_magics.events import Event
from agent_magics.messages import Assistant, Conversation, ToolCall, User, normalised
from agent_magics.ports import Model, Request, Streamed
from agent_magics.providers.outcomes import Outcome, Outcomes, outcomes_in, recorded
from agent_magics.providers.recording import Kind, Reply
from agent_magics.providers.recording_lines import reply_line


@dataclass(slots=True)
class TurnTape:
    """One turn as it is recorded.

    Args:
        write: Takes a line; never raises.
        warn: Told of an answer that no recording can hold.
        redact: Takes secrets out of a text.
        places: Where the turn happens.
        numbers: Gives the numbers of turns.
        prompt: What the person wrote.
        skills: Name and digest of what is active.
    """

    write: Callable[[bytes], None]
    warn: Callable[[str], None]
    redact: Callable[[str], str]
    places: Places
    numbers: Iterator[int]
    prompt: str
    skills: tuple[tuple[str, str], ...] = ()
    _outcomes: Outcomes = field(default_factory=Outcomes)
    _number: int | None = None
    _step: int = 0
    _task: tuple[int, str, int] = (0, "", 0)

    def observe(self, event: Event) -> None:
        """Take one event of the turn."""
        self._outcomes.observe(event)

    def said(self, request: Request, message: Assistant) -> None:
        """Write an answer, whatever it was asked for; an empty one is none."""
        if request.purpose == "review" or not (message.text or message.calls):
            return
        try:
            self.write(reply_line(self._reply_to(request, message)))
        except (ValueError, TypeError, RecursionError) as error:
            self.warn(f"An answer is missing in the recording, which cannot hold it: {error}")

    def _reply_to(self, request: Request, message: Assistant) -> Reply:
        match request.purpose:
            case "task":
                return self._of_task(request.conversation, message)
            case "summary":
                return self._reply("summary", self.prompt, 0, message, self._turn())
            case _:
                step, results = self._step, self._outcomes.taken()
                self._step += 1
                skills = self.skills if step == 0 else None
                reply = self._reply("answer", self.prompt, step, message, self._turn(), results)
                return replace(reply, skills=skills)

    def _turn(self) -> int:
        if self._number is None:
            self._number = next(self.numbers)
        return self._number

    def _of_task(self, conversation: Conversation, message: Assistant) -> Reply:
        if len(conversation) == 1 and isinstance(conversation[0], User):
            self._task = (next(self.numbers), conversation[0].text, 0)
        number, task, step = self._task
        self._task = (number, task, step + 1)
        results = outcomes_in(conversation)
        return self._reply("task", task, step, message, number, results)

    def _reply(
        self,
        kind: Kind,
        prompt: str,
        step: int,
        message: Assistant,
        turn: int,
        outcomes: tuple[Outcome, ...] = (),
    ) -> Reply:
        results = tuple(recorded(item, self._private, self.places) for item in outcomes)
        return Reply(
            self._clean(prompt).strip(),
            step,
            self._cleaned(message),
            kind=kind,
            turn=turn,
            results=results or None,
        )

    def _cleaned(self, message: Assistant) -> Assistant:
        sound = normalised(message, ())
        return replace(
            sound,
            text=self._clean(sound.text),
            reasoning=self._clean(sound.reasoning),
            calls=tuple(self._call(call) for call in sound.calls),
            model=self._clean(sound.model),
        )

    def _call(self, call: ToolCall) -> ToolCall:
        arguments = each_text(json.loads(call.arguments), self._clean)
        return replace(call, arguments=json.dumps(arguments), problem=self._clean(call.problem))

    def _clean(self, text: str) -> str:
        return self.places.portable(self.redact(text))

    def _private(self, text: str) -> str:
        return self.places.private(self.redact(text))


@dataclass(frozen=True, slots=True)
class TapedModel:
    """A model whose answers are recorded; fulfils `ports.Model`.

    Args:
        model: Who answers.
        tape: Takes what it says.
    """

    model: Model
    tape: TurnTape

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Ask the model; see `ports.Model`."""
        async with aclosing(self.model.stream(request)) as items:  # type: ignore[type-var]  # generators close
            async for item in items:
                if isinstance(item, Assistant):
                    said = item if item.model else replace(item, model=self.name)
                    self.tape.said(request, said)
                yield item

    async def aclose(self) -> None:
        """Close the model's connections, where it has some."""
        close = getattr(self.model, "aclose", None)
        if close is not None:
            await close()
