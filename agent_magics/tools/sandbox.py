"""The sandbox of shell commands: whether there is one, which, and what it leaves open.

Owns the decision (setting, what works on this machine) and the state that a person is shown. A
way of confining is tried once with a real run before the first command; when none works, nothing
is pretended. Knows no tool and no policy: a sandbox never makes a question unnecessary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from agent_magics.errors import ToolError

SandboxMode: TypeAlias = Literal["off", "auto", "required"]
STRICTER: tuple[SandboxMode, ...] = ("off", "auto", "required")
"""The modes, the strictest last."""


@dataclass(frozen=True, slots=True)
class SandboxSetting:
    """What the person wants.

    Args:
        mode: `off`; `auto`: where it works; `required`: nothing runs without it.
        network: Whether confined commands may use the network.
    """

    mode: SandboxMode = "off"
    network: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a confined command may touch; everything else can be read only.

    Args:
        root: The workspace, a real path.
        scratch: A private folder for temporary files.
        hidden: Files and folders that it cannot read; they need not exist.
        kept: What it can read but not change inside the workspace; need not exist.
        network: Whether it may use the network.
    """

    root: Path
    scratch: Path
    hidden: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    network: bool = False


class Confinement(Protocol):
    """One way to confine a command."""

    @property
    def name(self) -> str:
        """For people: `bubblewrap`."""

    def missing(self) -> str:
        """Why it cannot be here; empty: it may work, a real run tells."""

    def unfit(self, bounds: Bounds) -> str:
        """Why it cannot keep exactly these bounds; empty: it can."""

    def words(self, words: Sequence[str], bounds: Bounds) -> tuple[str, ...]:
        """The program and arguments that run the words in these bounds."""

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        """What the command's environment needs besides."""

    def network(self, bounds: Bounds) -> str:
        """What is open of the network, for people."""


Probe: TypeAlias = Callable[[Confinement, bool], str]
"""Tries a confinement with a real run; says what is wrong, or the empty text."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A command as it is to be started.

    Args:
        words: The program and its arguments.
        variables: Of its environment, besides the usual ones.
        state: For people: `bubblewrap, no network`; empty when no sandbox is wanted.
        works: Whether it is in a sandbox.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]
    state: str = ""
    works: bool = False


def _off() -> SandboxSetting:
    return SandboxSetting()


class Sandbox:
    """The sandbox of one workspace.

    Args:
        setting: What is wanted, asked at each use.
        confinements: The ways to try, best first.
        probe: Tries one.
        hidden: Secrets that no confined command can read.
    """

    def __init__(
        self,
        setting: Callable[[], SandboxSetting] = _off,
        confinements: Sequence[Confinement] = (),
        probe: Probe = lambda _confinement, _network: "",
        hidden: Callable[[Path], Iterable[Path]] = lambda _root: (),
    ) -> None:
        self._setting = setting
        self._confinements = confinements
        self._probe = probe
        self._hidden = hidden
        self._tried: dict[tuple[str, bool], str] = {}
        self._trying = threading.Lock()

    def state(self, root: Path) -> str:
        """One line for people; empty when no sandbox is wanted.

        Args:
            root: The workspace's real path.
        """
        setting = self._setting()
        if setting.mode == "off":
            return ""
        bounds = self._bounds(root, root, setting)
        found, why = self._working(bounds)
        if found is not None:
            return f"{found.name}, {found.network(bounds)}"
        if setting.mode == "required":
            return f"required, but there is none, so no command runs ({why})"
        return f"not sandboxed ({why})"

    def confined(self, words: Sequence[str], root: Path, scratch: Callable[[], Path]) -> Confined:
        """The words as they are to be started.

        Args:
            words: A program and its arguments.
            root: The workspace's real path.
            scratch: Gives the private folder for temporary files.

        Raises:
            ToolError: A sandbox is required, and none works.
        """
        setting = self._setting()
        if setting.mode == "off":
            return Confined(tuple(words), {})
        bounds = self._bounds(root, scratch(), setting)
        found, why = self._working(bounds)
        if found is not None:
            return Confined(
                found.words(words, bounds),
                found.variables(bounds),
                f"{found.name}, {found.network(bounds)}",
                works=True,
            )
        if setting.mode == "required":
            raise ToolError(
                f"The command was not run: a sandbox is required, and none works here ({why}). "
                "The person can change that: %config AgentMagics.sandbox"
            )
        return Confined(tuple(words), {}, f"not sandboxed ({why})")

    def _bounds(self, root: Path, scratch: Path, setting: SandboxSetting) -> Bounds:
        kept = tuple(root / name for name in RUNS_PROGRAMS)
        return Bounds(root, scratch, tuple(self._hidden(root)), kept, setting.network)

    def _working(self, bounds: Bounds) -> tuple[Confinement | None, str]:
        """The first way that works, or why none does."""
        reasons: list[str] = []
        for confinement in self._confinements:
            why = self._problem(confinement, bounds.network) or confinement.unfit(bounds)
            if not why:
                return confinement, ""
            reasons.append(f"{confinement.name}: {why}")
        return None, "; ".join(reasons) or "no sandbox is known for this system"

    def _problem(self, confinement: Confinement, network: bool) -> str:
        with self._trying:
            key = (confinement.name, network)
            if key not in self._tried:
                self._tried[key] = confinement.missing() or self._probe(confinement, network)
            return self._tried[key]


RUNS_PROGRAMS = (".git/hooks", ".git/config", ".agent_magics", ".vscode", ".idea", ".husky")
"""What in a workspace makes other programs run things later, outside of the sandbox."""


def strictest(*modes: SandboxMode) -> SandboxMode:
    """The strictest of some modes."""
    return max(modes, key=STRICTER.index)
