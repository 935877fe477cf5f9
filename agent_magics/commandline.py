"""What a shell command consists of, and whether a rule's pattern speaks about it. Pure values.

Owns what a pattern for commands means. Whoever reads the command says which simple commands are in
it; nothing here knows a shell. Words are compared, never the text between them: `git  "status"` is
`git status`, and a `*` cannot let an operator through, since each simple command is matched alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Match: TypeAlias = Literal["yes", "maybe", "no"]

ANY = "\0"
"""Stands in a word for what only the shell will know (`$x`); no command can hold this character."""
_BETWEEN = "\x1f"
"""Between two words; a command that holds this character is never read as plain words."""
_LONGEST = 20_000
"""Characters of a text with unknown parts that are compared; a longer one may hold anything."""


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command: a program and its words, after quotes and escapes.

    Args:
        words: Each as the program gets it.
        exact: Why no pattern with a `*` may allow it: "sudo runs other commands". Empty: one may.
        alone: Whether even a pattern without `*` allows it only as the whole command: it takes
            its work from a pipe, or another command of the line changed what words mean.
    """

    words: tuple[str, ...]
    exact: str = ""
    alone: bool = False


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What was read of a command.

    Args:
        parts: What runs, if it is nothing but simple commands; each must be allowed.
        opaque: Why no pattern may allow it at all: "it substitutes". Empty: patterns may.
        found: Every command found anywhere in it, also in substitutions and in the strings that
            a shell would run; `ANY` stands for what cannot be known. For ask and deny.
        within: Commands that run another one given as words (`sudo -u x rm y`): a pattern of ask
            and deny may begin at each of their words.
        unclear: Why not everything that it runs can be known. Empty: it is all in `found`.
        reach: What it names that is protected or outside the workspace, as far as that can be
            seen; for the mode `auto`.
    """

    parts: tuple[Part, ...] = ()
    opaque: str = ""
    found: tuple[tuple[str, ...], ...] = ()
    within: tuple[tuple[str, ...], ...] = ()
    unclear: str = ""
    reach: str = ""


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """A rule's pattern for commands, as words.

    Args:
        text: As it was written, without blanks at its ends.
        pieces: The joined words between the wildcards; one piece: there is no wildcard.
        whole: Whether it holds an operator or an expansion, and so can only mean a whole line.
    """

    text: str
    pieces: tuple[str, ...]
    whole: bool = False

    @property
    def wild(self) -> bool:
        """Whether it has a `*` outside quotes."""
        return len(self.pieces) > 1

    def permits(self, text: str, line: CommandLine, part: Part) -> bool:
        """Whether an *allow* with this pattern allows one simple command of a line.

        Args:
            text: The whole command.
            line: What was read of it.
            part: One of its parts.
        """
        if line.opaque:
            return False
        if not self.wild and self.text == text.strip():
            return True
        if self.whole:
            return False
        if not self.wild:
            whole = len(line.parts) == 1 or not part.alone
            return whole and self.pieces[0] == _BETWEEN.join(part.words)
        program = part.words[0]
        if part.exact or part.alone:
            return False
        if "/" in program and not self.pieces[0].startswith(program):
            # `./git` is not git, and no wildcard names a program by its path.
            return False
        joined = _BETWEEN.join(part.words)
        return any(_between(pieces, joined) for pieces in _with_bare(self.pieces))

    def concerns(self, text: str, line: CommandLine) -> Match:
        """Whether an *ask* or a *deny* with this pattern speaks about a command.

        It does for every command found anywhere in the line, and for one with more words behind
        those of the pattern. What is found only in part may be meant.
        """
        patterns = [*_with_bare(self.pieces), (*self.pieces[:-1], self.pieces[-1] + _BETWEEN, "")]
        raw = tuple(piece.replace(_BETWEEN, " ") for piece in self.pieces)
        if self.text == text.strip() or _between(raw, text.strip()):
            return "yes"
        texts = [(_BETWEEN.join(words), False) for words in line.found]
        texts += [(_BETWEEN.join(words), True) for words in line.within]
        if any(_speaks(pieces, found, inside) for pieces in patterns for found, inside in texts):
            return "yes"
        unknown = [item for item in texts if ANY in item[0]]
        if line.unclear or any(
            _may_speak(pieces, found, inside) for pieces in patterns for found, inside in unknown
        ):
            return "maybe"
        return "no"


_OPERATOR = re.compile(r"[;&|<>()$`]")
_TOKEN = re.compile(r"""\s+|'[^']*'|"(?:\\.|[^"\\])*"|\\.|\*|[^\s'"\\*]+""", re.DOTALL)


