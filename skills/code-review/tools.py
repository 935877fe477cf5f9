"""The tools of this skill: git_diff and report_findings. They need git and this package alone.

git_diff shows the same text whatever the person's git is configured to do and runs no program
that the repository's own configuration names; report_findings shows findings to the person, after
a look at the files that they are about. Neither ever writes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from gitdiff.changes import Change, against, chosen, tracked, untracked
from gitdiff.process import Git, Sentence, opened
from gitdiff.text import PER_FILE, TOTAL, Diffs, add_tracked, add_untracked
from reporting.report import reported
from reporting.written import Written

from agent_magics.tool import ToolOutput

LISTED = 8_000
"""Characters of a list of files; those beyond it are counted."""


def git_diff(
    workspace: Path, path: str = "", staged: bool = False, base: str = "", start: int = 1
) -> str:
    """Show the uncommitted changes of the repository around the workspace.

    Lists every changed file, new files that git does not track yet included, then shows the
    diffs. What does not fit is listed at the end, with the call that shows it.

    Args:
        workspace: The folder that the notebook works in; not a parameter for the model.
        path: Only this file or folder, as the list names it. Empty for everything.
        staged: Only what is staged for the next commit.
        base: A branch, tag or commit: show everything since this branch left it, committed or
            not. Empty for the changes since the last commit.
        start: The first line of the diff to show, for a file whose diff was cut.
    """
    try:
        return _answer(workspace, path, staged, base, start)
    except Sentence as sentence:
        return str(sentence)


def report_findings(workspace: Path, findings: list[Written]) -> ToolOutput:
    """Show the findings of a review to the person, as a table with the lines of code.

    Call it once, with all findings, when the review is done. Places are checked against the files
    first: what does not fit is not shown and comes back with what to mend.

    Args:
        workspace: The folder that the notebook works in; not a parameter for the model.
        findings: All of them, the most severe first; an empty list if nothing is wrong.
    """
    return reported(findings, workspace)


def _answer(workspace: Path, path: str, staged: bool, base: str, start: int) -> str:
    git = opened(workspace)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1))
    commit, what = against(git, head.decode().strip(), base)
    title = _title(git, workspace, head.decode()[:10], what, staged)
    changes, note = _changes(git, commit, staged)
    if not changes:
        return f"{title}\nNothing changed.{note}"
    wanted = chosen(changes, path, git.folder, workspace)
    if not wanted:
        return "\n".join(
            [title, f"Nothing changed at {path!r}.{note} Changed are:", *_list(changes)]
        )
    alone = len(wanted) == 1
    diffs = Diffs(max(start, 1) if alone else 1, TOTAL if alone else PER_FILE)
    add_tracked(git, commit, staged, wanted, diffs)
    add_untracked(git.folder, wanted, diffs)
    if alone and not diffs.parts and diffs.number:
        return f"{title}\nThe diff of {path} has only {diffs.number} lines."
    again = (", staged=true" if staged else "") + (f', base="{base}"' if base else "")
    return "\n".join(
        [title + note, *_list(wanted), "", *diffs.parts, *_left_out(diffs, wanted, again)]
    )


def _changes(git: Git, commit: str, staged: bool) -> tuple[list[Change], str]:
    """All changes, and what to say when untracked files could not be listed."""
    changes = tracked(git, commit, staged)
    if staged:
        return changes, ""
    try:
        return [*changes, *untracked(git)], ""
    except Sentence as sentence:
        return changes, f" New files that git does not track could not be listed: {sentence}"


def _title(git: Git, workspace: Path, head: str, what: str, staged: bool) -> str:
    branch = git.run("symbolic-ref", "--quiet", "--short", "HEAD", codes=(0, 1)).decode().strip()
    where = f"branch {branch}" if branch else f"no branch, detached at {head}"
    kind = "Staged changes" if staged else "Changes, staged or not,"
    # Not the whole path: answers are kept in notebooks, which are shared.
    name = git.folder.resolve().name
    title = f"{kind} in the repository {name} ({where}; {what}). Paths are relative to its root."
    here = os.path.relpath(workspace.resolve(), git.folder.resolve())
    if here == ".":
        return title
    up = "/".join([".."] * len(Path(here).parts))
    return f"{title} The workspace is its sub-folder {here}, so other tools need {up}/ before them."


def _list(changes: Sequence[Change]) -> list[str]:
    return _fitting([change.line() for change in changes])


def _left_out(diffs: Diffs, changes: Sequence[Change], again: str) -> list[str]:
    """Exactly what was cut, and how to see it."""
    lines: list[str] = []
    for name, start in diffs.left_out(changes):
        argument = name if name.startswith('"') else f'"{name}"'
        part = f"from line {start} of its diff" if start > 1 else "all of it"
        after = f", start={start}" if start > 1 else ""
        lines.append(f"  {name}, {part}: git_diff(path={argument}{again}{after})")
    if not lines:
        return []
    return ["", "NOT SHOWN above, for length:", *_fitting(lines)]


def _fitting(lines: Sequence[str]) -> list[str]:
    """As many lines as a list may have, and how many are missing."""
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    count = sum(1 for end in ends if end <= LISTED)
    if count == len(lines):
        return list(lines)
    return [*lines[:count], f"  and {len(lines) - count} more; narrow it with `path`"]
