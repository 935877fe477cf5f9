"""The tool `grep`: lines that match, in many files.

Owns the search's processes (their start, their end at a time-out or an interrupt) and the text
that the model reads. The search itself is in `grepping`, which runs in a process: a regular
expression that takes for ever must not take the user's kernel with it. ripgrep runs beside it where
there is one.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.advice import Advice
from agent_magics.tools.blocking import told
from agent_magics.tools.grepping import Hit, Job, Search, Summary
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import counted, printable
from agent_magics.tools.ripgrep import Advising, Ripgrep
from agent_magics.tools.schemas import flag, integer, record, string
from agent_magics.tools.scopes import this_path
from agent_magics.tools.superset import harmless, needed
from agent_magics.tools.workspace import Workspace

SECONDS = 60
"""After which a search is ended; what was found until then is given."""
MAX_HITS = 1000
MAX_BYTES = 50_000
"""Of the answer, as for a page of `read`."""
_TOOLS = Path(__file__).resolve().parent
"""This folder."""
ENTRY = """
import json, sys, types
sys.path[:], folder = json.loads(sys.argv[1])
# The package of tools without its __init__: the search needs a few of its modules, and importing
# all of them would take longer than most searches.
sys.modules["agent_magics.tools"] = types.ModuleType("agent_magics.tools")
sys.modules["agent_magics.tools"].__path__ = [folder]
from agent_magics.tools.grepping import main
main()
"""
"""The program of the search process; its argument holds where to import from."""


def grep_tool(workspace: Workspace) -> Tool:
    """`grep`: lines that match a regular expression."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        job = _job(arguments, workspace)
        hits, summary, timed_out = await searched(job, workspace.ripgrep)
        if summary.error:
            raise ToolError(_pattern_error(job.pattern, summary.error))
        prefix = workspace.shown(Path(job.start))
        return ToolOutput(_text(hits, summary, timed_out, prefix, job))

    return Tool(
        "grep",
        "Find lines that match a regular expression (Python's) in files.\n"
        "Searches line by line. Left out: what git ignores, binary files, outputs of notebooks, "
        "files that may hold secrets, links.",
        record(
            ("pattern",),
            pattern=string("The regular expression; escape ( [ . and the like to mean them."),
            path=string("A folder or a file.", "."),
            glob=string("Which files, such as *.py or src/**/*.ts."),
            ignore_case=flag("Whether upper and lower case are the same."),
            limit=integer("Matches to give.", 1, MAX_HITS, 100),
        ),
        "read",
        run,
        operand=lambda arguments: workspace.shown(arguments.get("path") or "."),
        outside=lambda arguments: workspace.outside(arguments.get("path") or ".", write=False),
        always=this_path("grep", workspace),
    )


def _job(arguments: Arguments, workspace: Workspace) -> Job:
    pattern: str = arguments["pattern"]
    if not pattern:
        raise ToolError("The pattern is empty; it would match every line.")
    start = workspace.resolve(arguments.get("path") or ".")
    if not start.exists():
        raise ToolError(missing(start, workspace))
    ignore_case = bool(arguments.get("ignore_case", False))
    return Job(
        pattern,
        str(start),
        str(workspace.root()),
        arguments.get("glob") or "",
        ignore_case,
        int(arguments.get("limit", 100)),
        needed=needed(pattern, ignore_case=ignore_case),
    )


Found: TypeAlias = tuple[list[Hit], Summary, bool]
"""The hits, the summary, and whether the time was up before the end."""


async def searched(job: Job, ripgrep: Ripgrep | None = None, seconds: float = SECONDS) -> Found:
    """Search, in a process of its own unless the pattern is harmless and there is little to do.

    Args:
        job: What to search.
        ripgrep: May help; None: without it. The answer is the same.
        seconds: After which the search is ended.

    Raises:
        ToolError: The process cannot be started, or broke off.
    """
    if not sys.executable:
        raise ToolError("grep needs a Python interpreter of its own; use python to search instead.")
    search = _Searching(job, ripgrep)
    try:
        with told():
            return await asyncio.to_thread(search.result, seconds)
    finally:
        # After an interrupt; the thread then sees the end of the outputs, and ends too.
        search.end()


