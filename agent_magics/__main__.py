"""`python -m agent_magics`: the quickstart from a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and give the exit status: 0 done, 1 failed, 2 the words are off."""
    from agent_magics import __version__
    from agent_magics.errors import AgentMagicsError

    parser = argparse.ArgumentParser(
        prog="python -m agent_magics", description="An agent in Jupyter notebooks and IPython."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    quickstart = commands.add_parser(
        "quickstart",
        help="run the quickstart notebook, print the conversation, write notebook and page",
        description="Runs notebooks/quickstart.ipynb. Headless, a call that asks is refused unless "
        "--approve names its tool; that counts inside the sample's own folder only.",
    )
    quickstart.add_argument(
        "--approve",
        action="append",
        default=[],
        metavar="TOOL",
        help="let calls of this tool run; may be given several times",
    )
    quickstart.add_argument(
        "--output",
        type=Path,
        default=Path("quickstart-output"),
        metavar="FOLDER",
        help="where the notebook and the page go (default: %(default)s)",
    )
    quickstart.add_argument(
        "--lab", action="store_true", help="open the notebook in JupyterLab instead of running it"
    )
    options = parser.parse_args(words)
    try:
        return _quickstart(options.output, options.approve, options.lab)
    except AgentMagicsError as error:
        print(f"agent_magics: {error}", file=sys.stderr)
        return 1


def _quickstart(output: Path, approve: Sequence[str], lab: bool) -> int:
    from agent_magics.quickstart.run import open_in_lab, run_quickstart

    if lab:
        return open_in_lab(output)
    outcome = run_quickstart(output, approve, print)
    print("\n" + "-" * 72)
    print(f"Approved beforehand and run: {', '.join(outcome.ran) or 'none'}")
    print(f"Refused, since nobody could be asked: {', '.join(outcome.refused) or 'none'}")
    print(f"The executed notebook: {outcome.notebook}")
    print(f"The same as a page:    {outcome.page}")
    print(f"Open it in JupyterLab: {sys.executable} -m jupyterlab {outcome.notebook}")
    print("Try it by hand there, with buttons: add --lab to this command")
    if outcome.error:
        print(f"agent_magics: the notebook stopped early: {outcome.error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
