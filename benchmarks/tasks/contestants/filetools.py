"""The peers' tools: the same work as our file tools, as plain functions with docstrings.

Each gives a text, errors included, so that no library's handling of exceptions counts.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

from child import CALLS

LONGEST = 20_000


def _noted(name: str, work: Callable[[], str]) -> str:
    CALLS.append(name)
    try:
        text = work()
    except (OSError, ValueError, re.error, UnicodeError) as error:
        text = f"Error: {error}"
    return text[:LONGEST] or "(nothing)"


def ls(path: str = ".") -> str:
    """List a folder: folders first, with a slash at the end.

    Args:
        path: The folder.
    """

    def work() -> str:
        entries = sorted(Path(path).iterdir(), key=lambda p: (p.is_file(), p.name))
        return "\n".join(p.name + ("/" if p.is_dir() else "") for p in entries)

    return _noted("ls", work)


def glob(pattern: str) -> str:
    """Find files by a path pattern such as 'src/**/*.py'.

    Args:
        pattern: With *, ?, [...] and **.
    """
    found = lambda: "\n".join(sorted(str(p) for p in Path().glob(pattern)))  # noqa: E731
    return _noted("glob", found)


def read(path: str) -> str:
    """Read a text file with line numbers.

    Args:
        path: The file.
    """

    def work() -> str:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return "\n".join(f"{number}|{line}" for number, line in enumerate(lines, start=1))

    return _noted("read", work)


def grep(pattern: str, path: str = ".") -> str:
    """Find lines that match a regular expression in files.

    Args:
        pattern: The regular expression.
        path: A folder or a file.
    """

    def work() -> str:
        test, found = re.compile(pattern), []
        top = Path(path)
        for file in [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file()):
            if ".git" in file.parts:
                continue
            text = file.read_text(encoding="utf-8", errors="ignore")
            rows = enumerate(text.splitlines(), start=1)
            found += [f"{file}:{number}: {line}" for number, line in rows if test.search(line)]
        return "\n".join(found[:100]) or "No match."

    return _noted("grep", work)


def write(path: str, content: str) -> str:
    """Write a whole file, new or instead of the old one.

    Args:
        path: The file; its folders are made.
        content: All of the file's text.
    """

    def work() -> str:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8")
        return f"Wrote {path}."

    return _noted("write", work)


def edit(path: str, old: str, new: str) -> str:
    """Exchange text in a file; old must be in it exactly once.

    Args:
        path: The file.
        old: The text to find: exact, with its indentation.
        new: The text that comes in its place.
    """

    def work() -> str:
        text = Path(path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"old is in {path} {text.count(old)} times, not once")
        Path(path).write_text(text.replace(old, new), encoding="utf-8")
        return f"Changed {path}."

    return _noted("edit", work)


def run_shell(command: str) -> str:
    """Run a shell command in the working folder.

    Args:
        command: The command, for bash.
    """

    def work() -> str:
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
        )
        return f"{done.stdout}{done.stderr}[exit {done.returncode}]"

    return _noted("run_shell", work)


_NAMES: dict[str, object] = {}


def python(code: str) -> str:
    """Run Python; variables last from call to call. Print what you want to see.

    Args:
        code: The code; the value of its last expression is given back.
    """

    def work() -> str:
        import ast

        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                tree = ast.parse(code)
                last = (
                    tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
                )
                exec(compile(tree, "<code>", "exec"), _NAMES)
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), "<code>", "eval"), _NAMES)
                    print("" if value is None else repr(value))
            except Exception:  # noqa: BLE001  # the model reads it
                print(traceback.format_exc(limit=-1))
        return out.getvalue().strip()

    return _noted("python", work)


def git_diff() -> str:
    """Show the uncommitted changes of the repository."""

    def work() -> str:
        words = ["git", "--no-pager", "diff", "HEAD", "--no-ext-diff"]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    return _noted("git_diff", work)


def tools(skill: str) -> list[Callable[..., str]]:
    """The tools of a job: all file tools, and `git_diff` where our product has a skill for it."""
    always = [ls, glob, read, grep, write, edit, run_shell, python]
    return [*always, git_diff] if skill else always
