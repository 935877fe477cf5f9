"""`%agent undo-names`: variables that the agent's code took away from their objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.messages import Assistant, User
from agent_magics.namespace.keeping import TURNS, Undone
from agent_magics.namespace.looking import shown_name

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

LISTED = 20
"""Names that a line lists."""


def undo_names(magics: Controls, words: str) -> str:
    """Give names back what they stood for, or let the kept objects go."""
    stage = magics.services.stage
    if words == "forget":
        stage.forget_names()
        return "The objects that were kept for %agent undo-names are let go."
    if words:
        raise UsageProblem(f"%agent undo-names takes no words but forget, not {words!r}.")
    undone = stage.undo_names()
    if undone is None:
        raise UsageProblem(
            "There is nothing to give back: no python call of this kernel's newest turns changed "
            f"a name. The last {TURNS} turns that did are kept."
        )
    _tell(magics, undone)
    return "\n".join(_report(undone))


def _report(undone: Undone) -> list[str]:
    restored = _listed(undone.restored)
    lines = [f"Given back: {restored}." if restored else "No name was given back."]
    if undone.rebound:
        lines.append(f"Left alone, since they were set again meanwhile: {_listed(undone.rebound)}.")
    if undone.too_large:
        lines.append(f"Not kept, since they were too large: {_listed(undone.too_large)}.")
    if undone.in_place:
        lines.append(
            "Changed inside, which cannot be undone since objects are not copied: "
            f"{_listed(undone.in_place)}."
        )
    if undone.new:
        lines.append(f"New ones stay (del takes them away): {_listed(undone.new)}.")
    return lines


def _tell(magics: Controls, undone: Undone) -> None:
    """Say it in the conversation, as `%agent undo` does."""
    session = magics.session
    if not session.conversation or not undone.restored:
        return
    note = (
        "[A note of the program.] The person undid what your code did to these variables; they "
        f"stand for their earlier objects again: {_listed(undone.restored)}."
    )
    answer = Assistant("Understood; I go on from the variables as they are now.")
    session.conversation = (*session.conversation, User(note), answer)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(shown_name(name) for name in names[:LISTED]) + more
