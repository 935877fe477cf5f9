"""Widgets that live in the agent's event loop.

Imports ipywidgets, as `findings_browser` does, whose widgets live between cells, and nobody else.

Owns how they are made, heard and taken away. The tap hands each of their messages over to the loop
in which they were made, so no widget is ever touched by two threads. Knows nothing of questions.

Buttons are dead for the first 0.4 seconds after they have been shown, here and on screen, so that
a click or key meant for something else does nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from agent_magics.frontends.tap import CommTap
from agent_magics.frontends.tap_check import Message

ARMED_AFTER = 0.4
"""Seconds between showing a button and its first effect."""


class LiveWidgets:
    """The widgets of one card.

    Args:
        tap: Brings their messages.
        gone: Called when the front end says that it has no such widget, or threw it away.
    """

    def __init__(self, tap: CommTap, gone: Callable[[], None]) -> None:
        import ipywidgets

        self.kinds: Any = ipywidgets
        self._tap = tap
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        # Messages are handled in the cell's context, so that what widgets send back belongs to it.
        self._context = contextvars.copy_context()
        self._all: dict[str, Any] = {}

    def make(self, kind: str, **traits: Any) -> Any:
        """A widget that is heard from its first moment, and taken away with the others.

        Args:
            kind: Its class in ipywidgets.
            traits: As the class takes them.
        """
        # The front end learns of a widget while it is being made, and can answer at once.
        name = uuid.uuid4().hex
        self._tap.watch(name, functools.partial(self._arrived, name))
        try:
            self._all[name] = getattr(self.kinds, kind)(model_id=name, **traits)
        except BaseException:
            self._tap.unwatch(name)
            raise
        return self._all[name]

    def html(self, html: str) -> Any:
        """A piece of safe HTML."""
        return self.make("HTML", value=html)

    def column(self, children: Iterable[Any] = ()) -> Any:
        """Widgets below each other."""
        return self.make("VBox", children=list(children))

    def row(self, children: Iterable[Any]) -> Any:
        """Widgets beside each other, in several lines where the page is narrow."""
        layout = self.kinds.Layout(flex_flow="row wrap")
        return self.make("HBox", children=list(children), layout=layout)

    def button(self, label: str, act: Callable[[], None], *, style: str, tooltip: str) -> Any:
        """A dead button; `arm` brings it to life.

        Args:
            label: Plain text; front ends show it as such.
            act: What a click does.
            style: `success`, `danger`, or empty.
            tooltip: Plain text.
        """
        layout = self.kinds.Layout(width="auto", max_width="100%")
        button = self.make(
            "Button",
            description=label,
            tooltip=tooltip,
            button_style=style,
            disabled=True,
            layout=layout,
        )

        def clicked(_button: Any) -> None:
            # A dead button cannot be clicked; a message that says so all the same changes nothing.
            if not button.disabled:
                act()

        button.on_click(clicked)
        return button

    def arm(self, buttons: Iterable[Any]) -> None:
        """Bring buttons to life, once they have been on screen for a while."""

        def alive() -> None:
            for button in buttons:
                if button.comm is not None:
                    button.disabled = False

        self.later(ARMED_AFTER, alive)

    @staticmethod
    def rest(buttons: Iterable[Any]) -> None:
        """Take the life out of buttons."""
        for button in buttons:
            button.disabled = True

    def when_shown(
        self, widget: Any, then: Callable[[], None], lost: Callable[[], None] | None = None
    ) -> None:
        """Call back when the front end has put a widget on screen: it counts its views.

        Args:
            widget: One of these.
            then: Called for each new view.
            lost: Called when there has been none for a while.
        """

        def look() -> None:
            if lost is not None and widget.comm is not None and widget._view_count == 0:
                lost()

        def counted(change: Any) -> None:
            if change["new"]:
                then()
            elif lost is not None:
                self.later(ARMED_AFTER, look)

        widget._view_count = 0
        widget.observe(counted, "_view_count")

    def later(self, seconds: float, job: Callable[[], None]) -> None:
        """Call a function after a while."""
        self._loop.call_later(seconds, job, context=self._context)

    def close(self) -> None:
        """Take all widgets away, here and in the front end. Harmless twice."""
        for name in self._all:
            self._tap.unwatch(name)
        for widget in self._all.values():
            # Closing a widget leaves its layout and style behind, in the page's memory too.
            for part in (widget, getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
        self._all.clear()

    def _arrived(self, name: str, message: Message) -> None:
        """On the tap's thread: hand a message over to the loop."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            self._loop.call_soon_threadsafe(self._handle, name, message, context=self._context)

    def _handle(self, name: str, message: Message) -> None:
        with self._tap.answering(message):
            widget = self._all.get(name)
            if widget is None:
                return
            if message["header"]["msg_type"] == "comm_close":
                self._gone()
            else:
                widget._handle_msg(message)
