"""Asks a person in a kernel's cell: with a card, else with typed text, else not at all.

Owns the order in which the ways are tried, the time limit, and the record that stays in the place
of the question, however it ends. The card and the prompt know how they ask.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from agent_magics.events import Question
from agent_magics.frontends.blocks import Block, answer_block, question_html, question_text
from agent_magics.frontends.card import Card
from agent_magics.frontends.headless import Nobody
from agent_magics.frontends.kernel import OnMain
from agent_magics.frontends.notebook import METADATA_KEY, published
from agent_magics.frontends.prompt import answered_within, ask_typed
from agent_magics.frontends.publisher import Bundle, CellOutput
from agent_magics.frontends.routes import Route, StageSettings
from agent_magics.frontends.tap import CommTap
from agent_magics.frontends.tap_pages import PageAnswers
from agent_magics.policy import Answer

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class CellApprover:
    """Puts questions in one cell, one at a time.

    Args:
        output: The cell.
        route: Who can answer there.
        settings: Of this run.
        on_main: Runs a function on the main thread.
        tap: Brings clicks; None where none can come.
        silent_clients: Front ends that showed no buttons; this adds to them.
    """

    output: CellOutput
    route: Route
    settings: StageSettings
    on_main: OnMain
    tap: CommTap | None
    silent_clients: set[str]
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _question: Question | None = None
    _slot: str = ""
    _card: Card | None = None
    _pages: PageAnswers | None = None

    async def ask(self, question: Question) -> Answer:
        """The person's answer. Never raises but `CancelledError`; nobody there means refused."""
        if self.route.kind == "nobody":
            return Nobody(self.route.detail).refusal(question)
        async with self._turn:
            self._question, self._slot = question, ""
            try:
                limit = self.settings.approval_timeout
                answer = await answered_within(limit, self._answer(question))
            except asyncio.CancelledError:
                self.abandon()
                raise
            self._settle(answer)
            return answer

    def abandon(self) -> None:
        """Close the question that is open, if one is; for the end of the cell, on any thread."""
        self._settle(Answer(False, by="interrupt"))

    async def _answer(self, question: Question) -> Answer:
        answer = await self._by_card(question) if self._may_click() else None
        return answer or await self._typed(question)

    def _may_click(self) -> bool:
        return (
            self.route.kind == "widgets"
            and self.tap is not None
            and self.output.client not in self.silent_clients
        )

    async def _by_card(self, question: Question) -> Answer | None:
        """The answer that came by a click; None where no buttons show."""
        assert self.tap is not None
        text = question_text(question) + "\n\n(waiting for an answer)"
        try:
            self._card = Card(
                question,
                question_html(question),
                text=text,
                hint=self._hint(question),
                tap=self.tap,
                lost=self._show_again,
            )
        except Exception:
            # No ipywidgets, or ones that cannot do it: there is another way to ask.
            log.debug("no card", exc_info=True)
            self.silent_clients.add(self.output.client)
            return None
        self._pages = PageAnswers(self.tap)
        self._show(self._card.bundle)
        if not await self._card.hello(self.route.patience):
            self.silent_clients.add(self.output.client)
            answer = None
        else:
            answer = await self._card.answer()
        if answer is None:
            self._show(_static(question))
            self._close()
        return answer

    def _show_again(self) -> None:
        """Put the card back after its output was cleared, in a slot of its own."""
        if self._card is not None:
            self._slot = self.output.show(self._card.bundle)

    async def _typed(self, question: Question) -> Answer:
        from IPython.core.error import StdinNotImplementedError

        if not (self.output.parent.get("content") or {}).get("allow_stdin"):
            return Nobody("no buttons show here, and no input is taken").refusal(question)
        if not self._slot:
            self._show(_static(question))
        try:
            return await ask_typed(question, self._read, lambda line: self.output.text(line + "\n"))
        except StdinNotImplementedError:
            return Nobody("the front end takes no input").refusal(question)

    async def _read(self, prompt: str) -> str:
        # ipykernel has put its own in the place of the built-in for the time of the cell.
        return await self.on_main(lambda: input(prompt))

    def _hint(self, question: Question) -> str:
        limit = self.settings.approval_timeout
        counts = f" No answer within {limit:g} s counts as a no." if limit else ""
        what = "the whole turn" if question.editable else "it"
        return f"Interrupting the cell stops {what}.{counts}"

    def _settle(self, answer: Answer) -> None:
        """Leave the record in the place of the question: static, and without a widget."""
        question, self._question = self._question, None
        try:
            if question is not None and self._slot:
                self._record(answer_block(question, answer, self._slot))
            self._close()
        except Exception:  # a broken display must not break a turn
            log.warning("an answer could not be shown", exc_info=True)

    def _close(self) -> None:
        card, pages, self._card, self._pages = self._card, self._pages, None, None
        if pages is not None:
            pages.close()
        if card is not None:
            card.close()

    def _record(self, block: Block) -> None:
        metadata = {METADATA_KEY: dict(block.metadata)}
        if self.route.updates:
            self.output.replace(self._slot, published(block), metadata)
        elif block.html or block.text:
            self.output.show(published(block), metadata)

    def _show(self, bundle: Bundle) -> None:
        """Put the question on screen; where outputs cannot change, it is there already."""
        if not self._slot:
            self._slot = self.output.show(bundle)
        elif self.route.updates:
            self.output.replace(self._slot, bundle)


def _static(question: Question) -> Bundle:
    """The question without buttons."""
    return {"text/html": question_html(question), "text/plain": question_text(question)}
