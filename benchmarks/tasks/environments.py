"""Environments of the peers, made on demand; nothing of them enters ours."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "contestants"


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who takes part.

    Args:
        program: The file of its run.
        requirement: What is installed for it; empty: our own environment.
    """

    program: str
    requirement: str = ""


CONTESTANTS = {
    "agent_magics": Contestant("ours.py"),
    "openai-agents": Contestant("openai_agents_peer.py", "openai-agents"),
    "pydantic-ai": Contestant("pydantic_ai_peer.py", "pydantic-ai-slim[openai]"),
    "smolagents": Contestant("smolagents_peer.py", "smolagents[openai]"),
}


class NotInstalled(Exception):
    """A peer could not be installed; the others still run."""


def interpreter(name: str, folder: Path) -> Path:
    """The Python that runs a contestant; its packages are installed when they are missing.

    Raises:
        NotInstalled: With what pip said last.
    """
    contestant = CONTESTANTS[name]
    if not contestant.requirement:
        return Path(sys.executable)
    python = folder / name / "bin" / "python"
    done = folder / name / "installed"
    if done.is_file():
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        words = [python, "-m", "pip", "install", "-q", contestant.requirement]
        subprocess.run(words, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise NotInstalled(f"{name} cannot be installed: {said[-1] if said else error}") from error
    done.write_text(contestant.requirement, encoding="utf-8")
    return python


def version(name: str, python: Path) -> str:
    """The contestant's version; empty for our own."""
    requirement = CONTESTANTS[name].requirement.partition("[")[0]
    if not requirement:
        return ""
    code = f"import importlib.metadata as m; print(m.version({requirement!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()
