"""What `%agent undo` shows: the list of turns, the files of one, and their differences."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.frontends.blocks_payload import display_html, fenced, shown_text
from agent_magics.magics.views import View, table_view
from agent_magics.messages import Display
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import MAX_WHOLE, decoded
from agent_magics.tools.plain import counted, printable, size
from agent_magics.tools.states import State, unfollowed
from agent_magics.undo.journal import Journal
from agent_magics.undo.planning import Conflict, Entry, Plan, Step

NAMED = 12
"""Paths that are named in one message."""


@dataclass(frozen=True, slots=True)
class Shows:
    """What of the files a notebook may hold; it may be shared.

    Args:
        redact: Takes secrets out of a text.
        hides: Whether a path is protected, so that its content is not shown.
    """

    redact: Callable[[str], str]
    hides: Callable[[Path], bool]


def turn_name(journal: Journal) -> str:
    """A turn as a person knows it again: its prompt's beginning and when it was."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(journal.header.time))
    return f"“{journal.header.prompt}” ({when})" if journal.header.prompt else f"a call ({when})"


def said(journal: Journal) -> str:
    """A turn, and what of it nobody can take back."""
    return f"{turn_name(journal)}: {beyond(journal)}"


def beyond(journal: Journal) -> str:
    """What a turn did that is not undone; empty if nothing."""
    parts = []
    if journal.ran:
        calls = (f"{name} ({counted(count, 'call')})" for name, count in journal.ran.items())
        parts.append(f"What {', '.join(calls)} did is not undone.")
    if journal.missed:
        names = "; ".join(f"{printable(p.name)}: {why}" for p, why in journal.missed[:NAMED])
        parts.append(f"Changed without a copy: {names}.")
    return " ".join(parts)


def list_view(found: Sequence[Entry]) -> View:
    """The turns that changed something, newest first."""
    rows = []
    for number, entry in enumerate(found, 1):
        journal = entry.journal
        files = len(
            {change.path for change in journal.changes if _is_file(change.was, change.will)}
        )
        marks = [*(["undone"] if entry.undone else []), *(["running"] if entry.running else [])]
        marks += [] if entry.own else ["other kernel"]
        rows.append(
            (
                str(number),
                time.strftime("%Y-%m-%d %H:%M", time.localtime(journal.header.time)),
                counted(files, "file"),
                ", ".join(marks),
                ", ".join(journal.ran),
                journal.header.prompt or "a call",
            )
        )
    title = "What the agent changed in this workspace" if rows else "No turn changed anything here."
    notes = ["%agent undo N shows what undoing one would do; %agent undo N --yes does it."]
    heads = ("turn", "when", "changed", "state", "not undone", "asked")
    return table_view(title, heads, rows, notes if rows else ())


def _is_file(*states: State) -> bool:
    return any(state.kind in ("file", "link") for state in states)


def plan_view(
    title: str,
    plan: Plan,
    root: str,
    notes: Sequence[str],
    shows: Shows,
) -> View:
    """What an undo would do, with the whole difference; nothing is changed yet.

    Args:
        title: `Undo of`.
        plan: What would be done.
        root: The workspace.
        notes: Lines below.
        shows: What of the files may be seen.
    """
    rows = [(_deed(step), _name(step.path, root), _detail(step, shows)) for step in plan.steps]
    rows += [("CONFLICT", _name(c.path, root), c.reason) for c in plan.conflicts]
    head = f"{title} {turn_name(plan.journal)}: nothing is changed yet"
    if not rows:
        head = f"{title} {turn_name(plan.journal)}: the files are as they should be already"
    table = table_view(head, ("what", "path", "note"), rows, notes)
    open_ones = [step for step in plan.forced if not shows.hides(step.path)]
    diff = shows.redact("".join(_diffs(open_ones, root)))
    if not diff:
        return table
    display = Display("diff", diff)
    return View(
        f"{table.text}\n{fenced(shown_text(display, whole=True).strip(chr(10)), 'diff')}",
        f"{table.html}{display_html(display, whole=True)}",
    )


def _deed(step: Step) -> str:
    if step.then.kind == "absent":
        return "delete"
    if step.now.kind == "absent":
        return "bring back"
    return "change back"


def _detail(step: Step, shows: Shows) -> str:
    """What the difference does not show."""
    if step.now.content == step.then.content and step.then.mode is not None:
        return f"permissions {stat.filemode(step.then.mode)[1:]}"
    if "folder" in (step.now.kind, step.then.kind):
        return "folder, if it is empty then" if step.then.kind == "absent" else "folder"
    if step.then.kind == "link":
        return f"link to {printable(step.then.target)}"
    if shows.hides(step.path):
        return "protected, not shown"
    if step.now.kind == "file" and _text(step.path, step.now) is None:
        return f"{size(step.now.size)}, not shown"
    if step.blob is not None and _text(step.blob, step.then) is None:
        return f"{size(step.then.size)}, not shown"
    return ""


def _diffs(steps: Sequence[Step], root: str) -> Iterator[str]:
    for step in steps:
        if step.now.content == step.then.content:
            continue
        now = _text(step.path, step.now) if step.now.kind == "file" else None
        then = _text(step.blob, step.then) if step.blob is not None else None
        unseen = (step.now.kind == "file") != (now is not None) or (step.blob is None) != (
            then is None
        )
        if not unseen and now != then:
            yield unified_diff(now, then, _name(step.path, root))


def _text(path: Path, state: State) -> str | None:
    """A file's text; None for what is no text, is too large, or cannot be read."""
    if state.size > MAX_WHOLE:
        return None
    try:
        with unfollowed(path) as file:
            document = decoded(file.read())
    except OSError:
        return None
    return None if document is None else document.text


def _name(path: Path, root: str) -> str:
    inside = path.is_relative_to(root)
    return printable(path.relative_to(root).as_posix() if inside else os.fspath(path))


def shown_names(steps: Sequence[Step], root: str, most: int = 40) -> list[str]:
    """Each path with what became of it, at most so many."""
    words = {"delete": "deleted", "bring back": "brought back", "change back": "changed back"}
    lines = [f"{_name(step.path, root)} {words[_deed(step)]}" for step in steps[:most]]
    return [*lines, f"and {len(steps) - most} more"] if len(steps) > most else lines


def counted_steps(steps: Sequence[Step]) -> str:
    """In words how many paths there were."""
    verb = "is" if len(steps) == 1 else "are"
    return f"{counted(len(steps), 'path')} {verb} as before."


def reasons(conflicts: Sequence[Conflict], root: str) -> str:
    """Each path with what is in the way."""
    named = [f"{_name(c.path, root)}: {c.reason}" for c in conflicts[:NAMED]]
    more = f"; and {len(conflicts) - NAMED} more" if len(conflicts) > NAMED else ""
    return f"{'; '.join(named)}{more}"
