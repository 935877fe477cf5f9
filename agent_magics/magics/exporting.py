"""A saved session as a file for others: Markdown, a page, a notebook, JSON.

Owns which formats there are (a new one is one function and one line in `FORMATS`), that nothing is
overwritten unasked, and that no path of this machine is in it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast

from agent_magics.errors import UsageProblem
from agent_magics.frontends.summary import safe_line
from agent_magics.magics.export_markdown import markdown_text
from agent_magics.magics.export_notebook import notebook_text
from agent_magics.magics.export_page import page_text
from agent_magics.messages import JSON, User
from agent_magics.records.comparisons import decoded_comparison, encoded_comparison
from agent_magics.records.encoding import Redact, decoded, encoded, encoded_usage
from agent_magics.records.stored import Stored, StoredTurn
from agent_magics.tools.plain import size

Format: TypeAlias = Callable[[Stored], str]
VERSION = 1
"""The version of the JSON export."""


def export_story(stored: Stored, path: Path, roots: Sequence[str], *, force: bool) -> str:
    """Write a session to a file; gives what to say.

    Args:
        stored: The session.
        path: The file; its ending says the format.
        roots: Folders whose paths are written relative to them.
        force: Replace a file that is there.

    Raises:
        UsageProblem: The format is not known, the file is there, or it cannot be written.
    """
    make = FORMATS.get(path.suffix.lower())
    if make is None:
        known = ", ".join(FORMATS)
        raise UsageProblem(f"%agent export writes {known}; the file's ending says which.")
    text = make(portable(stored, roots, str(Path.home())))
    try:
        _replace(path, text, force=force)
    except FileExistsError as error:
        what = "is a folder" if path.is_dir() else "is there already; --force replaces it"
        raise UsageProblem(f"{path} {what}.") from error
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written: {error.strerror or error}.") from error
    turns = f"{len(stored.turns)} turn{'' if len(stored.turns) == 1 else 's'}"
    return f"Exported {turns} to {path} ({size(len(text.encode(errors='replace')))})."


def portable(stored: Stored, roots: Sequence[str], home: str) -> Stored:
    """The session with this machine's paths written as `.` and `~`.

    Args:
        stored: The session.
        roots: Workspaces, written as `.`.
        home: The person's folder, written as `~`.
    """
    # The longest first: a workspace usually lies in the home folder.
    named = [(root, ".") for root in roots] + [(home, "~")]
    named += [(skill.root, f"skills/{skill.name}") for skill in stored.skills]
    pairs = sorted({p for p in named if len(p[0]) > 1}, key=lambda p: (-len(p[0]), p))
    rules = [(re.compile(rf"(?<![\w.~-]){re.escape(p)}(?![\w-]|\.\w)"), sign) for p, sign in pairs]

    def scrub(text: str) -> str:
        for rule, sign in rules:
            text = rule.sub(sign, text)
        return text

    head = replace(stored.head, folder="")
    return replace(stored, head=head, turns=tuple(_scrubbed(t, scrub) for t in stored.turns))


def _scrubbed(turn: StoredTurn, scrub: Redact) -> StoredTurn:
    # One round through the encoding, which knows every text of a message.
    messages = tuple(decoded(encoded(message, scrub)) for message in turn.messages)
    prompt = cast("User", decoded(encoded(turn.began.prompt, scrub)))
    decided = {
        ident: replace(
            entry,
            title=scrub(entry.title),
            reason=scrub(entry.reason),
            arguments=None if entry.arguments is None else scrub(entry.arguments),
        )
        for ident, entry in turn.decided.items()
    }
    end = turn.closed and replace(turn.closed, text=scrub(turn.closed.text))
    began = replace(turn.began, prompt=prompt)
    shown = turn.replay and decoded_comparison(encoded_comparison(turn.replay, scrub))
    return replace(turn, began=began, messages=messages, decided=decided, closed=end, replay=shown)


def json_text(stored: Stored) -> str:
    """The session as one JSON document."""
    value = {
        "format": "agent_magics.session",
        "version": VERSION,
        "id": stored.head.id,
        "name": stored.name,
        "created": stored.head.created,
        "usage": encoded_usage(stored.usage),
        "turns": [_turn_value(turn) for turn in stored.turns],
    }
    return json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n"


def _turn_value(turn: StoredTurn) -> dict[str, JSON]:
    calls = {
        ident: {
            "decision": entry.decision,
            "by": entry.by,
            "reason": entry.reason,
            **({} if entry.arguments is None else {"arguments": entry.arguments}),
            "outcome": turn.ended[ident].outcome if ident in turn.ended else "unfinished",
        }
        for ident, entry in turn.decided.items()
    }
    end = turn.closed
    return {
        "at": turn.began.at,
        "model": turn.began.model,
        "skills": [{"name": name, "digest": digest} for name, digest in turn.began.skills],
        "messages": [encoded(message) for message in turn.messages],
        "calls": calls,
        "reason": end.reason if end else "unfinished",
        "usage": encoded_usage(end.usage) if end else {},
        "seconds": end.seconds if end else 0,
        **({} if turn.replay is None else {"replay": encoded_comparison(turn.replay)}),
    }


def title_of(stored: Stored) -> str:
    """The name that a person gave, else the first words of the first prompt."""
    first = next((t.began.prompt.text.strip() for t in stored.turns if t.began.prompt.text), "")
    named = stored.name if stored.name != "default" else ""
    return named or first.split("\n")[0] or "A conversation"


def facts_of(stored: Stored) -> str:
    """One line: when, how much, which models and skills."""
    models = dict.fromkeys(t.began.model for t in stored.turns if t.began.model)
    skills = dict.fromkeys(
        f"{name} ({digest[:8]})" for turn in stored.turns for name, digest in turn.began.skills
    )
    parts = [stored.head.created[:16].replace("T", " ")] if stored.head.created else []
    parts.append(f"{len(stored.turns)} turn{'' if len(stored.turns) == 1 else 's'}")
    parts += [f"model {', '.join(models)}"] if models else []
    parts += [f"skills {', '.join(skills)}"] if skills else []
    return safe_line("agent_magics · " + " · ".join(parts), 500)


def _replace(path: Path, text: str, *, force: bool) -> None:
    """Write the whole of a file, or leave what is there."""
    if not force:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        mode = path.stat().st_mode if path.exists() else 0o644
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


FORMATS: dict[str, Format] = {
    ".md": lambda stored: markdown_text(stored, title_of(stored), facts_of(stored)),
    ".html": lambda stored: page_text(stored, title_of(stored), facts_of(stored)),
    ".ipynb": lambda stored: notebook_text(stored, title_of(stored), facts_of(stored)),
    ".json": json_text,
}
