"""What the "always" buttons of a command offer: this very command, or a sensible beginning of it.

Owns the beginnings: how many words of a command say what it does. Programs that are not here, and
all that deletes, fetches or runs other programs, are only offered as they stand.
"""

from __future__ import annotations

from agent_magics.commandline import CommandLine, Part, command_pattern
from agent_magics.policy import Rule, Scope
from agent_magics.tools.commands.naming import names

MAX_LABEL = 400
"""Characters of a command that a button may still stand for: nobody compares a longer one."""

_ONE_WORD = names(
    """
    ls cat head tail wc stat file du df grep egrep fgrep diff cmp comm cut tr nl uniq sort tree
    realpath basename dirname readlink find fd test echo printf pwd date which type id whoami uname
    uptime free sha256sum sha1sum md5sum jq yq column seq pytest mypy pyright pylint
    flake8 black isort bandit vulture codespell shellcheck shfmt yamllint markdownlint eslint tsc
    prettier jest vitest mocha clang-format rustfmt gofmt cloc tokei sloccount mkdir touch
    """
)
_TWO_WORDS: dict[str, frozenset[str]] = {
    "git": names(
        """
        status log diff show blame describe shortlog rev-parse rev-list ls-files ls-tree cat-file
        name-rev merge-base for-each-ref grep add branch checkout switch commit stash tag fetch mv
        """
    ),
    "ruff": frozenset(("check", "format", "rule")),
}


def offered_scopes(command: str, line: CommandLine) -> tuple[Scope, ...]:
    """The choices for one command, narrowest first; none for one that may mean more tomorrow.

    Args:
        command: The text for the shell.
        line: What was read of it.
    """
    text = command.strip()
    if line.opaque or not line.parts or "\n" in text or len(text) > MAX_LABEL:
        return ()
    if command_pattern(text).wild:
        return ()
    scopes = [Scope("exactly this command, this session", Rule("run_shell", "allow", text))]
    if len(line.parts) == 1 and (prefix := prefix_of(line.parts[0])):
        scopes.append(Scope(f"{prefix} *, this session", Rule("run_shell", "allow", f"{prefix} *")))
    return tuple(scopes)


def prefix_of(part: Part) -> str:
    """The words that say what a command does: `git checkout`, never `git`; empty: only all do."""
    program, *words = part.words
    if part.exact or part.alone:
        return ""
    if program in _ONE_WORD:
        return program
    if words and words[0] in _TWO_WORDS.get(program, frozenset()):
        return f"{program} {words[0]}"
    return ""
