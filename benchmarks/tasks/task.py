"""What a task is: a folder, a wish in several wordings, and a check of what came of it.

A check looks at effects (files) and facts (names, numbers), never at a model's style. It gives the
reason why a run has not finished the task, or the empty text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "explore", "find", "edit", "compute", "data", "notebook", "plain", "review"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left behind.

    Args:
        answer: The final text.
        folder: The folder it worked in.
        calls: Names of the tools that ran, in order.
    """

    answer: str
    folder: Path
    calls: tuple[str, ...] = ()


Check: TypeAlias = Callable[[Outcome], str]


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Args:
        id: Names it in tables and on the command line.
        kind: What sort of work it is.
        world: Fills an empty folder.
        wordings: The same wish in other words; the last one is held out.
        check: Why it is not finished; empty: it is.
        held_out: Whether no wording of it is looked at while the product is tuned.
    """

    id: str
    kind: Kind
    world: Callable[[Path], None]
    wordings: tuple[str, str, str]
    check: Check
    held_out: bool = False


# --- facts ------------------------------------------------------------------------------------


def says(answer: str, *words: str) -> bool:
    """Whether one of these stands in a text as a whole word, whatever its case."""
    return any(
        re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", answer, re.IGNORECASE) for word in words
    )


def says_number(answer: str, number: float) -> bool:
    """Whether a number stands in a text, also with separators, or rounded to one decimal more."""
    plain = re.sub(r"(?<=\d)[,_ \u202f](?=\d{3}(?!\d))", "", answer)
    found = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\d])", plain)
    if float(number).is_integer():
        return any(float(text) == number for text in found)
    return any(abs(float(text) - number) < 0.006 for text in found)


def facts(*groups: tuple[str, ...] | str) -> Check:
    """Each group must be met by one of its words."""
    sets = [(group,) if isinstance(group, str) else group for group in groups]

    def check(outcome: Outcome) -> str:
        missing = [group for group in sets if not says(outcome.answer, *group)]
        return f"not named: {' / '.join(missing[0])}" if missing else ""

    return check


def number(value: float) -> Check:
    """The number must be named."""

    def check(outcome: Outcome) -> str:
        return "" if says_number(outcome.answer, value) else f"not named: {value:g}"

    return check


def nothing_invented(outcome: Outcome) -> str:
    """No Python file may be named that is not there."""
    there = {path.name for path in outcome.folder.rglob("*.py")}
    named = set(re.findall(r"([\w-]+\.py)\b", outcome.answer))
    invented = sorted(named - there)
    return f"invented: {invented[0]}" if invented else ""


def at_least(count: int, *words: str) -> Check:
    """So many of the words must be named."""

    def check(outcome: Outcome) -> str:
        named = sum(says(outcome.answer, word) for word in words)
        return "" if named >= count else f"names {named} of {', '.join(words)}"

    return check


def no_call(outcome: Outcome) -> str:
    """Nothing needed to be looked at."""
    return f"called {outcome.calls[0]}" if outcome.calls else ""


def every(*checks: Check) -> Check:
    """All of them; the first reason counts."""

    def check(outcome: Outcome) -> str:
        return next((why for one in checks if (why := one(outcome))), "")

    return check


# --- effects ----------------------------------------------------------------------------------


def unchanged_but(world: Callable[[Path], None], *paths: str) -> Check:
    """Every other file of the world must hold what it held."""
    import tempfile

    def check(outcome: Outcome) -> str:
        with tempfile.TemporaryDirectory() as folder:
            world(Path(folder))
            before = _contents(Path(folder))
        after = _contents(outcome.folder)
        for path in sorted(set(before) | set(after)):
            if path not in paths and before.get(path) != after.get(path):
                return f"changed: {path}"
        return ""

    return check


def _contents(folder: Path) -> dict[str, bytes]:
    left_out = (".git", "__pycache__", ".ipynb_checkpoints", ".pytest_cache")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(part in left_out for part in path.parts)
    }


def holds(path: str, test: Callable[[str], bool]) -> Check:
    """A file must be there, and its text pass a test."""

    def check(outcome: Outcome) -> str:
        file = outcome.folder / path
        if not file.is_file():
            return f"no file {path}"
        text = file.read_text(encoding="utf-8", errors="replace")
        return "" if test(text) else f"{path} holds: {text[:60]!r}"

    return check
