"""The tool of this skill: staged_diff. Needs git, and nothing but the standard library.

It shows the same text whatever the person's git is configured to do, runs no program that the
repository's own configuration names, and never writes.
"""

from __future__ import annotations

from pathlib import Path

from gitfacts.changes import changed, chosen, diffs, fitting, shown
from gitfacts.process import Git, Sentence, empty_tree, head_of, opened

SUBJECTS = 12
"""First lines of earlier commits that are shown, as examples of the project's way."""


def staged_diff(workspace: Path, path: str = "", start: int = 1, amend: bool = False) -> str:
    """Show what the next commit of the repository around the workspace would hold.

    Lists the staged files, what is changed but not staged, and the first lines of the latest
    commits; then shows the diffs. What does not fit is listed at the end, with the call that
    shows it.

    Args:
        workspace: The folder that the notebook works in; not a parameter for the model.
        path: Only this file or folder, as the list names it. Empty for everything.
        start: The first line of the diff to show, for a file whose diff was cut.
        amend: Show what the last commit would hold if the staged changes were added to it
            (`git commit --amend`), with its present message.
    """
    try:
        return _answer(workspace, path, start, amend)
    except Sentence as sentence:
        return str(sentence)


def _answer(workspace: Path, path: str, start: int, amend: bool) -> str:
    git = opened(workspace)
    head = head_of(git)
    if amend and not head:
        return "The repository has no commits yet: there is nothing to amend."
    against = _parent(git, head) if amend else head or empty_tree(git)
    what = ("--cached", against)
    changes = changed(git, *what)
    title = _title(git, head, amend)
    if not changes:
        return "\n".join([f"{title}\nNothing is staged.", *_unstaged(git)])
    wanted = chosen(changes, path, git.folder, workspace)
    if not wanted:
        listed = fitting([change.line() for change in changes])
        return "\n".join([f"{title}\nNothing is staged at {path!r}. Staged are:", *listed])
    around = [] if path else [*_unstaged(git), *_message(git, amend), *_subjects(git, head)]
    again = ", amend=true" if amend else ""
    listed = fitting([change.line() for change in wanted])
    shown_diffs = diffs(git, what, wanted, max(start, 1), f"staged_diff({{}}{again})")
    return "\n".join([title, *listed, *around, "", *shown_diffs])


def _parent(git: Git, head: str) -> str:
    """The first parent of a commit, or the empty tree."""
    parents = git.text("rev-list", "--parents", "--max-count=1", head).split()[1:]
    return parents[0] if parents else empty_tree(git)


def _title(git: Git, head: str, amend: bool) -> str:
    branch = git.text("symbolic-ref", "--quiet", "--short", "HEAD", codes=(0, 1))
    where = f"branch {branch}" if branch else f"no branch, detached at {head[:10]}"
    if not head:
        where += ", no commits yet"
    kind = f"The last commit {head[:10]} with the staged changes," if amend else "Staged changes"
    # Not the whole path: answers are kept in notebooks, which are shared.
    name = git.folder.resolve().name
    title = f"{kind} in the repository {name} ({where}). Paths are relative to its root."
    merging = git.text("rev-parse", "--verify", "--quiet", "MERGE_HEAD", codes=(0, 1))
    return f"{title} A merge of {merging[:10]} is in progress." if merging else title


def _unstaged(git: Git) -> list[str]:
    """What the commit would not hold; said, since people forget to stage."""
    lines = [change.line() for change in changed(git)]
    try:
        output = git.run("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    except Sentence as sentence:
        lines.append(f"  New files that git does not track could not be listed: {sentence}")
        output = b""
    lines += [f"  new, untracked: {shown(name)}" for name in output.split(b"\0")[:-1]]
    return ["", "Not staged, and so not in the commit:", *fitting(lines)] if lines else []


def _message(git: Git, amend: bool) -> list[str]:
    if not amend:
        return []
    lines = git.lines("log", "--max-count=1", "--encoding=UTF-8", "--format=%B", "HEAD")
    text = [line.decode("utf-8", "replace") for line in lines]
    return ["", "The present message:", *fitting([f"  {line}".rstrip() for line in text])]


def _subjects(git: Git, head: str) -> list[str]:
    """The first lines of the latest commits that a person wrote."""
    if not head:
        return []
    options = ("--no-merges", f"--max-count={SUBJECTS}", "--encoding=UTF-8", "--format=%s")
    lines = [line.decode("utf-8", "replace") for line in git.lines("log", *options, head)]
    return ["", "First lines of the latest commits:", *(f"  {x}" for x in lines)] if lines else []
