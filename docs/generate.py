"""Writes the generated pages of the reference: `python -m docs.generate [FOLDER]`.

Without a folder they go to `docs/reference`. A test makes them anew and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from docs.generating.api import api
from docs.generating.commands import commands
from docs.generating.keys import keys
from docs.generating.settings import settings
from docs.generating.tools import tools

PAGES: dict[str, Callable[[], str]] = {
    "api.md": api,
    "commands.md": commands,
    "configuration-keys.md": keys,
    "settings.md": settings,
    "tools.md": tools,
}


def main(words: Sequence[str]) -> int:
    """Write the pages and give the exit status."""
    folder = Path(words[0]) if words else Path(__file__).parent / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
