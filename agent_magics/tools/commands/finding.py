"""Every command that a text may run, for rules that ask and deny. Broad on purpose.

Owns the search in wrappers, substitutions and strings that a shell would run. Finds too much rather
than too little: nothing of it ever allows anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from agent_magics.commandline import ANY
from agent_magics.tools.commands.git import subcommand
from agent_magics.tools.commands.grammar import MOST_COMMANDS, Command, Reading, read_tree
from agent_magics.tools.commands.lexing import MAX_LENGTH, NotPlain, read_plain
from agent_magics.tools.commands.programs import (
    joined_again,
    only_looks,
    program_names,
    runs_code,
    runs_others,
    runs_what_it_reads,
)
from agent_magics.tools.commands.words import loose_word

MAX_DEPTH = 6
"""Strings within strings that are read as commands."""
MAX_FOUND = 2 * MOST_COMMANDS
"""Commands that are kept of a text and of all texts in it; each counts by up to three names."""

_BREAKS = re.compile(r"[;&|()\n`{}<>\"'=!,]|\$\(")
_VARIABLE = re.compile(r"\$\w+")
_MORE_THAN_A_WORD = re.compile(r"[\s;&|()`$<>'\"]")


_MISREAD = re.compile(r"\\\n|\$(?=[\"'])")
"""What the grammar takes for something else than bash: a line that begins with a continuation,
`$"` in the middle of a word. The text is read once more without it."""
_UNKNOWN = "$_"
"""Written for `ANY` in a text that is read again, since a grammar knows no such character."""


def _plainly(text: str) -> Reading:
    """What can be read without the grammar."""
    try:
        simple = read_plain(text)
    except NotPlain:
        return Reading((), broken=True)
    return Reading(tuple(Command(s.words, s.assignments, fed=s.fed) for s in simple), broken=False)


@dataclass(slots=True)
class Findings:
    """What was found so far.

    Args:
        found: The words of each command.
        within: Of those, the ones that run other commands given as words.
        unclear: Why there may be more.
        named: Words of commands that may be paths, and whether the file would only be looked at.
    """

    found: dict[tuple[str, ...], None] = field(default_factory=dict)
    within: dict[tuple[str, ...], None] = field(default_factory=dict)
    unclear: str = ""
    named: dict[tuple[str, bool], None] = field(default_factory=dict)
    _texts: list[tuple[str, int]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def search(self, text: str) -> Reading | None:
        """Find all in a text, and in the texts within it; the reading of the outermost."""
        if len(text) > MAX_LENGTH:
            self.unclear = f"it is longer than {MAX_LENGTH:,} characters"
            self._pieces(text[:MAX_LENGTH])
            return None
        outermost = self._one(text, 0)
        while self._texts and len(self.found) < MAX_FOUND:
            self._one(*self._texts.pop())
        if self._texts or len(self.found) >= MAX_FOUND:
            self.unclear = "it holds too many commands"
        return outermost

    def _one(self, text: str, depth: int) -> Reading | None:
        if text in self._seen:
            return None
        self._seen.add(text)
        reading = read_tree(text.replace(ANY, _UNKNOWN))
        plain = _plainly(text)
        broken = (reading or plain).broken
        if broken:
            self.unclear = "not all of it can be read"
            self._pieces(text)
        # Where the two readings differ, what either sees may run.
        both = dict.fromkeys((*(reading.commands if reading else ()), *plain.commands))
        for command in both:
            words = tuple(word.replace(_UNKNOWN, ANY) for word in command.words)
            self._add(replace(command, words=words), text, depth)
        if _MISREAD.search(text) and not broken:
            self._later(_MISREAD.sub("", text), depth)
        return reading

    def _add(self, command: Command, text: str, depth: int) -> None:
        words = command.words
        self.found[words] = None
        looks = only_looks(words)
        self.named.update(dict.fromkeys((word, looks) for word in words[1:]))
        self.named.update(dict.fromkeys((target, False) for target in command.targets))
        name = program_names(words[0])[0]
        self.found[(name, *words[1:])] = None
        if name == "git" and (at := subcommand(words)):
            self.found[("git", *words[at:])] = None
        if runs_what_it_reads(words, fed=command.fed):
            self.unclear = "a shell in it runs what it reads"
            self._pieces(text)
            self._later(command.input, depth)
        if runs_others(words):
            self.within[words] = None
            if rest := joined_again(words):
                self._later(" ".join(rest), depth)
            for word in words[1:]:
                if _MORE_THAN_A_WORD.search(word):
                    self._later(word, depth)
                    # `alias l='rm x'`, `-oProxyCommand='…'`
                    self._later(word.partition("=")[2], depth)
        elif runs_code(words):
            for word in words[1:]:
                # Code in another language: what is unknown in it is not a command of ours.
                self._pieces(word.replace(ANY, " "))

    def _later(self, text: str, depth: int) -> None:
        if not text.strip():
            return
        if depth >= MAX_DEPTH:
            self.unclear = "it is nested too deeply"
        else:
            self._texts.append((text, depth + 1))

    def _pieces(self, text: str) -> None:
        """What stands between operators and quotes, without any grammar."""
        for piece in _BREAKS.split(text)[:MAX_FOUND]:
            words = tuple(piece.split())
            if words:
                self.found[words] = None
                shown = (loose_word(_VARIABLE.sub(ANY, word)) for word in words)
                self.named.update(dict.fromkeys((word, False) for word in shown))
                if runs_others(words):
                    self.within[words] = None
