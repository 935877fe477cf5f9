"""The tool `find_tools`: with very many tools, schemas are sent when they are looked for.

Owns which tools wait and how they are found. What it finds is a part of the turn's effective
tools; it can never show, or open, another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from agent_magics.errors import ToolError
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.schemas import record, string

NAME = "find_tools"
FOUND = 8
"""Tools that one search loads: enough to choose from, and few enough for a small context."""
LISTED = 100
"""Names that are listed when a search finds nothing."""
SUMMARY = 160
"""Characters of a description in the answer; the whole comes with the schema."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a turn, and which of them a request shows.

    Args:
        tools: All that may be called, `find_tools` included where tools wait.
        offered: Those whose schemas the next request holds; asked before each one.
    """

    tools: tuple[Tool, ...]
    offered: Callable[[], tuple[Tool, ...]]


def offer(
    tools: Sequence[Tool], always: Collection[str], loaded: set[str], threshold: int
) -> Offer:
    """All tools at once, or those beyond the threshold on demand.

    Args:
        tools: The effective tools of the turn, sorted by name.
        always: Names that are never held back.
        loaded: Names that were found before; grows with each search.
        threshold: How many tools are offered at once; 0: any number.
    """
    everything = tuple(tools)
    waiting = tuple(tool for tool in everything if tool.name not in always)
    if not threshold or len(everything) <= threshold or not waiting:
        return Offer(everything, lambda: everything)
    finder = _find_tools(waiting, loaded)
    whole = tuple(sorted((*everything, finder), key=lambda tool: tool.name))
    held = {tool.name for tool in waiting}

    def offered() -> tuple[Tool, ...]:
        return tuple(tool for tool in whole if tool.name not in held or tool.name in loaded)

    return Offer(whole, offered)


def _find_tools(waiting: Sequence[Tool], loaded: set[str]) -> Tool:
    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        query = arguments["query"].strip()
        if not query:
            raise ToolError("The query is empty: say in a few words what the tool should do.")
        found = _best(query, waiting)
        if not found:
            names = ", ".join(tool.name for tool in waiting[:LISTED])
            more = len(waiting) - LISTED
            return ToolOutput(
                f"No tool fits {query!r}. There are: {names}"
                + (f" and {more} more." if more > 0 else ".")
            )
        loaded.update(tool.name for tool in found)
        rows = [f"- {tool.name}: {_first_line(tool)}" for tool in found]
        return ToolOutput("You can call these now:\n" + "\n".join(rows))

    return Tool(
        NAME,
        f"Find more tools: {len(waiting)} are not listed here.\n"
        "Say what you want to do; the tools that fit can be called afterwards.",
        record(("query",), query=string("A few words, or a tool's name.")),
        "control",
        run,
        operand=lambda arguments: str(arguments["query"]),
    )


def _best(query: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools that fit best; a word in the name counts more than one in the description."""
    words = set(_words(query))
    scored = []
    for tool in tools:
        names, texts = set(_words(tool.name)), set(_words(tool.description))
        score = 4 * len(words & names) + len(words & texts)
        score += sum(2 for word in words if len(word) > 3 and word in tool.name.lower())
        if tool.name == query:
            score += 100
        if score:
            scored.append((-score, tool.name, tool))
    return [tool for _, _, tool in sorted(scored, key=lambda item: item[:2])[:FOUND]]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


def _first_line(tool: Tool) -> str:
    line = tool.description.strip().partition("\n")[0]
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1] + "…"
