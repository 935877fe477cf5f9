"""A question as a card of widgets in the running cell. The only module that imports ipywidgets.

Owns the widgets and what a person can do with them; it says the answer and nothing else. All of
it lives in the agent's event loop: the tap hands each message over to that loop, so no widget is
ever touched by two threads.

Buttons are dead for the first 0.4 seconds after the front end has shown them, here and on screen,
so that a click or key meant for something else answers nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
from collections.abc import Callable
from html import escape
from typing import Any

from agent_magics.events import Question
from agent_magics.frontends.arguments import edited_arguments, same_arguments, visible_json
from agent_magics.frontends.summary import safe_line, visible
from agent_magics.frontends.tap import CommTap, Message
from agent_magics.messages import JSON
from agent_magics.policy import Answer, Scope

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

ARMED_AFTER = 0.4
"""Seconds between showing a button and its first effect."""

SETTLED_WITHIN = 2.0
"""Seconds to wait for the front end to bring the last keystrokes, see `Card._settled`."""

LABEL = 60
"""Characters of a scope on its button; a longer one is written out above the buttons."""

EDITOR_ROWS = 20

STYLE = (
    "<style>.agent-magics-editor textarea{font-family:var(--jp-code-font-family,monospace);"
    "font-size:var(--jp-code-font-size,13px)}</style>"
)


class Card:
    """One question on screen. Make it, show `bundle`, and wait for `hello` and `answer`.

    Args:
        question: What is asked.
        body: Safe HTML that shows the whole of it.
        text: The same as plain text, for front ends that show no widgets.
        hint: A line about what happens if nobody answers.
        tap: Brings the widgets' messages.
    """

    def __init__(
        self, question: Question, body: str, *, text: str, hint: str, tap: CommTap
    ) -> None:
        import ipywidgets

        self._w = ipywidgets
        self._question = question
        self._tap = tap
        self._loop = asyncio.get_running_loop()
        # Messages are handled in the cell's context, so that what widgets send back belongs to it.
        self._context = contextvars.copy_context()
        self._shown = asyncio.Event()
        self._decided: asyncio.Future[Answer | None] = self._loop.create_future()
        self._owned: list[Any] = []
        self._choices = self._own_choices()
        self._forms: dict[str, tuple[Any, Any]] = {}
        self._acting: list[Any] = []
        self._back_button = self._button("Back", self._back, "", "Answer in another way")
        self._status: Any = None
        scopes = _long_scopes(question.scopes)
        top = self._own(ipywidgets.HTML(STYLE + body + scopes))
        row = self._row(self._choices)
        self._extra = self._own(ipywidgets.VBox([]))
        foot = self._own(ipywidgets.HTML(f"<small>{escape(hint)}</small>"))
        self._box = self._own(ipywidgets.VBox([top, row, self._extra, foot]))
        self._when_shown(self._box, self._first_shown)
        self.bundle: dict[str, JSON] = {
            "text/plain": text,
            WIDGET_VIEW: {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self._box.comm.comm_id,
            },
        }

    async def hello(self, patience: float) -> bool:
        """Whether the front end shows the card.

        Args:
            patience: Seconds to wait for it.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._shown.wait()
        return self._shown.is_set() and not self._decided.done()

    async def answer(self) -> Answer | None:
        """The person's answer; None when the front end took the card away."""
        return await self._decided

    def close(self) -> None:
        """Take the widgets away, here and in the front end. Harmless twice."""
        for widget in self._owned:
            if widget.comm is not None:
                self._tap.unwatch(widget.comm.comm_id)
        for widget in self._owned:
            # Closing a widget leaves its layout and style behind, in the page's memory too.
            for part in (widget, getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
        self._owned.clear()

    # Widgets ------------------------------------------------------------------------------------

    def _own(self, widget: Any) -> Any:
        self._owned.append(widget)
        self._tap.watch(widget.comm.comm_id, functools.partial(self._arrived, widget))
        return widget

    def _own_choices(self) -> list[Any]:
        buttons = [self._button("Approve", self._approve, "success", "Run this call, once")]
        for number, scope in enumerate(self._question.scopes, start=1):
            long = len(scope.label) > LABEL
            label = f"Always ({number})" if long else f"Always: {scope.label}"
            act = functools.partial(self._decide, Answer(True, scope=scope))
            buttons.append(self._button(label, act, "", f"Run it, and allow: {scope.label}"))
        buttons.append(self._button("Edit…", self._edit, "", "Change the arguments, then run"))
        buttons.append(self._button("Deny…", self._deny, "danger", "Do not run it"))
        return buttons

    def _button(self, label: str, act: Callable[[], None], style: str, tooltip: str) -> Any:
        layout = self._w.Layout(width="auto", max_width="100%")
        button = self._own(
            self._w.Button(
                description=safe_line(label, LABEL + 20),
                tooltip=visible(tooltip),
                button_style=style,
                disabled=True,
                layout=layout,
            )
        )

        def clicked(_button: Any) -> None:
            # A dead button cannot be clicked; a message that says so all the same changes nothing.
            if not button.disabled:
                act()

        button.on_click(clicked)
        return button

    def _row(self, children: list[Any]) -> Any:
        return self._own(self._w.HBox(children, layout=self._w.Layout(flex_flow="row wrap")))

    def _when_shown(self, widget: Any, then: Callable[[], None]) -> None:
        """Call back when the front end has put the widget on screen: it counts its views."""

        def counted(change: Any) -> None:
            if change["new"]:
                then()

        widget._view_count = 0
        widget.observe(counted, "_view_count")

    # What comes in ------------------------------------------------------------------------------

    def _arrived(self, widget: Any, message: Message) -> None:
        """On the tap's thread: hand a message over to the loop."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            self._loop.call_soon_threadsafe(self._handle, widget, message, context=self._context)

    def _handle(self, widget: Any, message: Message) -> None:
        with self._tap.answering(message):
            if widget.comm is None:
                return
            if message["header"]["msg_type"] == "comm_close":
                # The front end has no such widget, or threw it away.
                self._shown.set()
                self._decide(None)
                return
            widget._handle_msg(message)

    def _first_shown(self) -> None:
        if not self._shown.is_set():
            self._shown.set()
            self._arm(self._choices)

    def _arm(self, buttons: list[Any]) -> None:
        """Bring buttons to life, once they have been on screen for a while."""

        def arm() -> None:
            for button in buttons:
                if button.comm is not None:
                    button.disabled = False

        self._loop.call_later(ARMED_AFTER, arm, context=self._context)

    def _decide(self, answer: Answer | None) -> None:
        if not self._decided.done():
            self._decided.set_result(answer)

    def _approve(self) -> None:
        self._decide(Answer(True))

    # Editing, and a reason for a no -------------------------------------------------------------

    def _edit(self) -> None:
        if "edit" not in self._forms:
            arguments = visible_json(self._question.call.arguments, indent=2)
            rows = min(EDITOR_ROWS, arguments.count("\n") + 2)
            layout = self._w.Layout(width="100%")
            editor = self._own(self._w.Textarea(value=arguments, rows=rows, layout=layout))
            editor.add_class("agent-magics-editor")

            def run() -> None:
                self._settled(functools.partial(self._take_edited, editor))

            button = self._button("Run edited", run, "success", "Run with these arguments")
            self._forms["edit"] = (editor, button)
        self._open("edit")

    def _take_edited(self, editor: Any) -> None:
        arguments, problem = edited_arguments(editor.value)
        if arguments is None:
            self._say(problem)
        elif same_arguments(arguments, self._question.call.arguments):
            self._decide(Answer(True))
        else:
            self._decide(Answer(True, arguments=arguments))

    def _deny(self) -> None:
        if "deny" not in self._forms:
            hint = "Why not? The model reads it. (may stay empty)"
            layout = self._w.Layout(width="100%")
            reason = self._own(self._w.Text(placeholder=hint, layout=layout))

            def deny() -> None:
                self._settled(lambda: self._decide(Answer(False, reason=reason.value.strip())))

            button = self._button("Deny", deny, "danger", "Do not run it")
            reason.on_msg(
                lambda _widget, content, _buffers: (
                    content.get("event") == "submit" and button.click()
                )
            )
            self._forms["deny"] = (reason, button)
        self._open("deny")

    def _open(self, form: str) -> None:
        """Show a field with a button of its own below the choices, which rest meanwhile."""
        field, button = self._forms[form]
        self._status = self._own(self._w.HTML(""))
        self._acting = [button, self._back_button]
        for resting in (*self._choices, *self._acting):
            resting.disabled = True
        self._extra.children = [field, self._row(self._acting), self._status]
        self._arm(self._acting)

    def _back(self) -> None:
        for resting in self._acting:
            resting.disabled = True
        self._extra.children = []
        self._arm(self._choices)

    def _settled(self, then: Callable[[], None]) -> None:
        """Go on when all that the person typed has arrived.

        A front end sends a click at once, but keystrokes only when the last ones are confirmed, so
        a click can overtake them. It handles our messages in order and shows what we add after
        sending what it held back: the new status line's hello therefore comes last.
        """
        for button in self._acting:
            button.disabled = True
        pending = [then]

        def go_on() -> None:
            if pending:
                pending.pop()()

        self._status = self._own(self._w.HTML("<small>…</small>"))
        self._when_shown(self._status, go_on)
        self._extra.children = [*self._extra.children[:-1], self._status]
        self._loop.call_later(SETTLED_WITHIN, go_on, context=self._context)

    def _say(self, problem: str) -> None:
        """Show what is wrong, and let the person go on."""
        self._status.value = f'<span role="alert">{escape(visible(problem))}</span>'
        self._arm(self._acting)


def _long_scopes(scopes: tuple[Scope, ...]) -> str:
    """Scopes that are too long for a button, written out: what is allowed must be seen whole."""
    lines = [
        f"<div>Always ({number}): <code>{escape(visible(scope.label))}</code></div>"
        for number, scope in enumerate(scopes, start=1)
        if len(scope.label) > LABEL
    ]
    return "".join(lines)
