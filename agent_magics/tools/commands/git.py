"""Which git commands only do git's own work. Pure tables; the repository itself is not read here.

Source: git 2.47, `git help -a` and the manual pages of its commands. Git takes any beginning of a
long option's name for the option.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magics.tools.commands.naming import names

_QUIET = frozenset(("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"))
"""Options of git itself that change nothing about what may run."""
READS = names(
    """
    status log diff show blame annotate describe shortlog rev-parse rev-list ls-files ls-tree
    cat-file name-rev merge-base for-each-ref show-ref show-branch count-objects diff-tree
    diff-index diff-files grep whatchanged range-diff cherry check-ignore check-attr var
    verify-commit verify-tag version
    """
)
"""They start no hook but that of a refreshed index."""
_CHANGES = names(
    """
    add am apply archive branch bundle checkout checkout-index cherry-pick clean clone commit
    commit-tree fetch format-patch fsck gc hash-object init ls-remote merge merge-base mv notes
    pack-refs prune pull push read-tree rebase reflog remote reset restore revert rm
    sparse-checkout stash switch symbolic-ref tag update-index update-ref worktree write-tree
    """
)
_SHORT: dict[str, str] = {
    "grep": "O",
    "archive": "o",
    "clone": "cu",
    "rebase": "xis",
    "merge": "s",
    "pull": "s",
    "add": "ipe",
    "commit": "pe",
}
_LONG = (
    *("ext-diff", "textconv", "output", "open-files-in-pager", "exec", "upload-pack"),
    *("receive-pack", "config", "config-env", "template", "remote", "strategy", "interactive"),
    *("filters", "unsafe-paths", "help", "fsmonitor", "edit", "gpg-sign", "reference"),
    *("separate-git-dir", "git-dir", "work-tree", "exec-path", "no-index", "untracked"),
)
"""Options by which a command runs a program, writes where nobody sees, or reads what git does
not know (`git grep --untracked` would find the passwords in `.env`)."""


def subcommand(words: Sequence[str]) -> int:
    """The place of the subcommand among the words, behind git's own options; 0 if there is none."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        takes = words[at] in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env")
        at += 2 if takes else 1
    return at if at < len(words) else 0


def git_limit(words: Sequence[str]) -> str:
    """Why no pattern with a `*` may allow this git command, or the empty text."""
    at = 1
    while at < len(words) and words[at] in _QUIET:
        at += 1
    if at == len(words):
        return ""
    name = words[at]
    if name.startswith("-"):
        return "" if name == "--version" else f"git {name} changes what git runs, or where"
    if name not in READS and name not in _CHANGES:
        return f"git {name} may be an alias or run programs"
    for word in words[at + 1 :]:
        if _runs(name, word):
            return f"git {name} {word} can run programs or write files"
    return ""


def _runs(name: str, word: str) -> bool:
    if "::" in word:
        # A transport helper: `ext::sh -c …` is a command.
        return name in ("fetch", "pull", "push", "clone", "ls-remote", "remote", "archive")
    if word.startswith("--"):
        option = word[2:].partition("=")[0]
        return bool(option) and any(long.startswith(option) for long in _LONG)
    if word.startswith("-") and len(word) > 1:
        return any(letter in _SHORT.get(name, "") for letter in word[1:])
    return False
