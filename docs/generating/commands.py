"""`reference/commands.md`: from the parsers of the magics and the table of sub-commands."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from agent_magics.magics.arguments import cell_parser, skills_parser, unuse_parser, use_parser
from agent_magics.magics.commands import COMMANDS
from docs.generating.markdown import code, page, prose, table

INTRODUCTION = """\
Every magic takes `-h`, and `%use?`, `%%agent?` and so on show the same. `%agent help` lists the
sub-commands, and Tab completes names."""


def commands() -> str:
    """The page."""
    parsers = (cell_parser(), use_parser(), unuse_parser(), skills_parser())
    rows = [(code(f"%agent {c.usage}".strip()), prose(c.help)) for c in COMMANDS]
    return page(
        "Commands",
        INTRODUCTION,
        *(_magic(parser) for parser in parsers),
        "## `%agent`",
        "Alone it is the panel: model, skill, tools with policy, session, how approvals are asked.",
        table(("command", "what it does"), rows),
        "## From a shell",
        _shell("agent_magics", "quickstart"),
        _shell("agent_magics.skills", "check"),
    )


def _magic(parser: argparse.ArgumentParser) -> str:
    rows = [_option(action) for action in parser._actions]  # argparse has no other list of them
    parts = (
        f"## {code(parser.prog)}",
        prose(parser.description or ""),
        table(("option", "what it does"), rows),
    )
    return "\n\n".join(parts)


def _option(action: argparse.Action) -> tuple[str, str]:
    value = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices:
        value = "|".join(str(choice) for choice in action.choices)
    if action.nargs == "?" and action.option_strings:
        value = f"[{value}]"
    if not action.option_strings:
        value = value or action.dest
    shown = ", ".join(code(f"{name} {value}".strip()) for name in action.option_strings)
    return shown or code(value), prose((action.help or "").replace("%%", "%"))


def _shell(*words: str) -> str:
    """The help text of one command of a program."""
    # Widths and colours of whoever builds the page are not part of it.
    plain = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", *words, "-h"]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    return f"### {code(' '.join(['python -m', *words]))}\n\n```text\n{done.stdout.strip()}\n```"
