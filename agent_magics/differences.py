"""What went otherwise in a replay than when it was recorded, and what counts as the same. Pure.

Two runs of one notebook differ in what depends on the machine and the moment. `Places` owns which
details those are: the workspace's path (written as a placeholder in files, so that they can be
replayed elsewhere), the home folder, points in time, durations, addresses of objects, random
identifiers and the folder for long outputs. Knows no file and no model.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_magics.messages import JSON

WORKSPACE = "⟨workspace⟩"
"""Stands in recordings for the workspace's path."""
DIFF_LINES, DIFF_WIDTH = 12, 200
"""Lines that are shown of one difference, and characters of each."""
SHOWN = 8
"""Differences that are shown; the number of all is always said."""

Kind: TypeAlias = Literal["result", "arguments", "decision", "skill", "prompt", "end", "unplayed"]

_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
_MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_WORD = r"[^\s'\"`(=]"
_UNITS = r"ns|us|µs|ms|s|secs?|seconds?|minutes?"
_MOVING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?<![\w-]){_UUID}(?![\w-])"), "‹id›"),
    (re.compile(r"\bcall_[0-9]{9}\b"), "‹id›"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "‹address›"),
    # Tried at the beginning of a word alone, so that a long one costs no more than a short one.
    (re.compile(rf"(?<!{_WORD}){_WORD}{{0,300}}?agent_magics-[a-z0-9_]{{8}}\b"), "‹outputs›"),
    (re.compile(rf"\b\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK}(?:Z\b|[+-]\d{{2}}:?\d{{2}})?"), "‹time›"),
    (re.compile(rf"\b(?:{_MONTH}) {{1,2}}\d{{1,2}} {{1,2}}(?:{_CLOCK}|\d{{4}})\b"), "‹time›"),
    (re.compile(rf"(?<![\w.])\d{{1,9}}(?:\.\d{{1,9}})? ?(?:{_UNITS})\b"), "‹duration›"),
    (re.compile(r"\b(pid|PID)([ =:]{1,3})\d{1,9}\b"), r"\1\2‹id›"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that went otherwise.

    Args:
        kind: `result` (what a call brought), `arguments` (what it ran with), `decision` (whether
            it ran), `skill` (what was active), `prompt` (one that the recording does not have),
            `end` (the recording has no further answer), `unplayed` (it has more of them).
        where: The call or the thing, in a few words.
        recorded: As it was then.
        now: As it is now.
    """

    kind: Kind
    where: str
    recorded: str = ""
    now: str = ""

    def lines(self, most: int = DIFF_LINES) -> tuple[str, ...]:
        """The difference as lines of a diff, `-` recorded and `+` now.

        Args:
            most: Lines at the most; how many more there are is said in one further line.
        """
        before, after = self.recorded.splitlines(), self.now.splitlines()
        diff = difflib.unified_diff(before[:2_000], after[:2_000], lineterm="", n=1)
        found = [line for line in diff if not line.startswith(("---", "+++", "@@"))]
        shown = [line[:DIFF_WIDTH] for line in found[:most]]
        if len(found) > most:
            shown.append(f"… {len(found) - most} more lines")
        return tuple(shown)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One turn of a replay beside its recording.

    Args:
        file: The recording, as the person named it.
        compared: How many results, skills and answers were compared.
        differences: In the order in which they were met.
        strict: Whether a difference is an error.
    """

    file: str
    compared: int = 0
    differences: tuple[Difference, ...] = ()
    strict: bool = False

    def __str__(self) -> str:
        count = len(self.differences)
        if not count:
            return f"Replay of {self.file}: {self.compared} compared, no differences."
        things = "1 difference" if count == 1 else f"{count} differences"
        parts = [f"Replay of {self.file}: {things} from the recording."]
        for item in self.differences[:SHOWN]:
            parts.append(f"{item.kind}: {item.where}")
            parts += [f"  {line}" for line in item.lines()]
        if count > SHOWN:
            parts.append(f"… and {count - SHOWN} more: %agent last, .replay.differences")
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Places:
    """Where a turn happens, and texts without it.

    Args:
        roots: The workspace's path, in each form in which it may be written.
        home: The person's folder.
    """

    roots: tuple[str, ...] = ()
    home: str = ""

    def portable(self, text: str) -> str:
        """The text with the workspace's path as a placeholder."""
        for root in sorted(self.roots, key=len, reverse=True):
            text = _without(text, root, WORKSPACE)
        return text

    def private(self, text: str) -> str:
        """As `portable`, and with the home folder as `~`: for what a person's machine said."""
        return _without(self.portable(text), self.home, "~")

    def here(self, text: str) -> str:
        """The text with the placeholder as this workspace's path."""
        return text.replace(WORKSPACE, self.roots[0]) if self.roots else text

    def comparable(self, text: str) -> str:
        """The text without what depends on the machine and the moment; see the module's text."""
        text = self.private(text)
        for pattern, sign in _MOVING:
            text = pattern.sub(sign, text)
        return "\n".join(line.rstrip() for line in text.strip().splitlines())


def each_text(value: JSON, change: Callable[[str], str]) -> JSON:
    """A JSON value with every text in it changed; names of fields stay."""
    match value:
        case str():
            return change(value)
        case dict():
            return {name: each_text(part, change) for name, part in value.items()}
        case list() | tuple():
            return [each_text(part, change) for part in value]
        case _:
            return value


def skill_differences(
    then: Sequence[tuple[str, str]], now: Iterable[tuple[str, str]]
) -> tuple[Difference, ...]:
    """What is otherwise about the active skills, by name and digest."""
    before, after = dict(then), dict(now)
    found: list[Difference] = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            texts = (_skill(name, old), _skill(name, new))
            found.append(Difference("skill", f"skill {name}", *texts))
    return tuple(found)


def _skill(name: str, digest: str | None) -> str:
    return "not active" if digest is None else f"{name} ({digest[:12]})"


def _without(text: str, path: str, sign: str) -> str:
    if len(path) < 2 or path not in text:  # the root of a disk is in every path
        return text
    return re.sub(rf"(?<![\w.~-]){re.escape(path)}(?![\w-]|\.\w)", lambda _: sign, text)
