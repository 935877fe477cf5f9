"""Importing what is installed, not what lies in the working folder.

Python in a notebook looks for modules in the working folder first. A file named `openai.py` or
`jsonschema.py` there, somebody's scratch or a cloned repository's, would be imported in place of
the library, and run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def installed_only() -> Iterator[None]:
    """While this lasts, new imports do not see the working folder."""
    before = list(sys.path)
    here = {"", ".", os.getcwd()}  # noqa: PTH109  # as it stands in sys.path, links and all
    sys.path[:] = [entry for entry in before if entry not in here]
    try:
        yield
    finally:
        sys.path[:] = before
