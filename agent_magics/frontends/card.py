"""A question as a card in the running cell: buttons, an editor for arguments, a reason for a no.

Owns what a person can do with it; it says the answer and nothing else. Lives in the agent's event
loop, as its widgets do.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from html import escape
from typing import Any

from agent_magics.events import Question
from agent_magics.frontends import theme
from agent_magics.frontends.arguments import edited_arguments, same_arguments, visible_json
from agent_magics.frontends.card_widgets import LiveWidgets
from agent_magics.frontends.tap import CommTap
from agent_magics.messages import JSON
from agent_magics.plain import visible
from agent_magics.policy import Answer, Scope

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

SETTLED_WITHIN = 2.0
"""Seconds to wait for the front end to bring the last keystrokes, see `Card._settled`."""

LABEL = 60
"""Characters of a scope on its button; a longer one is written out above the buttons."""

EDITOR_ROWS = 20

STYLE = (
    "<style>.agent-magics-editor textarea{font-family:var(--jp-code-font-family,monospace);"
    "font-size:var(--jp-code-font-size,13px)}"
    # What a button allows is read whole, in a narrow window, too.
    ".agent-magics-card .jupyter-button{height:auto;min-height:28px;padding:4px 10px;"
    "line-height:1.4;white-space:normal;overflow-wrap:anywhere;text-align:start}"
    ".agent-magics-card .jupyter-button:focus-visible{outline:2px solid;outline-offset:2px}"
    "@media (forced-colors:active),(prefers-contrast:more)"
    "{.agent-magics-card .jupyter-button{border:1px solid}}</style>"
)
"""Of the card, and of nothing else in the page; it goes away with the card."""


class Card:
    """One question on screen. Make it, show `bundle`, and wait for `hello` and `answer`.

    Args:
        question: What is asked.
        body: Safe HTML that shows the whole of it.
        text: The same as plain text, for front ends that show no widgets.
        hint: A line about what happens if nobody answers.
        tap: Brings the widgets' messages.
        lost: Called when the card was taken off the screen, by clearing the cell's output.
    """

    def __init__(
        self,
        question: Question,
        body: str,
        *,
        text: str,
        hint: str,
        tap: CommTap,
        lost: Callable[[], None],
    ) -> None:
        self._question = question
        self._shown = asyncio.Event()
        self._decided: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._widgets = LiveWidgets(tap, self._gone)
        try:
            box = self._built(body + _long_scopes(question.scopes), hint)
        except BaseException:
            self._widgets.close()
            raise
        self._widgets.when_shown(box, self._first_shown, lost)
        view = {"version_major": 2, "version_minor": 0, "model_id": box.comm.comm_id}
        self.bundle: dict[str, JSON] = {"text/plain": text, WIDGET_VIEW: view}

    def _built(self, body: str, hint: str) -> Any:
        widgets = self._widgets
        self._choices = self._choice_buttons()
        self._back_button = self._button("Back", self._back, "", "Answer in another way")
        self._forms: dict[str, tuple[Any, Any]] = {}
        self._acting: list[Any] = []
        self._deny_rest: list[Any] = []
        self._status: Any = None
        self._below = widgets.column()
        card = widgets.column(
            [
                widgets.html(f'{STYLE}<div style="line-height:1.4">{body}</div>'),
                widgets.row(self._choices),
                self._below,
                widgets.html(f"<small>{escape(hint)}</small>"),
            ]
        )
        card.add_class("agent-magics-card")
        return card

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
        """Take the card away, here and in the front end. Harmless twice."""
        self._widgets.close()

    def _choice_buttons(self) -> list[Any]:
        buttons = [self._button("Approve", self._approve, "success", "Run this call, once")]
        for number, scope in enumerate(self._question.scopes, start=1):
            act = functools.partial(self._decide, Answer(True, scope=scope))
            tooltip = f"Run it, and allow: {visible(scope.label)}"
            buttons.append(self._button(_scope_label(number, scope), act, "", tooltip))
        if self._question.editable:
            buttons.append(self._button("Edit…", self._edit, "", "Change the arguments, then run"))
        buttons.append(self._button("Deny…", self._deny, "danger", "Do not run it"))
        return buttons

    def _button(self, label: str, act: Callable[[], None], style: str, tooltip: str) -> Any:
        return self._widgets.button(label, act, style=style, tooltip=tooltip)

    def _first_shown(self) -> None:
        if not self._shown.is_set():
            self._shown.set()
            self._widgets.arm(self._choices)

    def _gone(self) -> None:
        self._shown.set()
        self._decide(None)

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
            layout = self._widgets.kinds.Layout(width="auto")
            editor = self._widgets.make("Textarea", value=arguments, rows=rows, layout=layout)
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
            layout = self._widgets.kinds.Layout(width="auto")
            reason = self._widgets.make("Text", placeholder=hint, layout=layout)

            def deny(rest: bool = False) -> None:
                self._settled(
                    lambda: self._decide(Answer(False, reason=reason.value.strip(), rest=rest))
                )

            button = self._button("Deny", deny, "danger", "Do not run it")
            following = self._question.following
            if following:
                label = f"Deny it and the {following} behind it"
                self._deny_rest = [
                    self._button(
                        label, functools.partial(deny, True), "danger", "Run none of these calls"
                    )
                ]
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
        self._status = self._widgets.html("")
        more = self._deny_rest if form == "deny" else []
        self._acting = [button, *more, self._back_button]
        self._widgets.rest([*self._choices, *self._acting])
        self._below.children = [field, self._widgets.row(self._acting), self._status]
        self._widgets.arm(self._acting)

    def _back(self) -> None:
        self._widgets.rest(self._acting)
        self._below.children = []
        self._widgets.arm(self._choices)

    def _settled(self, then: Callable[[], None]) -> None:
        """Go on when all that the person typed has arrived.

        A front end sends a click at once, but keystrokes only when the last ones are confirmed, so
        a click can overtake them. It handles our messages in order and shows what we add after
        sending what it held back: the new status line's hello therefore comes last.
        """
        self._widgets.rest(self._acting)
        pending = [then]

        def go_on() -> None:
            if pending:
                pending.pop()()

        self._status = self._widgets.html("<small>…</small>")
        self._widgets.when_shown(self._status, go_on)
        self._below.children = [*self._below.children[:-1], self._status]
        self._widgets.later(SETTLED_WITHIN, go_on)

    def _say(self, problem: str) -> None:
        """Show what is wrong, and let the person go on."""
        self._status.value = f'<span role="alert">{theme.span(problem, "bad")}</span>'
        self._widgets.arm(self._acting)


def _scope_label(number: int, scope: Scope) -> str:
    label = visible(scope.label)
    return f"Always: {label}" if len(label) <= LABEL else f"Always ({number})"


def _long_scopes(scopes: tuple[Scope, ...]) -> str:
    """Scopes that are too long for a button, written out: what is allowed must be seen whole."""
    lines = [
        f"<div>Always ({number}): <code>{escape(visible(scope.label))}</code></div>"
        for number, scope in enumerate(scopes, start=1)
        if len(visible(scope.label)) > LABEL
    ]
    return "".join(lines)
