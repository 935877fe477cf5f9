"""Which variables a project's `.env` sets, since some editors load that file into kernels.

A cloned repository must not decide where a person's key is sent. What the file says is compared
with the environment; nothing is taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from agent_magics.errors import UsageProblem
from agent_magics.providers.endpoint import Endpoint
from agent_magics.providers.place import shown_url

LARGEST = 64 * 1024
"""Bytes of a file that are read."""

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*")


def project_variables(root: Path) -> Mapping[str, str]:
    """The variables of the `.env` files between a folder and the top of its repository.

    Args:
        root: The folder that the agent works in.
    """
    found: dict[str, str] = {}
    for folder in _folders(root):
        for line in _text(folder / ".env").splitlines():
            if match := _LINE.fullmatch(line):
                found.setdefault(match[1], _unquoted(match[2]))
    return found


DECIDING = (
    "AGENT_MAGICS_CONFIG",
    "AGENT_MAGICS_DATA",
    "AGENT_MAGICS_APPROVE",
    "AGENT_MAGICS_APPROVE_IN",
)
"""Variables that decide what an agent may do; the person's, never a project's."""


def believed(variables: Mapping[str, str], root: Path) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The environment without what a project's `.env` decides, and what was left out.

    Args:
        variables: The environment.
        root: The folder that is worked in.
    """
    theirs = project_variables(root)
    dropped = tuple(n for n in DECIDING if n in theirs and variables.get(n) == theirs[n])
    return {n: v for n, v in variables.items() if n not in dropped}, dropped


def not_the_projects(url: tuple[str, str], key: tuple[str, str], root: Path) -> None:
    """Refuse to send a person's key where a project's `.env` says; whoever wrote it would get it.

    Args:
        url: The variable that gave the base URL, and its value; empty where none did.
        key: Likewise for the key.
        root: The folder that is worked in.

    Raises:
        UsageProblem: The URL stands in the file, and the key does not.
    """
    if not url[1] or not key[1] or Endpoint(url[1]).is_local:
        return
    theirs = project_variables(root)
    if theirs.get(url[0]) == url[1] and theirs.get(key[0]) != key[1]:
        raise UsageProblem(
            f"{url[0]} comes from this project's .env and leads to {shown_url(url[1])}; your key "
            f"from {key[0]} is not sent there. If you trust it, name that endpoint in your "
            "config.yaml (see docs/models.md), or set %config AgentMagics.base_url."
        )


def _folders(root: Path) -> list[Path]:
    """The folder, and those above it up to the one that holds `.git`; without one, just itself."""
    above = [root, *root.parents]
    top = next((i for i, folder in enumerate(above) if (folder / ".git").exists()), 0)
    return [folder for folder in above[: top + 1] if folder != Path.home()]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            return ""
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].strip()
    return value.partition(" #")[0].strip()
