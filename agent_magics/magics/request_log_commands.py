"""`%agent log --requests FILE|off`: what is sent to the model's server, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.magics import session_commands
from agent_magics.magics.own_files import unquoted
from agent_magics.magics.request_log import OPTION

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.magics.views import View


def log(magics: Controls, words: str) -> View | str:
    """Say where this session is saved; with `--requests`, begin or end the log of requests."""
    if not words.startswith(OPTION):
        return session_commands.log(magics, words)
    file = magics.services.requests
    wanted = unquoted(words.removeprefix(OPTION))
    if not wanted:
        state = file.state()
        return f"Requests are {state or 'not written: %agent log --requests FILE begins it'}."
    if wanted == "off":
        before = file.state()
        file.stop()
        return f"Requests are not written any more (they were {before or 'not, before'})."
    file.start(wanted, magics.services.workspace)
    return (
        f"Each request to a model's server and its answer is written to {wanted}, without keys. "
        "All that is sent stands in it: prompts, files, results. %agent log --requests off ends it."
    )
