"""Shell commands as rules see them: `run_shell git status` and what it allows.

Owns the way from a command's text to the facts that the policy judges. Two readings must agree
before a pattern may allow anything: the strict one of this package, and the grammar of bash. What
a rule then means is said in `commandline`; whether a command runs is decided by the policy alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agent_magics.commandline import CommandLine, Part
from agent_magics.errors import ToolError
from agent_magics.tools.commands.finding import Findings
from agent_magics.tools.commands.git import READS, subcommand
from agent_magics.tools.commands.grammar import Reading
from agent_magics.tools.commands.lexing import NotPlain, Simple, read_plain
from agent_magics.tools.commands.naming import named_paths
from agent_magics.tools.commands.programs import (
    changes_shell,
    limit,
    only_looks,
    program_names,
    runs_others,
)
from agent_magics.tools.commands.reaching import MAX_PATHS, seen_outside
from agent_magics.tools.commands.repository import repository_runs
from agent_magics.tools.workspace import Workspace

NEEDS_EXTRA = "it is more than one plain command, which only the extra agent_magics[shell] can read"
_MORE = re.compile(r"[\\<>#\n]")


def read_command(command: str, workspace: Workspace) -> CommandLine:
    """What the policy may know of a command. Never raises.

    Args:
        command: The text for the shell.
        workspace: Says what a path in it would reach.
    """
    findings = Findings()
    reading = findings.search(command)
    line = CommandLine(
        found=tuple(findings.found), within=tuple(findings.within), unclear=findings.unclear
    )
    try:
        line = replace(line, reach=seen_outside(command, findings.named, workspace))
        simple = read_plain(command)
        _agree(command, simple, reading)
        parts = tuple(_parts(simple, workspace))
        return replace(line, parts=parts, opaque=_repository(simple, workspace))
    except NotPlain as reason:
        return replace(line, opaque=str(reason))
    except (ToolError, OSError) as error:
        why = f"the folder cannot be used: {error}"
        return replace(line, opaque=why, reach=why)


def _agree(command: str, simple: Sequence[Simple], reading: Reading | None) -> None:
    """Two readings of one text, or it is not plain."""
    if reading is None:
        if len(simple) > 1 or simple[0].assignments or _MORE.search(command):
            raise NotPlain(NEEDS_EXTRA)
        return
    if reading.broken or [c.words for c in reading.commands] != [s.words for s in simple]:
        raise NotPlain("it can be read in two ways")


def _parts(simple: Sequence[Simple], workspace: Workspace) -> Iterable[Part]:
    folders = _folders(simple, workspace)
    several, gone = len(simple) > 1, len(folders) > 1
    changed = any(changes_shell(command.words) for command in simple[1 if gone else 0 :])
    many = sum(len(command.words) for command in simple) > MAX_PATHS
    for command in simple:
        why = _own_limit(command)
        if not why and changed and several:
            why = "another command of the line changes the shell"
        if not why and many:
            why = "the line holds too many words to look at each"
        why = why or _reach(command.words, folders, workspace)
        # What runs other things runs them elsewhere behind a `cd`, and takes them from a pipe.
        alone = several and (changed or (bool(why) and (command.fed or gone)))
        yield Part((*command.assignments, *command.words), why, alone)


def _own_limit(command: Simple) -> str:
    if command.assignments:
        return f"it sets {command.assignments[0].partition('=')[0]}"
    return limit(command.words)


def _folders(simple: Sequence[Simple], workspace: Workspace) -> tuple[str, ...]:
    """Where relative paths of the line may begin: here, and behind a plain `cd` at its start."""
    first = simple[0].words
    plain = first[0] == "cd" and len(first) == 2 and not first[1].startswith(("-", "/"))
    return (".", first[1]) if plain and not workspace.outside(first[1], write=False) else (".",)


def _reach(words: Sequence[str], folders: Sequence[str], workspace: Workspace) -> str:
    """Why a command needs a person's word for what it names, or the empty text."""
    if "/" in words[0] and not words[0].startswith("/") and len(folders) > 1:
        return f"{words[0]} is another program behind cd"
    write = not only_looks(words)
    for word in words[1:]:
        for path in named_paths(word):
            for folder in folders if path != "/dev/null" else ():
                joined = path if path.startswith(("/", "~")) else f"{folder}/{path}"
                if workspace.outside(joined, write=write):
                    return f"{word} is protected, or outside the workspace"
    if words[0] == "cd" and len(folders) == 1:
        return "cd goes elsewhere"
    return ""


def _repository(simple: Sequence[Simple], workspace: Workspace) -> str:
    """What git would run because a repository says so, whatever the command."""
    kinds = {kind for command in simple for kind in _git_kinds(command.words)}
    for reads in sorted(kinds):
        for folder in _folders(simple, workspace):
            runs = repository_runs(Path(workspace.root(), folder), reads=reads)
            if runs:
                return runs
    return ""


def _git_kinds(words: Sequence[str]) -> Iterable[bool]:
    """Whether git runs in a command, also behind `timeout 5`; true where it only looks."""
    for start, word in enumerate(words if runs_others(words) else words[:1]):
        if program_names(word)[-1] == "git":
            command = words[start:]
            at = subcommand(command)
            yield bool(at) and command[at] in READS
