"""`%agent record`: from now on, what the model says in this session is written to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.own_files import unquoted
from agent_magics.magics.taping import names_of, state_of
from agent_magics.tools.plain import counted

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

PRIVATE = (
    "Known secrets are taken out, but what was asked, said and read is in it: look at it before "
    "you share it."
)


def record(magics: Controls, words: str) -> str:
    """Begin or end a recording, or say what is recorded."""
    tapes, session = magics.services.tapes, magics.session
    words = unquoted(words)
    if not words:
        tape = tapes.of(session)
        here = "This session is not recorded: %agent record FILE.jsonl begins a recording."
        return (here if tape is None else state_of(tape)) + names_of(tapes.others(session))
    if words == "stop":
        tape = tapes.stop(session)
        if tape is None:
            raise UsageProblem("This session is not recorded, so there is nothing to stop.")
        return f"{state_of(tape)} It ends here; to play it: %agent model replay:{tape.shown}"
    tape = tapes.start(session, words)
    added = f", behind the {counted(tape.turns, 'turn')} that it has" if tape.turns else ""
    return f"Recording this session in {words}{added}. {PRIVATE} %agent record stop ends it."