class _Searching:
    """The processes of one search; one thread works, any other may end it."""

    def __init__(self, job: Job, ripgrep: Ripgrep | None) -> None:
        self._job = job
        self._ripgrep = ripgrep
        self._adviser: Advising | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._ended = False

    def result(self, seconds: float) -> Found:
        """Do the search."""
        with self._starting:
            if self._ended:
                return [], Summary(), True
            # ripgrep first: it takes longer than everything else.
            self._adviser = self._ripgrep.begun(self._job) if self._ripgrep else None
        if self._adviser is not None and harmless(self._job.pattern):
            return self._here(self._adviser, seconds)
        return self._beside(seconds)

    def _here(self, adviser: Advising, seconds: float) -> Found:
        """In this process: ripgrep does the work, and starting Python would take longer."""
        deadline = time.monotonic() + seconds

        def stop() -> bool:
            return self._ended or time.monotonic() > deadline

        search = Search(self._job, Advice(adviser.answer), stop)
        try:
            hits = list(search.hits())
        except (re.error, ToolError, OSError, RecursionError, OverflowError) as error:
            search.summary.error = str(error)
            hits = []
        return hits, search.summary, stop() and not search.summary.more

    def _beside(self, seconds: float) -> Found:
        """In a process of its own."""
        with self._starting:
            if not self._ended:
                self._process = _started(self._job.root)
        if self._process is None:
            if self._adviser is not None:
                self._adviser.answer()
            return [], Summary(), True
        # Taken away from `communicate`, which would close it at once.
        feed, self._process.stdin = self._process.stdin, None
        assert feed is not None
        feeder = threading.Thread(target=_fed, args=(feed, self._job, self._adviser))
        feeder.start()
        timed_out = False
        try:
            output, errors = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, errors = self._process.communicate()
            timed_out = True
        finally:
            self.end()
            feeder.join()
        return _read(output, errors, timed_out)

    def end(self) -> None:
        """End every process, now and in the future."""
        with self._starting:
            self._ended = True
            if self._adviser is not None:
                self._adviser.end()
            if self._process is not None and self._process.poll() is None:
                self._process.kill()


def _read(output: bytes, errors: bytes, timed_out: bool) -> Found:
    """What the search process said, line by line."""
    lines = [json.loads(line) for line in output.split(b"\n") if line.endswith(b"}")]
    if timed_out:
        return [Hit(**line) for line in lines if "files" not in line], Summary(), True
    if not lines or "files" not in lines[-1]:
        reason = errors.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
        raise ToolError(f"The search broke off{f': {reason}' if reason else ''}.")
    return [Hit(**line) for line in lines[:-1]], Summary(**lines[-1]), False


def _started(root: str) -> subprocess.Popen[bytes]:
    places = json.dumps([_import_path(root), str(_TOOLS)])
    return subprocess.Popen(  # noqa: S603 -- our own code
        (sys.executable, "-I", "-S", "-c", ENTRY, places),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _fed(feed: IO[bytes], job: Job, adviser: Advising | None) -> None:
    """Give the search process its job, and what ripgrep says as soon as it does."""
    order = json.dumps({**asdict(job), "advised": adviser is not None})
    # A search that found enough, or was ended, listens no more.
    with suppress(OSError, ValueError), feed:
        feed.write(order.encode("ascii") + b"\n")
        feed.flush()
        if adviser is not None:
            feed.write(adviser.answer())


def _import_path(root: str) -> list[str]:
    """Where the search process imports from: as here, but never from the folder it searches.

    A kernel has its working folder on the path; a file of a stranger's project that is named like
    a module would run.
    """
    here = [str(_TOOLS.parent.parent)]
    return here + [p for p in map(str, sys.path) if Path(p).is_absolute() and p != root]


def _pattern_error(pattern: str, error: str) -> str:
    return (
        f"The pattern {pattern[:200]!r} does not work: {error}. It is a regular expression of "
        "Python; put a backslash before ( ) [ ] {{ }} . * + ? to find them as they are."
    ).replace("{{ }}", "{ }")


def _text(hits: Sequence[Hit], summary: Summary, timed_out: bool, start: str, job: Job) -> str:
    lines: list[str] = []
    room = MAX_BYTES
    prefix = "" if start == "." else f"{start}/"
    for hit in hits:
        name = prefix + printable(hit.path) if hit.path else start
        line = f"{name}:{hit.where}: {hit.text}"
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join((*lines, *_hints(len(lines), len(hits), summary, timed_out, job)))


def _hints(shown: int, found: int, summary: Summary, timed_out: bool, job: Job) -> list[str]:
    """What the model must know besides the lines."""
    hints: list[str] = []
    if timed_out:
        hints.append(f"[ended after {SECONDS} s; a simpler pattern or a narrower path helps]")
    elif not found:
        hints.append(_nothing(summary, job))
    if shown < found:
        hints.append(f"[{shown} of {found} matches; use a narrower pattern, path or glob]")
    elif summary.more:
        more = min(job.limit * 2, MAX_HITS)
        wider = f"limit={more} or " if more > job.limit else ""
        hints.append(
            f"[{shown} matches, and there are more: use {wider}a narrower pattern or path]"
        )
    if summary.unreadable and not summary.more:
        hints.append(f"[{summary.unreadable} files or folders could not be read]")
    return hints


def _nothing(summary: Summary, job: Job) -> str:
    several = "\n" in job.pattern or "\\n" in job.pattern
    hint = " The search goes line by line, so \\n never matches." if several else ""
    if not summary.files:
        return f"No files to search in: check path and glob; git-ignored files are left out.{hint}"
    if summary.binary:
        return "The file is not text; use python or run_shell to look into it."
    return f"No matches in {counted(summary.files, 'file')}.{hint}"
