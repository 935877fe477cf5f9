"""Saving the turns of a cell, and what the magics ask of the saved sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agent_magics.errors import ToolError
from agent_magics.events import Notice
from agent_magics.frontends.summary import safe_line
from agent_magics.magics.services import Services
from agent_magics.ports import Renderer
from agent_magics.records.recorder import Observer
from agent_magics.session import Session

TITLE = 60
"""Characters that are shown of a title."""


@contextmanager
def recorded(
    session: Session, services: Services, renderer: Renderer, *, save: bool
) -> Iterator[Sequence[Observer]]:
    """The observers of a turn that save it; none where the person wants none saved."""
    if not save:
        yield ()
        return
    recorder = services.records.recorder(session, folder_of(services))
    with recorder.turn(lambda text: renderer.show(Notice(text, "warning"))) as observer:
        yield (observer,)


def folder_of(services: Services) -> str:
    """The workspace, as sessions know it; empty where there is none."""
    try:
        return str(services.workspace.root())
    except ToolError:
        return ""


def saved_here(services: Services) -> str:
    """What to say of the saved sessions of this folder, where nothing has been asked yet."""
    folder = folder_of(services)
    here = [s for s in services.records.archive.summaries() if s.head.folder == folder]
    if not here:
        return ""
    newest = here[0]
    return (
        f"Saved sessions of this folder: {len(here)}; the newest, of "
        f"{newest.changed:%Y-%m-%d %H:%M}, “{safe_line(newest.title, TITLE)}”: %agent resume"
    )


def stored_namesake(services: Services, name: str) -> str:
    """What to say when a new conversation gets the name of a saved one of this folder."""
    folder = folder_of(services)
    for summary in services.records.archive.summaries():
        if summary.name == name and summary.head.folder == folder:
            return (
                f"A saved session {name} of {summary.changed:%Y-%m-%d %H:%M} exists; this is a new "
                f"one. To go on with the saved one: %agent resume {summary.id}"
            )
    return ""


def session_words(services: Services) -> Sequence[str]:
    """The ids and names that `%agent resume` takes, for completion."""
    known = services.records.archive.summaries()
    names = [summary.name for summary in known if " " not in summary.name]
    return [*(summary.id for summary in known), *dict.fromkeys(names)]
