"""The tools `ls` and `glob`: which names there are.

Owns their texts and limits. Names only: what is in a file is no business of theirs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.blocking import in_thread
from agent_magics.tools.globs import depth_of, matcher, name_matcher, split_pattern
from agent_magics.tools.ignoring import rules_at
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import counted, printable, size
from agent_magics.tools.schemas import record, string
from agent_magics.tools.scopes import exactly, this_path
from agent_magics.tools.walking import Run, Stop, Tally, runs
from agent_magics.tools.workspace import Workspace

MAX_LISTED = 500
"""Names in one answer, about 20 kB: more does not help a model to choose."""
SECONDS = 30
"""After which a search for names is ended: a whole disk may lie below the folder."""
LARGE = 50_000
"""Bytes from which a file's size is shown: more than `read` gives at once."""


def ls_tool(workspace: Workspace) -> Tool:
    """`ls`: one folder's entries."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        folder = workspace.resolve(arguments.get("path") or ".")
        return ToolOutput(await in_thread(lambda _stop: _listing(folder, workspace)))

    return Tool(
        "ls",
        "List a folder: folders first, with a slash at the end. Hidden names are included.\n"
        "What git ignores is marked: glob and grep leave it out unless its folder is named.",
        record(path=string("The folder.", ".")),
        "read",
        run,
        operand=lambda arguments: workspace.shown(arguments.get("path") or "."),
        outside=lambda arguments: workspace.outside(arguments.get("path") or ".", write=False),
        always=this_path("ls", workspace),
    )


def _listing(folder: Path, workspace: Workspace) -> str:
    if not folder.exists():
        raise ToolError(missing(folder, workspace))
    if not folder.is_dir():
        raise ToolError(f"{workspace.shown(folder)} is a file; read shows it.")
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: (not _is_folder(entry), entry.name))
    if not entries:
        return f"({workspace.shown(folder)} is empty)"
    ignored = _ignored(folder, entries, workspace)
    lines = [
        _line(entry) + ("  (git ignores it)" if entry.name in ignored else "")
        for entry in entries[:MAX_LISTED]
    ]
    if len(entries) > MAX_LISTED:
        lines.append(
            f"[{MAX_LISTED} of {len(entries)} entries; use glob with a pattern such as "
            f"'{_prefix(folder, workspace)}a*' for the others]"
        )
    return "\n".join(lines)


def _ignored(
    folder: Path, entries: list[os.DirEntry[str]], workspace: Workspace
) -> AbstractSet[str]:
    """The names that `glob` and `grep` pass over, unless they are named."""
    rules = rules_at(folder, workspace.root())
    names: dict[bool, list[str]] = {True: [], False: []}
    for entry in entries:
        names[_is_folder(entry) and not entry.is_symlink()].append(entry.name)
    base = f"{folder}/".replace("//", "/")
    return rules.ignored(base, names[True], folders=True) | rules.ignored(
        base, names[False], folders=False
    )


def _prefix(folder: Path, workspace: Workspace) -> str:
    shown = workspace.shown(folder)
    return "" if shown == "." else f"{shown}/"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _line(entry: os.DirEntry[str]) -> str:
    name = printable(entry.name) + ("/" if _is_folder(entry) else "")
    if entry.is_symlink():
        return f"{name} -> {_target(entry)}"
    try:
        count = entry.stat().st_size
    except OSError:
        return name
    return name if name.endswith("/") or count < LARGE else f"{name}  ({size(count)})"


def _target(entry: os.DirEntry[str]) -> str:
    try:
        target = printable(str(Path(entry.path).readlink()))
    except OSError:
        return "?"
    return target if Path(entry.path).exists() else f"{target} (missing)"


def glob_tool(workspace: Workspace) -> Tool:
    """`glob`: files whose paths match a pattern."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        return ToolOutput(
            await in_thread(lambda stop: _globbed(workspace, *_place(arguments), stop))
        )

    return Tool(
        "glob",
        "Find files by a path pattern such as 'src/**/*.py'. ** stands for any folders.\n"
        "Files that git ignores are left out. End the pattern with / to find folders.",
        record(
            ("pattern",),
            pattern=string("With *, ?, [...], {a,b} and **."),
            path=string("The folder to search in.", "."),
        ),
        "read",
        run,
        operand=lambda arguments: _operand(workspace, arguments),
        outside=lambda arguments: _outside(workspace, arguments),
        always=lambda arguments: exactly("glob", _operand(workspace, arguments)),
    )


