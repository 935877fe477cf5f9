"""The pages of the documentation as their fenced examples, and what it takes to run them.

One rule for every page: a fenced block has a language; Python, cells and shell commands run, data
is read, text is shown. What is special about a block stands in a comment right above it:

    <!-- not run: why, in words -->       (or in `NOT_RUN`, where a comment would be in the way)
    <!-- needs: pandas -->                runs where this can be imported
    <!-- raises: AssertionError -->       runs, and ends with this error

A line such as `` `check.py`: `` above a block makes it that file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OF_THE_SITE = sorted(p for p in DOCS.rglob("*.md") if "examples" not in p.parts)
"""What lies in `docs/examples` are packages, with pages of their own."""
PAGES = (ROOT / "README.md", *OF_THE_SITE) if DOCS.is_dir() else ()
RUN = ("python", "ipython")
SHELL = ("sh", "bash")
READ = {"yaml": yaml.safe_load_all, "json": json.loads, "toml": tomllib.loads}
SHOWN = ("text", "markdown", "diff", "html")
LANGUAGES = (*RUN, *SHELL, *READ, *SHOWN)
REMARK = re.compile(r"<!-- (?P<what>not run|needs|raises): (?P<words>[^>]*?) -->\Z")
NOT_RUN = {
    ("README.md", "python3 -m venv .venv"): "it installs into a new environment; CI runs this line",
}
"""Pages and how their blocks begin, and why those do not run."""
FILE = re.compile(r"`(?P<file>[\w./-]+)`:\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Args:
        page: The page, relative to the repository.
        line: Of the fence, from 1.
        language: As the fence says; empty where it does not.
        text: What stands in it.
        file: The file that it is, where a line above names one.
        why: Why it does not run here; empty: it does.
        raises: The name of the error that it ends with; empty: none.
    """

    page: str
    line: int
    language: str
    text: str
    file: str = ""
    why: str = ""
    raises: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    page = path.relative_to(ROOT).as_posix()
    found = []
    for token in MarkdownIt().parse(text):
        if token.type != "fence" or token.map is None:
            continue
        above = "\n".join(lines[: token.map[0]]).rstrip()
        file, remark = FILE.search(above), REMARK.search(above)
        what, words = (remark["what"], remark["words"]) if remark else ("", "")
        why = words if what == "not run" else _listed(page, token.content)
        if what == "needs" and find_spec(words) is None:
            why = f"{words} is not installed here"
        found.append(
            Block(
                page,
                token.map[0] + 1,
                token.info.strip(),
                token.content,
                file=file["file"] if file else "",
                why=why,
                raises=words if what == "raises" else "",
            )
        )
    return tuple(found)


def _listed(page: str, text: str) -> str:
    listed = (
        why for (name, begin), why in NOT_RUN.items() if name == page and text.startswith(begin)
    )
    return next(listed, "")


def page(name: str) -> tuple[Block, ...]:
    """The blocks of one page of `docs/`; the test file is skipped where there is no source tree."""
    if not (DOCS / name).is_file():
        pytest.skip("the page comes with the source tree", allow_module_level=True)
    return blocks(DOCS / name)


def written(block: Block) -> Path:
    """The file that a block is, put into the working folder."""
    path = Path(block.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    return path


def in_shell(text: str) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell in the working folder, with this interpreter as `python`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
