r"""The journal of one turn: lines of JSON that say what stood where before it was changed. Pure.

    {"version": 1, "kind": "turn", "root": "/work", "session": "default", "prompt": "…", …}
    {"change": "/work/a.py", "was": {"kind": "file", "digest": "…", …}, "will": {…}}
    {"ran": "run_shell"}
    {"missed": "/work/big.csv", "reason": "…"}
    {"done": true}

A line is on the disk before its change happens, so a line that is cut off has no change. A path is
a real folder's path and one name in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agent_magics.tools.states import State

VERSION = 1
Purpose: TypeAlias = Literal["turn", "undo", "redo"]


@dataclass(frozen=True, slots=True)
class Header:
    """Whose changes these are.

    Args:
        kind: A turn of the agent; an undo of one; a redo, which is the undo of an undo.
        root: The workspace, by its real path.
        session: The conversation's name.
        prompt: The beginning of what was asked.
        time: Seconds since 1970.
        kernel: Names the running kernel.
        of: What an undo or a redo takes back.
    """

    kind: Purpose
    root: str
    session: str = ""
    prompt: str = ""
    time: float = 0.0
    kernel: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One path before and after one step of a tool.

    Args:
        path: A real folder's path and a name.
        was: What stood there; a file's content is kept if it was the first change.
        will: What the tool was about to make of it.
    """

    path: Path
    was: State
    will: State


@dataclass(frozen=True, slots=True)
class Journal:
    """All that one turn did, as far as it was told.

    Args:
        name: Names the turn; names sort by time.
        header: Whose it is.
        changes: In order.
        ran: How often each tool ran whose effects nobody keeps.
        missed: Paths that changed without a copy, and why.
        done: Whether an undo came to its end.
    """

    name: str
    header: Header
    changes: tuple[Change, ...] = ()
    ran: Counter[str] = field(default_factory=Counter)
    missed: tuple[tuple[Path, str], ...] = ()
    done: bool = False

    def nets(self) -> tuple[Net, ...]:
        """What became of each path in all, in the order in which they were first changed."""
        found: dict[Path, list[Change]] = {}
        for change in self.changes:
            found.setdefault(change.path, []).append(change)
        return tuple(_net(path, steps) for path, steps in found.items())


@dataclass(frozen=True, slots=True)
class Net:
    """What became of one path.

    Args:
        path: Where.
        first: What stood there before the turn.
        left: What the last step was to leave.
        before_last: What stood there before the last step, which may not have happened.
        interfered: Whether something else changed it between two steps.
    """

    path: Path
    first: State
    left: State
    before_last: State
    interfered: bool


def _net(path: Path, steps: Sequence[Change]) -> Net:
    interfered = any(
        not after.was.same(before.will) and not after.was.same(before.was)
        for before, after in pairwise(steps)
    )
    return Net(path, steps[0].was, steps[-1].will, steps[-1].was, interfered)


# -- lines ----------------------------------------------------------------------------------


def header_line(header: Header) -> str:
    """The first line."""
    return _line({"version": VERSION, **asdict(header)})


def change_lines(changes: Iterable[Change]) -> str:
    """Lines of changes that are about to happen."""
    return "".join(
        _line({"change": str(c.path), "was": _packed(c.was), "will": _packed(c.will)})
        for c in changes
    )


def ran_line(tool: str) -> str:
    """The line of a call whose effects nobody keeps."""
    return _line({"ran": tool})


def missed_line(path: Path, reason: str) -> str:
    """The line of a change without a copy."""
    return _line({"missed": str(path), "reason": reason})


def done_line() -> str:
    """The last line of an undo that came to its end."""
    return _line({"done": True})


def read_journal(name: str, text: str) -> Journal | None:
    """What a journal says; None if it is none, or of a newer version.

    What is cut off or unreadable is left out: its change did not happen.
    """
    lines = [line for line in map(_read, text.split("\n")) if line is not None]
    if not lines or lines[0].get("version") != VERSION:
        return None
    values = {key: value for key, value in lines[0].items() if key != "version"}
    try:
        header = Header(**values)
        changes = tuple(_change(line) for line in lines if "change" in line)
        missed = tuple((Path(x["missed"]), str(x["reason"])) for x in lines if "missed" in x)
    except (TypeError, KeyError):
        return None
    ran = Counter(str(line["ran"]) for line in lines if "ran" in line)
    return Journal(name, header, changes, ran, missed, any("done" in line for line in lines))


def _change(line: dict[str, Any]) -> Change:
    return Change(Path(line["change"]), State(**line["was"]), State(**line["will"]))


def _packed(state: State) -> dict[str, Any]:
    """Only what says something."""
    return {name: value for name, value in asdict(state).items() if value not in ("", 0, None)} | (
        {"mode": 0} if state.mode == 0 else {}
    )


def _line(values: dict[str, Any]) -> str:
    # Escapes keep names that are no UTF-8.
    return json.dumps(values) + "\n"


def _read(line: str) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None
