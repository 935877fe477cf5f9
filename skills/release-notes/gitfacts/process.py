"""Running git so that no setting of anyone changes what it prints, or makes it run a program.

The skills commit-message and release-notes carry the same copy of this package, so that each
folder works alone; a change here belongs into both.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SECONDS = 30.0
"""Time for one answer, all commands together."""
LINE = 600
"""Bytes of one line that are shown; minified files have lines of a megabyte."""

_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=false"),
    *("-c", "color.ui=false"),
    *("-c", "diff.suppressBlankEmpty=false"),
    # Otherwise git may write its index while it compares.
    *("-c", "diff.autoRefreshIndex=false"),
    # Signatures are checked by a program that the repository may name.
    *("-c", "log.showSignature=false"),
)


class Sentence(Exception):
    """An answer in one sentence, in place of what was asked for."""


@dataclass(frozen=True)
class Git:
    """Runs git in one folder until a deadline.

    Args:
        folder: Where it runs.
        deadline: On the monotonic clock, in seconds.
        switched_off: Further options, for what the repository itself defines.
    """

    folder: Path
    deadline: float
    switched_off: tuple[str, ...] = ()

    def run(self, *arguments: str, codes: Sequence[int] = (0,)) -> bytes:
        """The output of one command.

        Args:
            arguments: The command and its options.
            codes: Exit statuses that are no failure; all but zero give empty output.

        Raises:
            Sentence: It failed, took too long, or could not be started.
        """
        try:
            done = subprocess.run(  # noqa: S603 - git, with a list of arguments
                self._command(arguments),
                cwd=self.folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._left(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Sentence(_SLOW) from None
        except OSError as error:
            raise Sentence(_not_started(self.folder, error)) from None
        if done.returncode not in codes:
            raise Sentence(_failure(self.folder, done.stderr))
        return done.stdout if done.returncode == 0 else b""

    def text(self, *arguments: str, codes: Sequence[int] = (0,)) -> str:
        """The output of one command, without blanks around it."""
        return self.run(*arguments, codes=codes).decode("utf-8", "replace").strip()

    def lines(self, *arguments: str) -> Iterator[bytes]:
        """The output line by line, as far as anyone reads.

        Raises:
            Sentence: git ended before its output was complete.
        """
        with subprocess.Popen(  # noqa: S603 - git, with a list of arguments
            self._command(arguments),
            cwd=self.folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            timer = threading.Timer(self._left(), process.kill)
            timer.start()
            try:
                yield from cut_lines(process.stdout) if process.stdout else ()
                if process.wait():
                    raise Sentence(_SLOW if process.returncode < 0 else "git failed half-way.")
            finally:
                timer.cancel()
                process.kill()

    def _left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.1)

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["git", *_OPTIONS, *self.switched_off, *arguments]


def opened(workspace: Path) -> Git:
    """Git in the root of the repository around a folder.

    Raises:
        Sentence: There is none that can be read safely.
    """
    git = Git(workspace, time.monotonic() + SECONDS)
    top = git.run("rev-parse", "--show-toplevel").removesuffix(b"\n").removesuffix(b"\r")
    root = Path(os.fsdecode(top))
    if not top or not (root / ".git").exists():
        # core.worktree can name any folder of this machine.
        raise Sentence(f"The repository around {workspace} keeps its files elsewhere.")
    git = Git(root, git.deadline)
    return Git(root, git.deadline, _without_filters(git))


def commit_of(git: Git, name: str) -> str:
    """The full hash of the commit that a branch, a tag or a short hash means.

    Raises:
        Sentence: There is none.
    """
    found = ""
    if name and not name.startswith("-"):
        wanted = f"{name}^{{commit}}"
        found = git.text("rev-parse", "--verify", "--quiet", wanted, codes=(0, 1, 128))
    if not found:
        raise Sentence(f"There is no branch, tag or commit {name!r}.")
    return found


def head_of(git: Git) -> str:
    """The full hash of the last commit; empty when there is none."""
    return git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1))


def empty_tree(git: Git) -> str:
    """What a first commit is compared with."""
    return git.text("hash-object", "-t", "tree", "--stdin")


def cut_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines without their ends; of one that is too long, its beginning and its length."""
    while piece := stream.readline(LINE + 1):
        line, length = piece, len(piece)
        while not piece.endswith(b"\n") and (piece := stream.readline(1 << 16)):
            length += len(piece)
        if length > LINE + 1:
            yield line[:LINE] + b" [line cut: %d bytes]" % length
        else:
            yield line.removesuffix(b"\n")


def _without_filters(git: Git) -> tuple[str, ...]:
    """Options that switch off the filters that the repository itself defines.

    They are programs of a stranger's choice, and git runs them on changed files. Those of the
    person's own configuration (Git LFS) stay.
    """
    pattern = ("--includes", "--name-only", "-z", "--get-regexp", r"^filter\.")
    found = git.run("config", "--show-scope", *pattern, codes=(0, 1)).split(b"\0")
    names = {
        os.fsdecode(key).partition(".")[2].rpartition(".")[0]
        for scope, key in zip(found[::2], found[1::2], strict=False)
        if scope in (b"local", b"worktree")
    }
    if any("=" in name for name in names):
        raise Sentence("The repository's configuration defines a filter that cannot be avoided.")
    settings = [f"filter.{n}.{key}=" for n in sorted(names) for key in ("clean", "process")]
    settings += [f"filter.{name}.required=false" for name in sorted(names)]
    return tuple(word for setting in settings for word in ("-c", setting))


def _environment() -> dict[str, str]:
    """The environment without git's own variables, which can name programs and other folders."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
    }


_SLOW = f"git did not answer within {SECONDS:.0f} seconds; ask for less."


def _not_started(folder: Path, error: OSError) -> str:
    if not folder.is_dir():
        return f"The folder {folder} does not exist."
    if isinstance(error, FileNotFoundError):
        return "git is not installed, or not on the PATH."
    return f"git cannot be started: {error.strerror or error}."


def _failure(folder: Path, output: bytes) -> str:
    text = output.decode("utf-8", "replace")
    if "not a git repository" in text:
        return f"{folder} is not inside a git repository."
    if "dubious ownership" in text:
        return (
            "git refuses the repository since another user owns it; the person can run "
            f"`git config --global --add safe.directory {folder}`."
        )
    if "must be run in a work tree" in text:
        return f"{folder} belongs to a bare repository or to .git itself; it has no files."
    first = next((line for line in text.splitlines() if line.strip()), "no reason given")
    return f"git failed: {first.strip()[:300]}."
