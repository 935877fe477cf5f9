"""The tools of this skill: git_log and commit_diff. They need git and the standard library only.

They show the same text whatever the person's git is configured to do, run no program that the
repository's own configuration names, and never write.
"""

from __future__ import annotations

import datetime
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gitfacts.changes import TOTAL, changed, chosen, diffs, fitting
from gitfacts.process import Git, Sentence, commit_of, empty_tree, head_of, opened

BODY = 1_500
"""Characters of one commit's message that are shown, its first line aside."""
TAGS = 12
"""Tags that are named for orientation."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_VERSIONS = ("v[0-9]*", "*[0-9].[0-9]*")
"""Globs for tags that name a release, rather than `nightly` or `latest`."""


def git_log(
    workspace: Path,
    since: str = "",
    until: str = "",
    main_line: bool = False,
    start: int = 1,
) -> str:
    """Show the commits between two releases of the repository around the workspace, newest first.

    Says which tags there are and which of them it took, then gives each commit's short hash,
    date, author and message. What does not fit is said at the end, with the call that shows it.

    Args:
        workspace: The folder that the notebook works in; not a parameter for the model.
        since: A tag, branch or commit whose commits are left out, or a date like 2024-05-31.
            Empty for the latest release's tag before `until`.
        until: The last commit to show, in the same forms. Empty for the last commit there is.
        main_line: Only the first parents: one entry for each merged branch.
        start: The number of the first commit to show, for a list that was cut.
    """
    try:
        return _log(opened(workspace), since.strip(), until.strip(), main_line, start)
    except Sentence as sentence:
        return str(sentence)


def commit_diff(workspace: Path, commit: str, path: str = "", start: int = 1) -> str:
    """Show what one commit changed, when its message does not say enough.

    A merge is compared with its first parent: what it brought in. What does not fit is listed at
    the end, with the call that shows it.

    Args:
        workspace: The folder that the notebook works in; not a parameter for the model.
        commit: A short hash from git_log, or a tag.
        path: Only this file or folder, as the list names it. Empty for everything.
        start: The first line of the diff to show, for a file whose diff was cut.
    """
    try:
        return _commit(opened(workspace), workspace, commit.strip(), path, max(start, 1))
    except Sentence as sentence:
        return str(sentence)


def _log(git: Git, since: str, until: str, main_line: bool, start: int) -> str:
    head = head_of(git)
    if not head:
        return f"The repository {git.folder.resolve().name} has no commits yet."
    last = _at(git, until, head, "23:59:59") if until else head
    if not last:
        return f"There is no commit until {until}."
    tag = "" if since else _last_tag(git, last)
    first = _at(git, since, head, "00:00:00") if since else commit_of(git, tag) if tag else ""
    span = f"{first}..{last}" if first else last
    options = ("--first-parent",) if main_line else ()
    count = int(git.text("rev-list", "--count", *options, span))
    lines = [_title(git, count, since or tag, until, last), *_notes(git, since, first, last)]
    lines += ["", *_tags(git)]
    entries, following = _entries(git, span, options, max(start, 1))
    if start > 1 and not entries:
        entries = [f"There is no commit number {start}."]
    lines += ["", *entries]
    if following:
        words = [f'since="{since or tag}"'] if since or tag else []
        words += [f'until="{until}"'] if until else []
        words += ["main_line=true"] if main_line else []
        call = f"git_log({', '.join([*words, f'start={following}'])})"
        lines += ["", f"NOT SHOWN above, for length: commits {following} to {count}: {call}"]
    return "\n".join(lines)


def _at(git: Git, name: str, head: str, time: str) -> str:
    """The commit that a name means, or the last one before a date; empty when there is none."""
    if not _DATE.fullmatch(name):
        return commit_of(git, name)
    try:
        datetime.date.fromisoformat(name)
    except ValueError:
        raise Sentence(f"{name} is no date: there is no such day.") from None
    return git.text("rev-list", "--max-count=1", f"--before={name} {time}", head)


def _last_tag(git: Git, commit: str) -> str:
    """The nearest tag before a commit, one that names a release if there is any."""
    here = git.run("tag", "--points-at", commit).decode("utf-8", "replace").split("\n")[:-1]
    without = [f"--exclude={tag}" for tag in here]
    versions = [f"--match={glob}" for glob in _VERSIONS]
    for choice in (versions, []):
        words = ("describe", "--tags", "--abbrev=0", *choice, *without, commit)
        if tag := git.text(*words, codes=(0, 128)):
            return tag
    return ""


def _title(git: Git, count: int, since: str, until: str, last: str) -> str:
    after = f"since {since}" if since else "from the very first one, since no tag comes before"
    branch = git.text("symbolic-ref", "--quiet", "--short", "HEAD", codes=(0, 1))
    end = until or f"the last commit of {f'branch {branch}' if branch else 'a detached HEAD'}"
    # Not the whole path: answers are kept in notebooks, which are shared.
    name = git.folder.resolve().name
    return f"{_commits_in_words(count)} in {name} {after}, until {end} ({last[:10]})."


def _commits_in_words(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"


def _notes(git: Git, since: str, first: str, last: str) -> list[str]:
    """What could make the list mislead."""
    notes = []
    if since and not first:
        notes.append(f"No commit is older than {since}.")
    if first and (away := int(git.text("rev-list", "--count", f"{last}..{first}"))):
        words = _commits_in_words(away)
        notes.append(f"Not in the end point, and not shown: {words} of the starting point.")
    if git.text("rev-parse", "--is-shallow-repository") == "true":
        notes.append("The clone is shallow: older commits, and perhaps tags, are missing.")
    return notes


def _tags(git: Git) -> list[str]:
    form = "--format=%(creatordate:short)  %(refname:strip=2)"
    options = ("--sort=-creatordate", f"--count={TAGS + 1}", form)
    lines = git.text("for-each-ref", *options, "refs/tags").splitlines()
    if not lines:
        return ["There are no tags."]
    more = ["  and older ones"] if len(lines) > TAGS else []
    return ["Tags, newest first:", *fitting([f"  {line}" for line in lines[:TAGS]]), *more]


@dataclass
class _Entry:
    """One commit as it is shown."""

    lines: list[str] = field(default_factory=list)
    left: int = BODY

    def add(self, line: str) -> None:
        """One line of the message, as far as there is room."""
        if self.left < 0:
            return
        self.left -= len(line) + 1
        self.lines.append(f"    {line}".rstrip() if self.left >= 0 else "    [message cut]")


def _entries(git: Git, span: str, options: tuple[str, ...], start: int) -> tuple[list[str], int]:
    """The commits from a number on, and the number of the first that did not fit; 0 if all did."""
    lines: list[str] = []
    left = TOTAL
    for number, entry in enumerate(_commits(git, span, options, start), start):
        text = "\n".join(entry.lines).rstrip()
        left -= len(text) + 1
        if left < 0:
            return lines, number
        lines.append(text)
    return lines, 0


def _commits(git: Git, span: str, options: tuple[str, ...], start: int) -> Iterator[_Entry]:
    # No message can hold this mark, so none can pretend to be several.
    mark = secrets.token_hex(16).encode()
    form = f"--format={mark.decode()}%x00%h%x00%as%x00%an%x00%s%x00%P%n%b"
    words = ("log", "--topo-order", "--no-color", "--no-notes", "--encoding=UTF-8")
    skip = f"--skip={start - 1}"
    entry: _Entry | None = None
    for line in git.lines(*words, "--abbrev=10", skip, *options, form, span, "--"):
        if not line.startswith(mark):
            if entry is not None:
                entry.add(line.decode("utf-8", "replace"))
            continue
        if entry is not None:
            yield entry
        # A line that is too long ends early, and then the last fields are missing.
        fields = [*line.decode("utf-8", "replace").split("\0"), *[""] * 5]
        name, date, author, subject, parents = fields[1:6]
        merge = " (merge)" if " " in parents else ""
        entry = _Entry([f"{name} {date} {author[:80]}{merge}", f"    {subject}"])
    if entry is not None:
        yield entry


def _commit(git: Git, workspace: Path, commit: str, path: str, start: int) -> str:
    name = commit_of(git, commit)
    parents = git.text("rev-list", "--parents", "--max-count=1", name).split()[1:]
    what = (parents[0] if parents else empty_tree(git), name)
    changes = changed(git, *what)
    (entry,) = _commits(git, name, ("--max-count=1",), 1)
    lines = "\n".join(entry.lines).rstrip().split("\n")
    if not changes:
        return "\n".join([*lines, "", "It changed no file."])
    wanted = chosen(changes, path, git.folder, workspace)
    if not wanted:
        listed = fitting([change.line() for change in changes])
        return "\n".join([f"Nothing changed at {path!r} in {name[:10]}. Changed are:", *listed])
    lines += ["", *fitting([change.line() for change in wanted]), ""]
    call = f'commit_diff(commit="{name[:10]}", {{}})'
    return "\n".join([*lines, *diffs(git, what, wanted, start, call)])
