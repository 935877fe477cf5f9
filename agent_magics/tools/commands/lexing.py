"""The strict reading of a command: plain words, joined by `&&`, `||`, `;` and `|`. Pure.

Owns the one language in which a pattern may allow anything. Whatever else a shell knows is named
and left alone: a person is asked. So nothing here has to understand what a shell would do with it.
Bash and the plain `sh` take this language in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from agent_magics.tools.commands.naming import names
from agent_magics.tools.commands.words import ASSIGNMENT, expansion, read_word

MAX_LENGTH = 10_000
"""Characters of a command that is read; a longer one is asked about."""
MAX_COMMANDS = 50
"""Simple commands in one line, and more than anybody reads before a click."""

_TOKEN = re.compile(
    r"""(?P<blank>[ \t](?:[ \t]|\\\n)*)
    | (?P<comment>\#[^\n'"\\$`<>|&;()]*(?=\n|\Z))
    | (?P<quiet>(?:[0-9]?>>?[ \t]*/dev/null|0?<[ \t]*/dev/null|[12]?>&[12])(?=[ \t\n;|&]|\Z))
    | (?P<operator>&&(?!&)|\|\|(?!\|)|;(?![;&])|\|(?![|&])|\n)
    | (?P<word>(?!\#)(?:[^ \t\n'"\\$`<>|&;()]|'[^']*'|"(?:\\[^\n]|[^"\\$`])*"|\\[^\n])+)""",
    re.VERBOSE,
)
_REFUSED = (
    ("$(", "it substitutes a command"),
    ("`", "it substitutes a command"),
    ("$'", "it holds a quotation with escapes"),
    ("$", "it holds a variable"),
    ("<(", "it substitutes a file"),
    (">(", "it substitutes a file"),
    ("<<", "it holds a here-document"),
    ("<", "it reads a file through <"),
    (">", "it writes a file through >"),
    ("&>", "it writes a file through >"),
    ("(", "it holds parentheses"),
    (")", "it holds parentheses"),
    ("&", "it runs a command in the background"),
    ("\\\n", "a word goes on in the next line"),
    ("|", "its operators do not fit together"),
    (";", "its operators do not fit together"),
    ("'", "a quotation does not close"),
    ("\\", "it ends with a backslash"),
    ("#", "it holds a remark that looks like more commands"),
)
_RESERVED = names(
    "if then else elif fi case esac for select while until do done in function coproc { } !"
)


class NotPlain(Exception):
    """The command is more than plain words; the message says why."""


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command.

    Args:
        words: The program and its words.
        assignments: `NAME=value` before them.
        fed: Whether another command's output is its input.
    """

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    fed: bool = False


def read_plain(command: str) -> tuple[Simple, ...]:
    """Read a command that is nothing but simple commands in a row.

    Raises:
        NotPlain: It is anything else, or cannot be read.
    """
    if len(command) > MAX_LENGTH:
        raise NotPlain(f"it is longer than {MAX_LENGTH:,} characters")
    if not all(character.isprintable() or character in "\n\t" for character in command):
        raise NotPlain("it holds a character that cannot be seen")
    commands = tuple(islice(_commands(command), MAX_COMMANDS + 1))
    if not commands:
        raise NotPlain("it holds no command")
    if len(commands) > MAX_COMMANDS:
        raise NotPlain(f"it holds more than {MAX_COMMANDS} commands")
    return commands


def _commands(command: str) -> Iterator[Simple]:
    words: list[tuple[str, str]] = []
    before = ""
    for kind, text in _tokens(command):
        if kind == "word":
            words.append(_word(text))
            continue
        if words:
            yield _simple(words, fed=before == "|")
            words, before = [], text
        elif text == "\n":
            # Lines may be empty, and a line may end behind an operator.
            continue
        else:
            raise NotPlain("its operators do not fit together")
    if words:
        yield _simple(words, fed=before == "|")
    elif before in ("&&", "||", "|"):
        raise NotPlain("its operators do not fit together")


def _tokens(command: str) -> Iterator[tuple[str, str]]:
    """Words and operators; blanks, comments and what only silences output are left out."""
    at = 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            raise NotPlain(_why_not(command, at))
        at = match.end()
        if match.lastgroup == "word" and command.startswith(("<", ">"), at):
            # The word may belong to the redirection: `5>`, `{name}>`.
            raise NotPlain(_why_not(command, at))
        if match.lastgroup in ("word", "operator"):
            yield match.lastgroup, match[0]


def _why_not(command: str, at: int) -> str:
    rest = command[at:]
    if rest.startswith('"'):
        inside = re.search(r"(?<!\\)[$`]", rest)
        return _why_not(rest, inside.start()) if inside else "a quotation is not plain"
    for start, why in _REFUSED:
        if rest.startswith(start):
            return why
    return "it cannot be read"


def _word(text: str) -> tuple[str, str]:
    read = read_word(text)
    if read is None:
        raise NotPlain("a quotation does not close")
    why = expansion(read[1])
    if why:
        raise NotPlain(why)
    return read


def _simple(words: list[tuple[str, str]], *, fed: bool) -> Simple:
    count = 0
    while count < len(words) and ASSIGNMENT.match(words[count][1]):
        count += 1
    if count == len(words):
        raise NotPlain("it sets variables")
    value, bare = words[count]
    if bare in _RESERVED:
        raise NotPlain(f"it holds the shell's word {value}")
    if not value or value.startswith("-"):
        raise NotPlain(f"{value!r} is no name of a program")
    values = tuple(value for value, _ in words)
    return Simple(values[count:], values[:count], fed)