def command_pattern(text: str) -> CommandPattern:
    """Read a rule's pattern: words as a shell takes them, `*` outside quotes for any text.

    Quotes that do not close are taken as they are.
    """
    text = text.strip()
    written = _TOKEN.findall(text)
    closed = len("".join(written)) == len(text)
    pieces, whole = [""], False
    for piece in written if closed else re.findall(r"\s+|\*|[^\s*]+", text):
        if piece == "*":
            pieces.append("")
        elif piece.isspace():
            pieces[-1] += _BETWEEN
        else:
            pieces[-1] += _unquoted(piece) if closed else piece
            whole = whole or (piece[0] not in "'\"\\" and bool(_OPERATOR.search(piece)))
    return CommandPattern(text, tuple(pieces), whole or "\n" in text)


def _unquoted(token: str) -> str:
    if token[0] == "'":
        return token[1:-1]
    if token[0] == '"':
        return re.sub(r'\\([$`"\\])', r"\1", token[1:-1])
    return token[1:] if token[0] == "\\" else token


def _with_bare(pieces: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The pattern, and for one like `git log *` also the command without more words."""
    yield pieces
    if len(pieces) > 1 and not pieces[-1] and pieces[-2].endswith(_BETWEEN):
        yield (*pieces[:-2], pieces[-2][: -len(_BETWEEN)])


def _between(pieces: Sequence[str], text: str) -> bool:
    """Whether the pieces stand in the text in this order, the outer ones at its ends."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    if len(text) < len(first) + len(last):
        return False
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _speaks(pieces: Sequence[str], text: str, inside: bool) -> bool:
    """Whether the pattern matches the text; `inside`: beginning at any of its words."""
    if _between(pieces, text):
        return True
    if not inside:
        return False
    if len(pieces) == 1:
        return text.endswith(_BETWEEN + pieces[0])
    # The earliest word leaves the rest of the pattern the most room.
    start = text.find(_BETWEEN + pieces[0])
    return start >= 0 and _between(pieces, text[start + 1 :])


def _may_speak(pieces: Sequence[str], text: str, inside: bool) -> bool:
    """Whether some text that `ANY` could stand for would make the pattern match.

    A set of positions in the pattern is moved along the text, as bits of a number.
    """
    if len(text) > _LONGEST:
        return True
    known = text.partition(ANY)[0]
    shorter = min(len(known), len(pieces[0]))
    if not inside and known[:shorter] != pieces[0][:shorter]:
        return False
    literal: dict[str, int] = {}
    stars, position = 0, 0
    for number, piece in enumerate(pieces):
        if number:
            stars |= 1 << position
            position += 1
        for character in piece:
            literal[character] = literal.get(character, 0) | 1 << position
            position += 1
    end = 1 << position
    start = 1 | (stars & 1) << 1
    states = start
    for character in text:
        if character == ANY:
            # Any text may stand here: every later position of the pattern can be reached.
            states = ((end << 1) - 1) & ~((states & -states) - 1) if states else 0
            continue
        states = (states & literal.get(character, 0)) << 1 | states & stars
        if inside and character == _BETWEEN:
            states |= start
        states |= (states & stars) << 1
    return bool(states & end)
