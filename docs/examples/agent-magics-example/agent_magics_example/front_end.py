"""A front end: something that shows events, and something that asks a person.

This one prints plain lines and asks with `input()`: enough for a screen reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.events import CallFinished, CallProposed, Event, MessageAdded, Notice, Question
from agent_magics.frontends.plugged import Surroundings
from agent_magics.messages import Assistant
from agent_magics.plain import visible
from agent_magics.policy import Answer


@dataclass
class Lines:
    """Prints a line for what matters; `visible` shows what hides in a stranger's text."""

    quiet: bool

    def show(self, event: Event) -> None:
        """Print an event."""
        match event:
            case MessageAdded(Assistant(text=text)) if text:
                print(f"answer: {visible(text)}")
            case CallProposed(_, title) if not self.quiet:
                print(f"call: {visible(title)}")
            case CallFinished(outcome=outcome) if not self.quiet:
                print(f"call {outcome}")
            case Notice(text):
                print(f"note: {visible(text)}")
            case _:
                pass


@dataclass
class Typed:
    """Asks on the thread of the cell, where `input()` works."""

    around: Surroundings

    async def ask(self, question: Question) -> Answer:
        """Yes for a y, else no; a no where nobody can type."""
        if self.around.route.kind == "nobody":
            return Answer(False, "nobody", self.around.route.detail)
        shown = [display.text for display in question.preview]
        text = visible("\n".join([f"{question.title} ({question.origin})", *shown]))
        said = await self.around.on_main(lambda: input(f"{text}\nrun it, y or n? "))
        return Answer(said.strip().lower() == "y", "typed")


def front_end(around: Surroundings) -> tuple[Lines, Typed]:
    """The renderer and the approver of one cell."""
    return Lines(around.quiet), Typed(around)
