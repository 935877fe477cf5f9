"""Which skills the person switched off with `%skills --disable`; kept beside the configuration."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ConfigError


@dataclass(frozen=True, slots=True)
class SwitchFile:
    """A JSON list of names, readable and removable by hand.

    Args:
        path: The file; made at the first use, with mode 0600.
    """

    path: Path

    def disabled(self) -> tuple[str, ...]:
        """The names; a file that is off names none."""
        try:
            names = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ()
        return (
            tuple(name for name in names if isinstance(name, str))
            if isinstance(names, list)
            else ()
        )

    def switch(self, name: str, *, on: bool) -> None:
        """Enable or disable a skill.

        Raises:
            ConfigError: The file cannot be written.
        """
        names = {*self.disabled()} - {name} if on else {*self.disabled(), name}
        write_private(self.path, json.dumps(sorted(names)) + "\n")


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole, readable by its owner alone.

    Raises:
        ConfigError: It cannot be written; the old one is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A temporary file beside it: mode 0600, and never half a text.
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
