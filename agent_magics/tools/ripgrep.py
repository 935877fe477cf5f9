"""ripgrep as an adviser: in which files there can be a match.

Owns which `rg` is trusted (one that was tried, and that does not come from the workspace), the
options that keep its answer free of anybody's settings, and its process. What matches, and what is
shown of it, is decided elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES, ENOENT, EPERM
from pathlib import Path
from typing import IO

from agent_magics.errors import ToolError
from agent_magics.tools.advice import AGREED, BROKEN
from agent_magics.tools.globs import braces
from agent_magics.tools.grepping import Job
from agent_magics.tools.ignoring import FOREIGN_FILE, rules_at
from agent_magics.tools.superset import superset
from agent_magics.tools.walking import NEVER_WALKED

OPTIONS = (
    *("--no-config", "--files-with-matches", "--null", "--hidden", "--color=never"),
    *("--no-require-git", "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global"),
    "--no-ignore-messages",
    *(f"--glob=!{name}/" for name in sorted(NEVER_WALKED)),
)
"""No settings of the user, and of the project only what a walk of our own obeys as well."""
MAX_NAMES = 32_000_000
"""Bytes of names that are taken; where more files match, walking finds enough of them at once."""
TRIAL = 5
"""Seconds in which a ripgrep must pass its trial."""

_HARMLESS = re.compile(
    rb"\(os error (?:%s)\)$" % b"|".join(b"%d" % n for n in (EACCES, EPERM, ENOENT))
)
"""About a file that nobody may read, or that is gone: no other program finds anything in it."""
_SAFE_NAME = re.compile(r"[\w.*?-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Advising:
    """A ripgrep at work.

    Args:
        process: Its process, the leader of a group of its own.
        complaints: A file with what it said on the side.
    """

    process: subprocess.Popen[bytes]
    complaints: IO[bytes]

    def answer(self) -> bytes:
        """Wait for what it says; as `advice.Advice` reads it."""
        assert self.process.stdout is not None
        with self.process, self.complaints:
            names = self.process.stdout.read(MAX_NAMES)
            if len(names) == MAX_NAMES:
                self.end()
            # 0: found, 1: not found, 2: something failed.
            status = self.process.wait()
            self.complaints.seek(0)
            told = self.complaints.read(MAX_NAMES).splitlines()
        if status not in (0, 1, 2) or not all(map(_HARMLESS.search, told)):
            return BROKEN
        return AGREED + (b"1" if told else b"0") + names

    def end(self) -> None:
        """End it, with whatever it has started."""
        if self.process.poll() is None:
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)


class Ripgrep:
    """The ripgrep of this machine, if there is one that works.

    Args:
        which: Finds a program by its name.
    """

    def __init__(self, which: Callable[[str], str | None] = shutil.which) -> None:
        self._which = which
        self._tried: dict[str, bool] = {}
        self._trying = threading.Lock()

    def begun(self, job: Job) -> Advising | None:
        """Start looking for files in which there can be a match.

        Returns:
            None where no ripgrep can be used, or the pattern is none for it.
        """
        start = Path(job.start)
        program = self.program(Path(job.root))
        if not program or not start.is_dir():
            return None
        pattern = superset(job.pattern, ignore_case=job.ignore_case)
        if not pattern:
            return None
        try:
            words = (*_options(job, start), f"--regexp={pattern}", "--", "./")
            return _started(program, words, start)
        except (OSError, ValueError):
            return None

    def program(self, root: Path) -> str:
        """The path of a ripgrep that works, or the empty text.

        Args:
            root: The workspace; what lies in it is not run: a stranger may have put it there.
        """
        if os.name != "posix":
            return ""
        found = self._which("rg")
        if not found or not Path(found).is_absolute():
            return ""
        real = Path(os.path.realpath(found))
        if real.is_relative_to(root) or Path(found).is_relative_to(root):
            return ""
        with self._trying:
            if found not in self._tried:
                self._tried[found] = _works(found)
            return found if self._tried[found] else ""


def _started(program: str, words: Sequence[str], folder: Path) -> Advising:
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 -- read after the process, then closed
    try:
        process = subprocess.Popen(  # noqa: S603 -- no shell; options of ours and a pattern
            (program, *words),
            cwd=folder,
            # Nobody's settings, nobody's secrets.
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
        )
    except BaseException:
        complaints.close()
        raise
    return Advising(process, complaints)


def _options(job: Job, start: Path) -> tuple[str, ...]:
    """The options for one job."""
    rules = rules_at(start, Path(job.root))
    above = [level for level in rules.levels if len(level.base) < len(f"{start}/")]
    # The ignore files above the folder: only where a repository bounds them.
    parents = (
        bool(above)
        and any((top / ".git").exists() for top in (start, *start.parents))
        and not any((top / FOREIGN_FILE).exists() for top in start.parents)
    )
    types = _types(job.glob)
    return (
        *OPTIONS,
        *(() if parents else ("--no-ignore-parent",)),
        *(f"--type-add=wanted:{name}" for name in types),
        *(("--type=wanted",) if types else ()),
    )


def _types(glob: str) -> tuple[str, ...]:
    """Patterns of names, one of which every file has that a glob means; none: no such."""
    if not glob or glob.startswith("!"):
        return ()
    try:
        names = [choice.rstrip("/").rpartition("/")[2] for choice in braces(glob)]
    except ToolError:
        return ()
    safe = all(_SAFE_NAME.fullmatch(name) and "**" not in name for name in names)
    return tuple(names) if safe else ()


def _works(program: str) -> bool:
    """Whether a program finds what ripgrep finds, with the options that are used here."""
    with tempfile.TemporaryDirectory(prefix="agent_magics-") as name:
        folder = Path(name)
        files = {
            ".gitignore": b"*.log\n/top\n",
            "a.log": b"needle\n",
            "top": b"needle\n",
            "sub/top": b"x\nneedle\n",
            "sub/.hidden": b"caf\xe9 needle\n",
            "other": b"hay\n",
            ".git/x": b"needle\n",
        }
        for path, data in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(data)
        words = (*OPTIONS, "--no-ignore-parent", "--type-add=wanted:*", "--type=wanted")
        pattern = superset(r"^(caf.)? ?needle\b", ignore_case=False)
        try:
            trial = _started(program, (*words, f"--regexp={pattern}", "--", "./"), folder)
        except OSError:
            return False
        timer = threading.Timer(TRIAL, trial.end)
        timer.start()
        try:
            answer = trial.answer()
        finally:
            timer.cancel()
        names = sorted(filter(None, answer[2:].split(b"\0")))
        return answer[:2] == AGREED + b"0" and names == [b"./sub/.hidden", b"./sub/top"]