def _place(arguments: Arguments) -> tuple[str, str]:
    """The folder where a search begins, and the pattern below it."""
    base, rest = split_pattern(arguments["pattern"])
    folder = arguments.get("path") or "."
    if not base:
        return folder, rest
    absolute = base.startswith("/") or base.split("/")[0] == "~" or Path(base).is_absolute()
    return (base if absolute else f"{folder}/{base}"), rest


def _operand(workspace: Workspace, arguments: Arguments) -> str:
    try:
        folder, rest = _place(arguments)
    except ToolError:
        return printable(arguments["pattern"])
    shown = workspace.shown(folder)
    return printable(rest if shown == "." else f"{shown.rstrip('/')}/{rest}")


def _outside(workspace: Workspace, arguments: Arguments) -> bool:
    try:
        folder, _ = _place(arguments)
    except ToolError:
        return False
    return workspace.outside(folder, write=False)


def _globbed(workspace: Workspace, place: str, pattern: str, stop: Stop) -> str:
    if not pattern.strip("/."):
        raise ToolError("The pattern has no name in it; '**/*' finds every file.")
    folder = workspace.resolve(place)
    if not folder.is_dir():
        if not folder.exists():
            raise ToolError(missing(folder, workspace))
        raise ToolError(f"{workspace.shown(folder)} is a file, not a folder to search in.")
    deadline = time.monotonic() + SECONDS

    def ending() -> bool:
        return stop() or time.monotonic() > deadline

    matching = _matching(pattern)
    want_folders = pattern.endswith("/")
    tally = Tally()
    names: list[str] = []
    count = others = 0
    for run in runs(folder, workspace.root(), tally, ending, depth_of(pattern)):
        found = matching(run)
        if not found:
            continue
        if run.folders != want_folders:
            others += len(found)
            continue
        count += len(found)
        end = "/" if want_folders else ""
        names += [f"{run.below}{name}{end}" for name in found[: MAX_LISTED - len(names)]]
    prefix = _prefix(folder, workspace)
    return _names_text([prefix + printable(name) for name in names], count, others, tally, pattern)


def _matching(pattern: str) -> Callable[[Run], list[str]]:
    """Which names of a run match a pattern."""
    by_name = name_matcher(pattern)
    if by_name is not None:
        return lambda run: [*filter(by_name, run.names)]
    matches = matcher(pattern)

    def whole(run: Run) -> list[str]:
        above = run.below.split("/")[:-1]
        return [name for name in run.names if matches((*above, name))]

    return whole


def _names_text(names: list[str], count: int, others: int, tally: Tally, pattern: str) -> str:
    """The answer.

    Args:
        names: The first ones.
        count: How many there are.
        others: Folders that match where files are wanted, and the other way round.
        tally: What the walk could not see.
        pattern: As it was given.
    """
    lines = [*names]
    want_folders = pattern.endswith("/")
    if not names:
        lines.append("No folders match." if want_folders else "No files match.")
        if others and not want_folders:
            lines.append(f"[folders match ({others}); end the pattern with / to see them]")
        elif not want_folders:
            lines.append("[files that git ignores are left out, unless their folder is named]")
    if count > len(names):
        lines.append(f"[{len(names)} of {count}; use a narrower pattern or path]")
    if tally.unreadable:
        lines.append(f"[{counted(tally.unreadable, 'folder')} could not be read]")
    if tally.stopped:
        lines.append(f"[ended after {SECONDS} s, there may be more: use a narrower path]")
    return "\n".join(lines)
