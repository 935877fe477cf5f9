"""One item as a worker does it, in whichever thread, process or machine, and how it is ended.

What goes there and comes back can be pickled; an item's error comes back as a text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import AgentMagicsError
from agent_magics.frontends.runner import Runner
from agent_magics.messages import Usage
from agent_magics.providers.endpoint import Learnt
from agent_magics.result import TurnResult
from agent_magics.scripting.turns import Prepared


@dataclass(frozen=True, slots=True)
class Lent:
    """An API key for workers that have none.

    Args:
        name: The variable that it comes from.
        key: Never shown, never saved.
    """

    name: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker gives back.

    Args:
        result: The turn; None where it failed.
        error: Why it failed.
        usage: Tokens, also of a turn that failed on the way.
        seconds: Wall time.
    """

    result: TurnResult | None = None
    error: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0


class Runners:
    """The turns that run in the threads of this process.

    An interrupt can end them, and what an endpoint teaches one of them, all know; a key that one of
    them has fetched, none has to fetch again.
    """

    def __init__(self) -> None:
        self.learnt = Learnt()
        self.keys: dict[Any, str] = {}
        self._running: set[Runner[Any]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def enter(self, runner: Runner[Any]) -> None:
        """One begins; after `stop` it is ended at once."""
        with self._lock:
            self._running.add(runner)
            stopped = self._stopped
        if stopped:
            raise KeyboardInterrupt

    def leave(self, runner: Runner[Any]) -> None:
        """It is over."""
        with self._lock:
            self._running.discard(runner)

    def stop(self) -> None:
        """End all, and those that are about to begin."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for runner in running:
            runner.cancel()


def done(prepare: Callable[[], Prepared], prompt: str, runners: Runners | None) -> Done:
    """Do one item; whatever goes wrong is its result.

    Args:
        prepare: Makes everything the turn needs.
        prompt: What is asked.
        runners: Takes note of it; None: nobody can end it from here.
    """
    started = time.monotonic()
    ready: Prepared | None = None
    error = ""
    try:
        ready = prepare()
        result = ready.run(prompt, running=runners)
        return Done(result, usage=result.usage, seconds=time.monotonic() - started)
    except AgentMagicsError as failure:
        error = str(failure)
    except Exception as failure:  # noqa: BLE001  # one item's failure must not end the others
        error = f"{type(failure).__name__}: {failure}"
    last = ready.session.last if ready is not None else None
    if ready is not None:
        error = ready.services.workspace.redact(error)
    usage = last.usage if last is not None else Usage()
    return Done(error=error, usage=usage, seconds=time.monotonic() - started)
