"""Reading the words behind a magic: one-line errors, `-h`, and texts taken byte for byte."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.utils._process_common import arg_split

from agent_magics.errors import UsageProblem
from agent_magics.policy import MODES, Mode

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CellOptions:
    """The options of one `%%agent` cell; see `cell_parser` for their meaning."""

    skill: str | None
    action: str | None
    model: str | None
    mode: Mode | None
    new: bool
    session: str | None
    max_turns: int | None
    budget: int | None
    out: str | None
    quiet: bool
    preview: bool


class HelpWanted(Exception):
    """`-h` was given; holds the help text."""


def cell_parser() -> MagicArgumentParser:
    """The options of `%%agent`."""
    parser = MagicArgumentParser(
        prog="%%agent",
        description="Ask the agent. The cell's body is the prompt, byte for byte.",
        add_help=False,
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="show this text")
    add("-s", "--skill", metavar="NAME", help="use this skill for this cell only")
    add("--action", metavar="ID", help="a skill's quick action; the body is added to its prompt")
    add("-m", "--model", metavar="NAME", help="ask this model in this cell only")
    add("--mode", choices=list(MODES), help="what happens in this cell to calls without a rule")
    add("-n", "--new", action="store_true", help="forget the conversation first")
    add("--session", metavar="NAME", help="ask in this conversation; made if there is none")
    add("--max-turns", type=_positive, metavar="N", help="requests to the model in this cell")
    add("--budget", type=_positive, metavar="TOKENS", help="tokens that this cell may use")
    add("-o", "--out", metavar="VAR", help="bind the result to this name")
    add("-q", "--quiet", action="store_true", help="show the answer and the questions only")
    add("--preview", action="store_true", help="show what would be sent, and send nothing")
    return parser


def use_parser() -> MagicArgumentParser:
    """The options of `%use`; what stands behind the name is read from the line itself."""
    parser = MagicArgumentParser(
        prog="%use",
        description="Load a skill: its instructions, its tools, and its limits on tools.",
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this text")
    parser.add_argument("-a", "--add", action="store_true", help="keep the active skills as well")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the skill; %%skills lists them")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="TEXT", help="given to the model as text"
    )
    return parser


def unuse_parser() -> MagicArgumentParser:
    """The options of `%unuse`."""
    parser = MagicArgumentParser(
        prog="%unuse",
        description="Take skills out: their instructions, their tools, their limits on tools.",
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this text")
    parser.add_argument("name", nargs="?", metavar="NAME", help="just this one; otherwise all")
    return parser


def skills_parser() -> MagicArgumentParser:
    """The options of `%skills`."""
    parser = MagicArgumentParser(
        prog="%skills",
        description="List the skills; with a name, show everything about one.",
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this text")
    add = parser.add_argument
    add("--trust", metavar="NAME", help="trust a project's skill as it is now")
    add("--enable", metavar="NAME", help="switch a skill on again")
    add("--disable", metavar="NAME", help="switch a skill off, here and in later kernels")
    add("--new", metavar="NAME", help="make a skill to start from, in ./skills")
    add("--tools", action="store_true", help="with --new: with a tools.py")
    add("--add", metavar="PATH", help="copy a skill folder into your own skills")
    check = "say what is off about all skills, a skill folder, or a folder of skills"
    add("--check", nargs="?", const="", metavar="PATH", help=check)
    parser.add_argument("name", nargs="?", metavar="NAME", help="a skill")
    return parser


def parsed(parser: MagicArgumentParser, line: str) -> argparse.Namespace:
    """The words of a line.

    Raises:
        HelpWanted: `-h` is among them.
        UsageError: They are off; one line says how.
    """
    values = parser.parse_args(arg_split(line))
    if values.help:
        raise HelpWanted(parser.format_help())
    return values


def cell_options(line: str) -> CellOptions:
    """The options of a `%%agent` line; raises as `parsed` does."""
    given = vars(parsed(cell_parser(), line))
    given.pop("help")
    out = given["out"]
    if out is not None and not str(out).isidentifier():
        raise UsageError(f"%%agent --out: {out!r} is not a variable's name")
    return CellOptions(**given)


def rest_of(line: str, name: str) -> str:
    """What stands behind a name in a line, as it was typed."""
    return line.partition(name)[2].strip()


def with_help(parser: Callable[[], MagicArgumentParser]) -> Callable[[F], F]:
    """Append a parser's help to a magic's docstring, which is what `%NAME?` shows."""

    def decorate(function: F) -> F:
        function.__doc__ = f"{function.__doc__}\n\n{parser().format_help()}"
        return function

    return decorate


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def no_words(name: str, words: str) -> None:
    """Refuse words behind a command of `%agent` that takes none.

    Raises:
        UsageProblem: There are some.
    """
    if words:
        raise UsageProblem(f"%agent {name} takes no words, but got {words!r}.")
