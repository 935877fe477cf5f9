"""Endpoints that a person has named in the configuration, as values.

How they are written is for `config_endpoints`; their keys are found by `keys`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from agent_magics.providers.endpoint import Timeouts
from agent_magics.providers.profiles import Profile


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that stands in a variable of the environment."""

    name: str


@dataclass(frozen=True, slots=True)
class Command:
    """A key that a command prints; the words are given to the system as they are."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keyring:
    """A key in the system's keyring."""

    service: str
    user: str


KeySource: TypeAlias = Variable | Command | Keyring
Value: TypeAlias = str | Variable


@dataclass(frozen=True, slots=True)
class NamedEndpoint:
    """One endpoint of the user's file.

    Args:
        name: As the person calls it.
        base_url: Where it is.
        model: Asked when only the endpoint is named; empty: the server's only one.
        key: Where its key comes from; None: it needs none.
        headers: Sent with each request.
        ca_file: Certificates that are trusted as well.
        proxy: Through which it is asked; empty: none; None: as the environment says.
        timeout: Bounds of silence.
        profile: What it takes; None: recognised by its URL.
        server: The known server whose name the profile has; empty: recognised by its URL.
        small: Whether the profile for small models is on: `on`, `off`, or by the size (`auto`).
    """

    name: str
    base_url: str
    model: str = ""
    key: KeySource | None = None
    headers: Mapping[str, Value] = field(default_factory=dict)
    ca_file: Path | None = None
    proxy: Value | None = None
    timeout: Timeouts = field(default_factory=Timeouts)
    profile: Profile | None = None
    server: str = ""
    small: str = "auto"
