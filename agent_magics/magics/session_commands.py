"""The commands of `%agent` about saved sessions: one function each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.utils._process_common import arg_split

from agent_magics.errors import UsageProblem
from agent_magics.frontends.summary import safe_line
from agent_magics.magics.arguments import no_words
from agent_magics.magics.exporting import export_story
from agent_magics.magics.recording import folder_of
from agent_magics.magics.resuming import resume_session, titled
from agent_magics.magics.views import View, pairs_view, table_view
from agent_magics.records.archive import Summary
from agent_magics.records.opened import forked
from agent_magics.records.stored import Stored, held
from agent_magics.tools.plain import size

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

SHOWN = 30
"""Rows of a listing."""
TITLE, PLACE, NAME = 60, 40, 80
"""Characters of a title and a folder in a listing, and of a name at the most."""


def sessions(magics: Controls, words: str) -> View | str:
    """List the saved sessions, those of this folder first, newest first."""
    archive, here = magics.services.records.archive, folder_of(magics.services)
    found = [summary for summary in archive.summaries() if summary.says(words)]
    if not found:
        where = f" with {words!r} in a prompt or a name" if words else ""
        off = "" if magics.saves else " Saving is off (%config AgentMagics.save_sessions)."
        return f"No saved sessions{where}.{off}"
    found.sort(key=lambda summary: summary.head.folder != here)
    rows = [_row(summary, magics, here) for summary in found[:SHOWN]]
    notes = ["%agent resume ID goes on with one; %agent delete ID removes it."]
    if len(found) > SHOWN:
        notes.insert(0, f"{len(found) - SHOWN} more: %agent sessions WORDS searches all of them.")
    heads = ("id", "name", "last turn", "turns", "folder", "asked first")
    return table_view(f"Saved sessions: {len(found)}", heads, rows, notes)


def resume(magics: Controls, words: str) -> str:
    """Go on with a saved session."""
    return resume_session(magics, words)


def fork(magics: Controls, words: str) -> str:
    """Go on in a second session with all that this one has."""
    before = magics.session
    if not before.conversation:
        raise UsageProblem("There is nothing to fork: this session has no conversation yet.")
    name = _free_name(words, magics) if words else _next_name(before.name, magics.sessions)
    back = f"The one before stays as it is: %%agent --session {before.name}"
    if not magics.saves:
        fresh = forked(before, name)
        saved = "not saved, since saving is off"
    else:
        records = magics.services.records
        fresh, recorder = records.fork(before, name, folder_of(magics.services))
        saved = f"not saved: {recorder.problem}" if recorder.problem else f"saved as {fresh.id}"
    magics.sessions[name] = magics.session = fresh
    return f"Forked: %%agent goes on in session {name} ({saved}). {back}"


def rename(magics: Controls, words: str) -> str:
    """Give this session another name."""
    name = _free_name(words, magics)
    session = magics.session
    magics.sessions.pop(session.name, None)
    before, session.name = session.name, name
    magics.sessions[name] = session
    recorder = magics.services.records.of(session)
    if recorder is not None:
        recorder.save()
    return f"Session {before} is now {name}."


def export(magics: Controls, words: str) -> str:
    """Write this session, or a saved one, to a file for others to read."""
    parts = _split(words)
    force = "--force" in parts
    rest = [part for part in parts if part != "--force"]
    if not 1 <= len(rest) <= 2:
        raise UsageProblem("%agent export takes a file: %agent export FILE.md [ID] [--force]")
    stored = _saved(magics, rest[1]) if len(rest) == 2 else _current(magics)
    try:
        path = Path(rest[0].replace("\0", "\N{SYMBOL FOR NULL}")).expanduser()
    except RuntimeError as error:
        raise UsageProblem(f"There is no such home folder: {rest[0]}") from error
    roots = (stored.head.folder, folder_of(magics.services))
    return export_story(stored, path, roots, force=force)


def delete(magics: Controls, words: str) -> str:
    """Remove saved sessions for good."""
    ids = _split(words)
    if not ids:
        raise UsageProblem("%agent delete needs a session's id; %agent sessions lists them.")
    records, here = magics.services.records, folder_of(magics.services)
    found = [records.archive.find(word, here, alone=True) for word in ids]
    for summary in found:
        mine = [s for s in magics.sessions.values() if s.id == summary.id]
        if mine:
            how = "%agent reset" if mine[0] is magics.session else "restart the kernel"
            raise UsageProblem(
                f"Session {summary.id} is open here, as {mine[0].name}: {how} first. Nothing was "
                "deleted."
            )
    for summary in found:
        records.archive.delete(summary)
    return "\n".join(f"Deleted {titled(summary)}." for summary in found)


def log(magics: Controls, words: str) -> View:
    """Say where this session is written."""
    no_words("log", words)
    records, session = magics.services.records, magics.session
    recorder = records.of(session)
    pairs = [("session", session.name)]
    if not magics.saves:
        pairs.append(("saved", "no: %config AgentMagics.save_sessions is off"))
    elif recorder is not None and recorder.problem:
        pairs.append(("saved", f"no: {recorder.problem}"))
    elif recorder is not None and recorder.journal is not None:
        pairs += [
            ("saved", f"as {session.id}"),
            ("file", str(recorder.journal.path)),
            ("size", size(recorder.journal.size)),
        ]
    else:
        pairs.append(("saved", "with the first turn"))
    known = records.archive.summaries()
    total = size(sum(summary.size for summary in known))
    pairs += [
        ("folder", str(records.archive.folder)),
        ("all sessions", f"{len(known)}, {total}"),
    ]
    days = records.days()
    kept = f"removed {days} days after their last turn" if days else "never removed by themselves"
    notes = [f"Sessions are {kept} (%config AgentMagics.session_days); one JSON value per line."]
    return pairs_view("The session's file", pairs, notes)


def _row(summary: Summary, magics: Controls, here: str) -> tuple[str, ...]:
    mine = {session.id: session for session in magics.sessions.values()}
    name = summary.name
    if summary.id in mine:
        name += " (current)" if mine[summary.id] is magics.session else " (open)"
    elif magics.services.records.archive.in_use(summary):
        name += " (open in another kernel)"
    folder = "here" if summary.head.folder == here else _short(summary.head.folder)
    return (
        summary.id,
        safe_line(name, NAME),
        f"{summary.changed:%Y-%m-%d %H:%M}",
        str(len(summary.prompts)),
        folder,
        safe_line(summary.title, TITLE) or "(nothing)",
    )


def _short(folder: str) -> str:
    home = str(Path.home())
    shown = f"~{folder[len(home) :]}" if folder.startswith(home) else folder
    shown = safe_line(shown, 4_000)
    return shown if len(shown) <= PLACE else f"…{shown[-PLACE + 1 :]}"


def _saved(magics: Controls, word: str) -> Stored:
    archive = magics.services.records.archive
    return archive.read(archive.find(word, folder_of(magics.services)))


def _current(magics: Controls) -> Stored:
    """The session at hand: as its file tells it, or as it is held where there is none."""
    session = magics.session
    if not session.conversation:
        raise UsageProblem("There is nothing to export: this session has no conversation yet.")
    recorder = magics.services.records.of(session)
    if recorder is not None and recorder.journal is not None and magics.saves:
        recorder.save()
        if not recorder.problem:
            return _saved(magics, session.id)
    return held(session.name, session.conversation, session.usage)


def _free_name(words: str, magics: Controls) -> str:
    name = words.strip().strip("\"'").strip()
    if not name or len(name) > NAME or name.startswith("-") or not name.isprintable():
        raise UsageProblem(
            f"A session's name is one line of at most {NAME} characters that starts with no dash."
        )
    if name in magics.sessions:
        raise UsageProblem(f"There is a session {name} in this kernel already.")
    return name


def _next_name(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    number = 2
    while f"{name}-{number}" in known:
        number += 1
    return f"{name}-{number}"


def _split(words: str) -> list[str]:
    try:
        parts = arg_split(words)
    except (ValueError, UsageError) as error:
        raise UsageProblem(f"These words cannot be split: {error}.") from error
    return [part[1:-1] if part[:1] in "\"'" and part[-1:] == part[:1] else part for part in parts]
