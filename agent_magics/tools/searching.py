"""The tool `grep`: lines that match, in many files.

Owns the search process (its start, its end at a time-out or an interrupt) and the text that the
model reads. The search itself is in `grepping`, which runs in that process: a regular
expression that takes for ever must not take the user's kernel with it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import JSON
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.blocking import told
from agent_magics.tools.grepping import Job, Summary
from agent_magics.tools.nearby import missing
from agent_magics.tools.plain import counted, printable
from agent_magics.tools.schemas import flag, integer, record, string
from agent_magics.tools.scopes import this_path
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
        hits, summary, timed_out = await searched(job)
        if summary.error:
            raise ToolError(_pattern_error(job.pattern, summary.error))
        prefix = workspace.shown(Path(job.start))
        return ToolOutput(_text(hits, summary, timed_out, prefix, job))

    return Tool(
        "grep",
        "Find lines that match a regular expression (Python's) in files.\n"
        "Searches line by line. Left out: what git ignores, binary files, outputs of notebooks, "
        "files that may hold secrets.",
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
    return Job(
        pattern,
        str(start),
        str(workspace.root()),
        arguments.get("glob") or "",
        bool(arguments.get("ignore_case", False)),
        int(arguments.get("limit", 100)),
    )


async def searched(
    job: Job, seconds: float = SECONDS
) -> tuple[list[Mapping[str, JSON]], Summary, bool]:
    """Search in a process of its own.

    Args:
        job: What to search.
        seconds: After which the process is ended.

    Returns:
        The hits, the summary, and whether the time was up before the end.

    Raises:
        ToolError: The process cannot be started, or broke off.
    """
    if not sys.executable:
        raise ToolError("grep needs a Python interpreter of its own; use python to search instead.")
    places = json.dumps([_import_path(job.root), str(_TOOLS)])
    with told():
        process = subprocess.Popen(  # noqa: S603, ASYNC220 -- our own code; starting takes a millisecond
            (sys.executable, "-I", "-S", "-c", ENTRY, places),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        data = json.dumps(asdict(job)).encode("ascii")
        output, errors, timed_out = await asyncio.to_thread(_answer, process, data, seconds)
    finally:
        # After an interrupt; the thread then sees the end of the outputs, and ends too.
        if process.poll() is None:
            process.kill()
    lines = [json.loads(line) for line in output.split(b"\n") if line.endswith(b"}")]
    if timed_out:
        return lines, Summary(), True
    if not lines or "files" not in lines[-1]:
        reason = errors.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
        raise ToolError(f"The search broke off: {reason or f'status {process.returncode}'}.")
    return lines[:-1], Summary(**lines[-1]), False


def _answer(
    process: subprocess.Popen[bytes], data: bytes, seconds: float
) -> tuple[bytes, bytes, bool]:
    """Both outputs of the search process, and whether it had to be ended."""
    try:
        return *process.communicate(data, seconds), False
    except subprocess.TimeoutExpired:
        process.kill()
        return *process.communicate(), True


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


def _text(
    hits: Sequence[Mapping[str, JSON]], summary: Summary, timed_out: bool, start: str, job: Job
) -> str:
    lines: list[str] = []
    room = MAX_BYTES
    prefix = "" if start == "." else f"{start}/"
    for hit in hits:
        name = prefix + printable(hit["path"]) if hit["path"] else start
        line = f"{name}:{hit['where']}: {hit['text']}"
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
    counts = (
        (summary.protected, "may hold secrets"),
        (summary.binary, "not text"),
        (summary.unreadable, "not readable"),
    )
    left_out = [f"{count} {which}" for count, which in counts if count]
    if left_out:
        hints.append(f"[files left out: {', '.join(left_out)}]")
    return hints


def _nothing(summary: Summary, job: Job) -> str:
    several = "\n" in job.pattern or "\\n" in job.pattern
    hint = " The search goes line by line, so \\n never matches." if several else ""
    if not summary.files:
        return f"No files to search in: check path and glob; git-ignored files are left out.{hint}"
    return f"No matches in {counted(summary.files, 'file')}.{hint}"
