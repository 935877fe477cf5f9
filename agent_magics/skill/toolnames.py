"""Lists of tools as skills write them, in our own names.

Public skills name the tools of the client they were written for (`Read`, `Bash(git:*)`,
`list_directory`); here those become the built-in tools that do the same. Knows no tool but by
its name.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from agent_magics.skill import SERVERS
from agent_magics.skill.naming import near

_SPELLINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ls": ("list", "list_directory", "list_dir", "listdir", "list_files"),
        "glob": ("find_files", "file_search", "glob_files"),
        "read": ("read_file", "readfile", "read_files", "view", "view_file", "notebookread"),
        "grep": ("search", "grep_search", "search_files", "search_file_content", "ripgrep"),
        "write": ("write_file", "writefile", "create_file"),
        "edit": ("multiedit", "edit_file", "str_replace", "replace", "apply_patch", "text_editor"),
        "delete": ("delete_file", "remove_file", "delete_path"),
        "move": ("move_file", "rename_file", "rename"),
        "run_shell": ("bash", "shell", "terminal", "run_command", "execute_command", "powershell"),
        "python": ("run_python", "python_repl", "execute_code", "code_execution", "ipython"),
        "notebook_edit": ("notebookedit",),
        "fetch": ("webfetch", "web_fetch", "fetch_url"),
        "todo": ("todowrite", "todoread", "todo_write", "todo_read"),
        "delegate": ("task", "agent"),
    }
)
"""Our name to the names that other clients give to a tool for the same work, in lower case."""

_ELSEWHERE = frozenset(
    [
        "askuserquestion",
        "bashoutput",
        "exitplanmode",
        "exit_plan_mode",
        "google_web_search",
        "killbash",
        "killshell",
        "lsp",
        "save_memory",
        "skill",
        "slashcommand",
        "taskcreate",
        "taskget",
        "tasklist",
        "taskupdate",
        "toolsearch",
        "websearch",
        "web_search",
    ]
)
"""Tools of other clients that have no counterpart here, in lower case."""

_CLIENTS = frozenset(
    [
        "aider",
        "antigravity",
        "claude",
        "claude-code",
        "cline",
        "codex",
        "codex-cli",
        "copilot",
        "cursor",
        "gemini",
        "gemini-cli",
        "github-copilot",
        "goose",
        "kiro",
        "opencode",
        "windsurf",
    ]
)
"""Programs that some public skills list under `tools`, to say where they were tried."""

_OURS: Mapping[str, str] = MappingProxyType(
    {spelling: ours for ours, spellings in _SPELLINGS.items() for spelling in spellings}
)
MAX_ENTRIES = 300
"""Entries of a list; what has more is no list of tools that someone wrote."""

_ENTRY = re.compile(r"[A-Za-z_*?][\w.:/*?-]*(\(.*\))?", re.DOTALL)
_SWITCHES = frozenset({"true", "false", "yes", "no", "on", "off"})


def entries(value: object) -> tuple[str, ...] | None:
    """The single entries of a tool list, or None where the value is no such list.

    Takes a list, a list in a text (commas or blanks; not those inside parentheses), and single
    names. Whatever is no name and no glob makes the whole value malformed, so that a slip never
    becomes a longer or a shorter list than the author meant.

    Args:
        value: As the header gives it, not None.
    """
    texts = value if isinstance(value, list) else [value]
    found: list[str] = []
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            return None
        found.extend(_words(text))
    if len(found) > MAX_ENTRIES:
        return None
    if any(not _ENTRY.fullmatch(word) or word.lower() in _SWITCHES for word in found):
        return None
    return tuple(dict.fromkeys(found))


def our_name(entry: str, known: Collection[str]) -> str:
    """The built-in tool that an entry means, or the tool of an MCP server; or the empty text.

    Args:
        entry: `read`, `Read`, `Bash(git:*)`, `list_directory`.
        known: The built-in tools there are.
    """
    name = entry.partition("(")[0]
    if name in known or name.startswith(SERVERS):
        return name  # which tools a server has is known only when it runs
    folded = name.casefold()
    ours = _OURS.get(folded, folded)
    return ours if ours in known else ""


def is_foreign(entry: str) -> bool:
    """Whether the entry is a tool of another client, or of a server, rather than a slip."""
    name = entry.partition("(")[0].casefold()
    return name in _OURS or name in _SPELLINGS or name in _ELSEWHERE or name.startswith("mcp_")


def are_clients(listed: Collection[str]) -> bool:
    """Whether a list names programs that run skills, and so is no list of tools at all."""
    return bool(listed) and all(entry.casefold() in _CLIENTS for entry in listed)


def is_glob(entry: str) -> bool:
    """Whether the entry stands for several names."""
    return "(" not in entry and any(c in entry for c in "*?")


def matching(entry: str, known: Collection[str]) -> tuple[str, ...]:
    """The built-in tools that a glob stands for, sorted; one of server tools stays as it is."""
    if entry.startswith(SERVERS):
        return (entry,)  # which tools a server has is known only when it runs
    return tuple(sorted(name for name in known if fnmatch.fnmatchcase(name, entry)))


def nearest(entry: str, known: Collection[str]) -> str:
    """The built-in tool whose name, here or elsewhere, looks most like the entry."""
    name = entry.partition("(")[0]
    spellings = {s: ours for s, ours in _OURS.items() if ours in known}
    found = near(name, [*sorted(known), *spellings], count=1, cutoff=0.72)
    return spellings.get(found[0], found[0]) if found else ""


def _words(text: str) -> list[str]:
    """The text cut at commas and blanks outside parentheses."""
    words: list[str] = []
    current: list[str] = []
    depth = 0
    for character in text:
        if depth == 0 and (character == "," or character.isspace()):
            words.append("".join(current))
            current = []
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        depth = max(depth, 0)
        current.append(character)
    words.append("".join(current))
    return [word for word in words if word]
