"""Importing what is installed, not what lies in the working folder; and one import at a time.

Python in a notebook looks for modules in the working folder first. A file named `openai.py` or
`jsonschema.py` there, somebody's scratch or a cloned repository's, would be imported in place of
the library, and run. Owns who may change `sys.path`, which all threads of the process share.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import UsageProblem


@dataclass(slots=True)
class _Closed:
    """Which threads keep the working folder out of `sys.path` now, and what that was before."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    threads: list[int] = field(default_factory=list)
    before: list[str] = field(default_factory=list)


# `sys.path` is one for all threads: of several that close it, the last one gives it back.
_CLOSED = _Closed()


@contextmanager
def installed_only() -> Iterator[None]:
    """While this lasts, new imports do not see the working folder."""
    me = threading.get_ident()
    with _CLOSED.changed:
        if not _CLOSED.threads:
            _CLOSED.before = list(sys.path)
            here = {"", ".", os.getcwd()}  # noqa: PTH109  # as it stands in sys.path, links and all
            sys.path[:] = [entry for entry in sys.path if entry not in here]
        _CLOSED.threads.append(me)
    try:
        yield
    finally:
        with _CLOSED.changed:
            _CLOSED.threads.remove(me)
            if not _CLOSED.threads:
                sys.path[:] = _CLOSED.before
            _CLOSED.changed.notify_all()


@contextmanager
def alone() -> Iterator[None]:
    """While this lasts, no other thread is in here or in `installed_only`.

    For work that changes what is the process's own and gives it back (`sys.path`, `sys.modules`,
    warning filters, the working folder): of two threads, one would give back the other's change.
    """
    me = threading.get_ident()
    with _CLOSED.changed:
        _CLOSED.changed.wait_for(lambda: not set(_CLOSED.threads) - {me})
        yield


def installed_pandas() -> Any:
    """The pandas library, for values that give themselves away as a DataFrame.

    Raises:
        UsageProblem: It is not installed.
    """
    try:
        with installed_only():
            return importlib.import_module("pandas")
    except ImportError as error:
        raise UsageProblem(
            "to_dataframe() needs pandas, which is not installed: %pip install pandas. "
            "to_dicts() gives the same rows without it."
        ) from error
