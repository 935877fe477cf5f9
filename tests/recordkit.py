"""What tests of saved sessions share: a recorded turn without a kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_magics.events import Event
from agent_magics.messages import Assistant
from agent_magics.records.archive import Archive, Summary
from agent_magics.records.opened import Records
from agent_magics.records.stored import Stored, read_lines
from agent_magics.result import TurnResult
from agent_magics.session import Session
from tests.turns import Scene, Spy, call, calls

FOLDER = "/work/project"
SECRET = "sk-very-secret-0123456789"


def records_in(folder: Path, days: int = 0, redact: Callable[[str], str] = str) -> Records:
    return Records(Archive(folder), lambda: redact, lambda: days)


def hide(text: str) -> str:
    return text.replace(SECRET, "[redacted KEY]")


def ask(
    records: Records,
    session: Session,
    prompt: str = "Go.",
    replies: Any = (),
    warn: Callable[[str], None] = print,
    seen: Callable[[Event], None] | None = None,
    **scene: Any,
) -> TurnResult:
    """One recorded turn; without replies the model makes two calls and answers."""
    if not replies:
        first = str(len(session.conversation))
        replies = [
            calls(call("look", f"a{first}", n=1), call("change", f"b{first}", n=2), text="Hm."),
            Assistant("Done."),
        ]
    scene.setdefault("tools", (Spy().tool, Spy("change").tool))
    stage = Scene(replies, session=session, policy=session.policy, **scene)

    async def main() -> TurnResult:
        with records.recorder(session, FOLDER).turn(warn) as observer:
            observers = [observer] if seen is None else [observer, seen]
            return await session.ask(prompt, stage.turn(), stage.log, (), observers)

    return asyncio.run(main())


def only(records: Records) -> Summary:
    (summary,) = records.archive.summaries()
    return summary


def read(path: Path) -> Stored:
    return read_lines(path.read_bytes().splitlines(keepends=True))
