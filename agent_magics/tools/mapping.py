"""A map of the workspace: what is in each file, in one line, within a budget.

For models that are bad at exploring: with the map they finish 68% of six small tasks, without it
50% (Qwen2.5-Coder 1.5B; 48% against 26% for 0.5B). Owns what a line says and how detailed the map
may be. Looks at what `glob` and `grep` look at: nothing that git ignores, no protected file, no
link. Its lines come from files, so whoever sends it fences it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent_magics.context import estimated_tokens
from agent_magics.errors import ToolError
from agent_magics.tools.documents import opened
from agent_magics.tools.plain import counted, printable
from agent_magics.tools.protection import protected
from agent_magics.tools.walking import Tally, runs
from agent_magics.tools.workspace import Workspace

MOST_FILES = 400
"""Files that are listed; of a larger tree the first ones, which its last line says."""
MOST_READ = 80
"""Files that are looked into."""
MOST_BYTES = 65_536
"""Bytes of a file that are looked at."""
LONGEST = 300
"""Characters of a line."""
README = 500
"""Characters of the README's beginning."""

_DOCSTRING = re.compile(
    r'(?:\s|#[^\n]*\n)*[rRuU]?(?:"""|\'\'\'|")[ \t]*\n?[ \t]*([^\n]+?)(?:"""|\'\'\'|"?$)',
    re.MULTILINE,
)
_TOP = re.compile(
    r"^(?:export\s+)?(?:pub\s+)?(?:async\s+)?"
    r"(def|class|function|func|fn|struct|interface|trait|enum)\s+(\w+)[^\n]*"
    r'(?:\n[ \t]+[rRuU]?(?:"""|\'\'\')[ \t]*\n?[ \t]*([^\n]+?)(?:"""|\'\'\'|$))?'
    r"|^([A-Z][A-Z0-9_]{2,})[ \t]*(?::[^=\n]+)?=(?:[ \t]*([\d._]{1,12})[ \t]*$)?",
    re.MULTILINE,
)
_CODE = frozenset((
    ".py", ".js", ".ts", ".jsx", ".tsx", ".go", ".rs", ".java", ".rb", ".r", ".jl", ".c", ".h",
    ".cpp", ".hpp", ".cs", ".php", ".swift", ".kt", ".scala",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Line:
    """One file in three degrees of detail: with what its functions do, their names, none."""

    path: str
    told: str = ""
    names: tuple[tuple[str, str], ...] = ()

    def text(self, detail: int) -> str:
        """The line; detail 2: all, 1: names, 0: the path alone."""
        if not detail:
            return self.path
        shown = [f"{n} ({d})" if d and detail == 2 else n for n, d in self.names]
        parts = [part for part in (self.told, ", ".join(shown)) if part]
        line = f"{self.path}: {' | '.join(parts)}" if parts else self.path
        longest = LONGEST * 3 if detail == 2 else LONGEST
        return line if len(line) <= longest else f"{line[: longest - 1]}…"


def workspace_map(workspace: Workspace, tokens: int) -> str:
    """What lies in the workspace, as detailed as the budget allows; empty for an empty folder.

    Args:
        workspace: Whose folder.
        tokens: How long it may be, estimated.

    Raises:
        ToolError: The folder cannot be used.
    """
    root = workspace.root()
    paths = list(listed(root, MOST_FILES + 1))
    more = len(paths) > MOST_FILES
    del paths[MOST_FILES:]
    lines = [_looked_into(root, path, at < MOST_READ) for at, path in enumerate(paths)]
    head = _readme(root, paths)
    for detail in (2, 1, 0):
        body = [line.text(detail) for line in lines]
        text = _joined(head if detail else "", body, more)
        if estimated_tokens(text) <= tokens:
            return text
    return _folders(paths, tokens, more)


def listed(root: Path, most: int = 10 * MOST_FILES) -> tuple[str, ...]:
    """The paths of the files in a folder as `glob` would show them, without protected ones.

    Args:
        root: The folder.
        most: How many are listed.
    """
    return tuple(islice(("/".join(parts) for parts in _files(root)), most))


def _files(root: Path) -> Iterator[tuple[str, ...]]:
    for run in runs(root, root, Tally(), lambda: False):
        if run.folders:
            continue
        above = tuple(part for part in run.below.split("/") if part)
        for name in run.names:
            parts = (*above, name)
            if name not in run.odd and not protected(parts, write=False):
                yield parts


def _joined(head: str, lines: list[str], more: bool) -> str:
    end = ["(and more files)"] if more else []
    return "\n".join(([head, ""] if head else []) + lines + end)


def _folders(paths: list[str], tokens: int, more: bool) -> str:
    """Only the folders with their numbers of files, for trees that are too large for more."""
    counts: dict[str, int] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        counts[f"{folder}/" if folder else "./"] = counts.get(f"{folder}/", 0) + 1
    kept: list[str] = []
    for folder, count in counts.items():
        line = f"{printable(folder)}: {counted(count, 'file')}"
        if estimated_tokens("\n".join((*kept, line))) > tokens:
            more = True
            break
        kept.append(line)
    return _joined("", kept, more)


def _readme(root: Path, paths: list[str]) -> str:
    """The beginning of the README at the top, without its blank lines."""
    name = next((p for p in paths if "/" not in p and p.lower().startswith("readme")), "")
    text = _text(root / name, name) if name else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    begun = " ".join(lines)[:README]
    return f"{printable(name)} begins: {printable(begun)}" if begun else ""


def _looked_into(root: Path, path: str, into: bool) -> _Line:
    shown = printable(path)
    suffix = Path(path).suffix.lower()
    teller = _TELLERS.get(suffix) or (_code if suffix in _CODE else None)
    text = _text(root / path, shown) if teller and into else ""
    if teller is None or not text:
        return _Line(shown)
    told, names = teller(text)
    clean = tuple((printable(name), printable(doc.strip())[:80]) for name, doc in names)
    return _Line(shown, printable(told.strip())[:200], clean)


def _text(path: Path, shown: str) -> str:
    """The beginning of a text file; empty where it is none, or cannot be read."""
    try:
        with opened(path, shown) as file:
            data = file.read(MOST_BYTES)
    except (OSError, ToolError):
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


_Told = tuple[str, tuple[tuple[str, str], ...]]


def _code(text: str) -> _Told:
    doc = _DOCSTRING.match(text)
    names: list[tuple[str, str]] = []
    for kind, name, told, constant, value in _TOP.findall(text):
        if constant:
            names.append((f"{constant} = {value}" if value else constant, ""))
        else:
            names.append((f"class {name}" if kind == "class" else f"{name}()", told))
    return (doc.group(1) if doc else ""), tuple(names)


def _markdown(text: str) -> _Told:
    heading = next((line.strip("# ") for line in text.splitlines() if line.startswith("#")), "")
    return heading, ()


def _table(text: str) -> _Told:
    rows = text.splitlines()
    try:
        columns = next(csv.reader(rows[:1]), [])
    except csv.Error:
        return "", ()
    whole = len(text) < MOST_BYTES // 2
    size = f"{counted(len(rows) - 1, 'row')}; " if whole and rows else ""
    return f"{size}columns {', '.join(columns)}", ()


def _json(text: str) -> _Told:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "", ()
    keys = ", ".join(str(key) for key in value) if isinstance(value, dict) else ""
    return (f"keys {keys}" if keys else ""), ()


def _notebook(text: str) -> _Told:
    try:
        cells = json.loads(text)["cells"]
        kinds = [cell["cell_type"] for cell in cells]
        first = next((c["source"] for c in cells if c["cell_type"] == "markdown"), "")
    except (ValueError, LookupError, TypeError, RecursionError):
        return "", ()
    line = "".join(first).strip("# ").partition("\n")[0] if isinstance(first, str | list) else ""
    code = kinds.count("code")
    size = f"notebook with {counted(code, 'code cell')} and {len(kinds) - code} others"
    return (f"{line}; {size}" if line else size), ()


def _settings(text: str) -> _Told:
    """Sections of a TOML or INI file, and the commands that a package installs."""
    sections = ", ".join(re.findall(r"^\[([^\]\n]+)\]", text, re.MULTILINE))
    scripts = re.search(r"^\[project\.scripts\]\n((?:[^\[\n][^\n]*\n?)+)", text, re.MULTILINE)
    found = " ".join(scripts.group(1).split()) if scripts else ""
    return (f"{sections}; commands: {found}" if found else sections), ()


_TELLERS: dict[str, Callable[[str], _Told]] = {
    ".md": _markdown,
    ".rst": _markdown,
    ".csv": _table,
    ".tsv": _table,
    ".json": _json,
    ".ipynb": _notebook,
    ".toml": _settings,
    ".cfg": _settings,
    ".ini": _settings,
}
