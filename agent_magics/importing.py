"""Importing what is installed, not what lies in the working folder.

Python in a notebook looks for modules in the working folder first. A file named `openai.py` or
`jsonschema.py` there, somebody's scratch or a cloned repository's, would be imported in place of
the library, and run.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Closed:
    """Who keeps the working folder out of `sys.path` now, and what that was before the first."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    inside: int = 0
    before: list[str] = field(default_factory=list)


# `sys.path` is one for all threads: of several that close it, the last one gives it back.
_CLOSED = _Closed()


@contextmanager
def installed_only() -> Iterator[None]:
    """While this lasts, new imports do not see the working folder."""
    with _CLOSED.lock:
        if not _CLOSED.inside:
            _CLOSED.before = list(sys.path)
            here = {"", ".", os.getcwd()}  # noqa: PTH109  # as it stands in sys.path, links and all
            sys.path[:] = [entry for entry in sys.path if entry not in here]
        _CLOSED.inside += 1
    try:
        yield
    finally:
        with _CLOSED.lock:
            _CLOSED.inside -= 1
            if not _CLOSED.inside:
                sys.path[:] = _CLOSED.before
