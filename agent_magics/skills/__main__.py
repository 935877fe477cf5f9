"""The check of skill folders from a shell; see the package's text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agent_magics.errors import SkillError
from agent_magics.extension.assembly import builtin_names
from agent_magics.library.authoring import checked
from agent_magics.magics.skills_commands import check_view

STATUS = """\
Say what is off about skill folders, here and by the Agent Skills standard; nothing of them is run.
Exit status 0: nothing that keeps a skill from being used; 1: errors (with --strict warnings as
well); 2: there is no skill."""


def main(words: Sequence[str] | None = None) -> int:
    """Check folders; exit status 0: fine, 1: errors (or warnings with --strict), 2: no skill."""
    parser = argparse.ArgumentParser(prog="python -m agent_magics.skills")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="say what is off about skill folders", description=STATUS
    )
    check.add_argument("path", nargs="+", type=Path, help="a skill folder, or a folder of them")
    check.add_argument("--strict", action="store_true", help="count warnings as errors")
    options = parser.parse_args(words)
    bad = {"error", "warning"} if options.strict else {"error"}
    status = 0
    for path in options.path:
        try:
            entries = checked(path, builtin_names())
        except SkillError as error:
            print(f"agent_magics: {error}", file=sys.stderr)
            return 2
        print(check_view(entries))
        if any(d.severity in bad for entry in entries for d in entry.skill.diagnostics):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
