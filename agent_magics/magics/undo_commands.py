"""`%agent undo` and `%agent redo`: first what would happen, and with `--yes` it happens.

Owns the words of both, and who learns of it afterwards: the workspace (what was read of these files
is no longer so) and the conversation (the model must not go on from files that are gone).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.undo_view import (
    Shows,
    beyond,
    counted_steps,
    list_view,
    plan_view,
    reasons,
    said,
    shown_names,
    turn_name,
)
from agent_magics.messages import Assistant, User
from agent_magics.tools.plain import printable
from agent_magics.undo.journal import Journal
from agent_magics.undo.planning import Entry, Plan, Step, entries, last_undo, planned
from agent_magics.undo.restoring import Done, undone

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.magics.views import View

UNDO = "%agent undo [list|N] [--yes] [--force]"
REDO = "%agent redo [--yes] [--force]"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a line asks for.

    Args:
        number: Of the turn in the list, 1 for the newest; None: the newest that changed files.
        listing: Only the list.
        yes: Do it.
        force: Also what someone else changed since.
    """

    number: int | None = None
    listing: bool = False
    yes: bool = False
    force: bool = False


def undo(magics: Controls, words: str) -> View | str:
    """Take the file changes of a cell back, or show what that would do."""
    wanted = _wanted(words, UNDO, takes_turn=True)
    found = _entries(magics)
    if wanted.listing:
        return list_view(found)
    entry = _chosen(magics, found, wanted.number)
    if isinstance(entry, str):
        return entry
    number = found.index(entry) + 1
    again = "" if wanted.number is None else f" {number}"
    plan = planned(magics.services.undo.store, entry.journal)
    newer = [e for e in found[: number - 1] if wanted.number is None and e.journal.ran]
    if wanted.yes:
        return _done(magics, plan, f"undo{again}", "Undone", force=wanted.force)
    notes = _notes(plan, f"%agent undo{again}")
    notes += [f"Later, {turn_name(e.journal)}: {beyond(e.journal)}" for e in newer[:3]]
    if not entry.own:
        notes.insert(0, "It was made in another kernel, or before a restart.")
    return plan_view("Undo of", plan, _root(magics), notes, _shows(magics))


def redo(magics: Controls, words: str) -> View | str:
    """Take the last undo back, or show what that would do."""
    wanted = _wanted(words, REDO, takes_turn=False)
    journal = last_undo(magics.services.undo.store, _root(magics))
    if journal is None:
        return "There is no undo to take back."
    plan = planned(magics.services.undo.store, journal)
    if wanted.yes:
        return _done(magics, plan, "redo", "Done again", force=wanted.force)
    notes = _notes(plan, "%agent redo")
    return plan_view("Redo of", plan, _root(magics), notes, _shows(magics))


def _wanted(words: str, usage: str, *, takes_turn: bool) -> Wanted:
    """What the words mean.

    Raises:
        UsageProblem: There is a word that is none of them.
    """
    given = words.split()
    flags = {word for word in given if word.startswith("-")}
    rest = [word for word in given if word not in flags]
    unknown = flags - {"--yes", "--force"}
    if unknown or len(rest) > (1 if takes_turn else 0):
        raise UsageProblem(f"Usage: {usage}")
    if rest == ["list"] and not flags:
        return Wanted(listing=True)
    number = None
    if rest:
        if not rest[0].isdecimal() or int(rest[0]) < 1:
            raise UsageProblem(f"{rest[0]!r} is no number of %agent undo list. Usage: {usage}")
        number = int(rest[0])
    return Wanted(number, yes="--yes" in flags, force="--force" in flags)


def _root(magics: Controls) -> str:
    return magics.services.undo.root()


def _shows(magics: Controls) -> Shows:
    """What of the files may stand in a notebook."""
    workspace = magics.services.workspace
    return Shows(workspace.redact, lambda path: bool(workspace.guarded(path, write=False)))


def _entries(magics: Controls) -> tuple[Entry, ...]:
    recorder = magics.services.undo
    return entries(recorder.store, _root(magics), recorder.kernel)


