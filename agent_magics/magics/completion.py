"""Tab completion for the magics, through IPython's own list of matchers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from agent_magics.magics.arguments import cell_parser, skills_parser, use_parser
from agent_magics.magics.commands import command_names
from agent_magics.magics.mcp_commands import COMMANDS as MCP_COMMANDS

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.magic_arguments import MagicArgumentParser


Matcher: TypeAlias = "Callable[[CompletionContext], SimpleMatcherResult]"


@dataclass(frozen=True, slots=True)
class Words:
    """Where the names come from that can be completed; asked at each key press."""

    skills: Callable[[], Sequence[str]]
    active: Callable[[], Sequence[str]]
    tools: Callable[[], Sequence[str]]
    actions: Callable[[], Sequence[str]] = tuple
    sessions: Callable[[], Sequence[str]] = tuple
    variables: Callable[[], Sequence[str]] = tuple
    models: Callable[[str], Sequence[str]] = lambda _token: ()
    servers: Callable[[], Sequence[str]] = tuple


def candidates(line: str, words: Words) -> list[str]:
    """What can stand at the end of a line up to the cursor; empty when the line is not ours.

    Args:
        line: The current line up to the cursor.
        words: The names.
    """
    magic, blank, rest = line.lstrip().partition(" ")
    if not blank:
        return []
    token = rest.rpartition(" ")[2]
    before = rest.split()[: -1 if token else None]
    found = _options(magic) if token.startswith("-") else _names(magic, before, token, words)
    return sorted(name for name in found if name.startswith(token))


def _options(magic: str) -> list[str]:
    parsers: dict[str, Callable[[], MagicArgumentParser]] = {
        "%%agent": cell_parser,
        "%use": use_parser,
        "%skills": skills_parser,
    }
    if magic not in parsers:
        return []
    actions = parsers[magic]()._actions
    return [option for action in actions for option in action.option_strings if len(option) > 2]


def _names(magic: str, before: Sequence[str], token: str, words: Words) -> Sequence[str]:
    match magic, list(before):
        case ("%use", [] | ["--add"] | ["-a"]) | ("%skills", [] | ["--trust"]):
            return words.skills()
        case "%unuse", []:
            return words.active()
        case "%agent", []:
            return command_names()
        case "%agent", ["allow" | "ask" | "deny"]:
            return words.tools()
        case ("%agent", ["model" | "models"]) | ("%%agent", [*_, "--model" | "-m"]):
            return words.models(token)
        case "%agent", ["mcp"]:
            return tuple(MCP_COMMANDS)
        case "%agent", ["mcp", _]:
            return words.servers()
        case "%agent", ["resume" | "delete"]:
            return words.sessions()
        case "%%agent", [*_, "--skill" | "-s"]:
            return words.skills()
        case ("%%agent", [*_, "--action"]) | ("%agent", ["action"]):
            return words.actions()
        case _:
            return ()


def mention_candidates(cell: str, line: str, words: Words) -> list[str]:
    """The variables that `@` and what stands behind it can become in the body of an agent cell.

    Args:
        cell: The whole cell.
        line: The current line up to the cursor.
        words: The names.
    """
    begun = re.search(r"(?<![\w@.])@(\w*)$", line)
    if begun is None or not cell.lstrip().startswith("%%agent") or line.lstrip().startswith("%"):
        return []
    return sorted(f"@{name}" for name in words.variables() if name.startswith(begun[1]))


def make_matcher(words: Words) -> Matcher:
    """A matcher for `IPCompleter.custom_matchers`."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier="agent_magics")
    def agent_magics_matcher(context: CompletionContext) -> SimpleMatcherResult:
        line = context.line_with_cursor[: context.cursor_position]
        found = candidates(line, words) or mention_candidates(context.full_text, line, words)
        return {
            "completions": [SimpleCompletion(text=name, type="magic") for name in found],
            "suppress": bool(found),
            # IPython's own fragment would begin behind the colon of `skill:id`.
            "matched_fragment": _fragment(line, found),
        }

    matcher: Matcher = agent_magics_matcher
    return matcher


def _fragment(line: str, found: Sequence[str]) -> str:
    """What the completions replace: the word at the cursor, or the mention, which may touch one."""
    word = line.rpartition(" ")[2]
    return word[word.rindex("@") :] if found and found[0].startswith("@") and "@" in word else word
