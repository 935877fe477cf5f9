"""The trace around one turn, if somebody traces: its observers, and those of sub-agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from agent_magics.events import Event, Notice
from agent_magics.magics.services import ModelChoice, Services
from agent_magics.ports import Renderer
from agent_magics.session import Session
from agent_magics.tracing.setting import Tracing, Where, where_of
from agent_magics.tracing.spans import opened

Observer = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Watched:
    """Who reads a turn's events.

    Args:
        observers: Of the turn.
        inner: Makes the observer of a sub-agent's turn.
    """

    observers: Sequence[Observer] = ()
    inner: Callable[[], AbstractContextManager[Observer]] = lambda: nullcontext(lambda _event: None)


@contextmanager
def traced(
    setting: Tracing, session: Session, services: Services, choice: ModelChoice, renderer: Renderer
) -> Iterator[Watched]:
    """Trace the turn inside; spans that it left open are ended."""
    trace = opened(
        setting,
        _where(choice),
        session.id or session.name,
        services.workspace.redact,
        lambda text: renderer.show(Notice(text, "warning")),
    )
    if trace is None:
        yield Watched()
        return
    try:
        yield Watched((trace.observe,), trace.inner)
    finally:
        trace.close()


def _where(choice: ModelChoice) -> Where:
    """Who answers; a plug-in's model names its provider before the colon."""
    if choice.scripted:
        return Where("agent_magics")
    if choice.where.startswith("plug-in "):
        return Where(choice.name.partition(":")[0])
    return where_of(choice.where)