def _chosen(magics: Controls, found: Sequence[Entry], number: int | None) -> Entry | str:
    """The turn that is meant, or what to say when there is none.

    Raises:
        UsageProblem: There is no turn of that number, it was undone, or it still runs.
    """
    if number is not None:
        if number > len(found):
            raise UsageProblem(f"There is no turn {number}: %agent undo list shows {len(found)}.")
        entry = found[number - 1]
        if entry.undone:
            raise UsageProblem(f"{turn_name(entry.journal)} is undone already; see %agent redo.")
        if not entry.journal.changes:
            return f"{turn_name(entry.journal)} changed no file. {beyond(entry.journal)}".strip()
        return _at_rest(entry)
    waiting = [e for e in found if not e.undone and e.journal.changes]
    for entry in (*(e for e in waiting if e.own), *(e for e in waiting if not e.own)):
        plan = planned(magics.services.undo.store, entry.journal)
        if plan.steps or plan.conflicts:
            return _at_rest(entry)
    return _nothing(magics, found)


def _at_rest(entry: Entry) -> Entry:
    if entry.running:
        raise UsageProblem(f"{turn_name(entry.journal)} still runs; undo it when it has ended.")
    return entry


def _nothing(magics: Controls, found: Sequence[Entry]) -> str:
    lines = ["There is nothing to undo in this workspace."]
    if not magics.undo_megabytes:
        lines.append("No copies are kept: %config AgentMagics.undo_megabytes is 0.")
    if any(entry.undone for entry in found):
        lines.append("What was undone last comes back with %agent redo.")
    lines += [said(entry.journal) for entry in found[:1] if entry.journal.ran]
    return "\n".join(lines)


def _notes(plan: Plan, command: str) -> list[str]:
    """What stands below a preview."""
    notes = [beyond(plan.journal)] if beyond(plan.journal) else []
    if not plan.conflicts and plan.steps:
        return [*notes, f"To do it: {command} --yes"]
    if plan.forced:
        kept = "what is there now is kept, see %agent redo"
        return [*notes, f"To do it all the same: {command} --yes --force ({kept})"]
    return [*notes, "Nothing of it can be taken back."]


def _done(magics: Controls, plan: Plan, command: str, verb: str, *, force: bool) -> str:
    """Do what is planned.

    Raises:
        UsageProblem: Something else changed a file since, and nobody said to do it all the same.
        UndoFailed: It could not be done.
    """
    root = _root(magics)
    name = turn_name(plan.journal)
    if plan.conflicts and not force:
        raise UsageProblem(
            f"Nothing was changed: {reasons(plan.conflicts, root)}. Look with %agent {command}; "
            f"%agent {command} --yes --force does it all the same, and keeps what is there now."
        )
    recorder, workspace = magics.services.undo, magics.services.workspace
    steps = plan.forced if force else plan.steps
    if not steps and not plan.conflicts:
        return f"{name}: the files are as they should be already."
    if not steps:
        raise UsageProblem(f"Nothing was changed: {reasons(plan.conflicts, root)}.")
    limit = magics.undo_megabytes * 1_000_000
    with workspace.changing:
        done = undone(recorder.store, plan, recorder.kernel, limit, force=force)
        workspace.unread(step.path for step in done.steps)
    _tell(magics, plan.journal, done.steps, verb)
    return "\n".join(_report(plan, done, verb, root, force=force))


def _report(plan: Plan, done: Done, verb: str, root: str, *, force: bool) -> list[str]:
    lines = [f"{verb}: {turn_name(plan.journal)}. {counted_steps(done.steps)}"]
    lines += [f"  {line}" for line in shown_names(done.steps, root)]
    for folder in done.kept:
        name = printable(os.path.relpath(folder, root))
        lines.append(
            f"The folder {name} stays: there is something in it that the agent did not make."
        )
    impossible = [c for c in plan.conflicts if c.step is None] if force else []
    if impossible:
        lines.append(f"Not taken back: {reasons(impossible, root)}.")
    if beyond(plan.journal):
        lines.append(beyond(plan.journal))
    if verb == "Undone":
        lines.append("%agent redo takes this back.")
    return lines


def _tell(magics: Controls, journal: Journal, steps: Sequence[Step], verb: str) -> None:
    """Say it in the conversation, as a pair of messages of its own: prompts stay as they are."""
    session = magics.session
    if not session.conversation or not steps:
        return
    names = ", ".join(shown_names(steps, _root(magics), most=20))
    what = "undid" if verb == "Undone" else "did again"
    note = (
        f"[A note of the program.] The person {what} the file changes of {turn_name(journal)}. "
        f"Now: {names}. Read a file again before you rely on it."
    )
    answer = Assistant("Understood; I go on from the files as they are now.")
    session.conversation = (*session.conversation, User(note), answer)
