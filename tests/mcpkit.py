"""What tests do with MCP servers: declare them, start them, call their tools, look at processes."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_magics.tools.mcp.declared import Declared
from agent_magics.tools.mcp.opening import Surroundings
from agent_magics.tools.mcp.servers import Servers
from agent_magics.tools.mcp.specs import ServerSpec, server_spec

HERE = Path(__file__).parent
needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None, reason="the extra mcp is not installed"
)


def honest(name: str = "tester", **more: Any) -> ServerSpec:
    """The server written with the SDK."""
    entry = {"command": sys.executable, "args": [str(HERE / "mcp_server.py")], **more}
    return server_spec(name, entry, "user")


def faulty(fault: str, *words: str, **more: Any) -> ServerSpec:
    """A server with a fault, under the fault's name."""
    args = [str(HERE / "mcp_faults.py"), fault, *words]
    return server_spec(fault, {"command": sys.executable, "args": args, **more}, "user")


@dataclass
class Listed:
    """Declarations that a test made."""

    specs: list[ServerSpec]
    disabled: set[str] = field(default_factory=set)

    def declared(self) -> Declared:
        return Declared(tuple(self.specs), frozenset(self.disabled))


@dataclass
class Rig:
    """Servers, and what the person was told."""

    servers: Servers
    listed: Listed
    told: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    approver: Any = None
    known: dict[str, Any] = field(default_factory=dict)

    async def ready(self) -> None:
        await self.servers.ready(lambda line, _wrong: self.told.append(line))

    @property
    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self.servers.tools(lambda: self.approver)}

    async def call(self, name: str, **arguments: Any) -> Any:
        # As in a turn, whose tools stay the same while a server goes away.
        self.known = self.known | self.tools
        return await self.known[name].run(arguments, self.reported.append)


@contextmanager
def running(tmp_path: Path, *specs: ServerSpec, variables: dict[str, str] | None = None):
    """The servers of these declarations; none of them outlives the block."""
    listed = Listed(list(specs))
    around = Surroundings(lambda: tmp_path, os.environ if variables is None else variables, tuple)
    servers = Servers(listed, around, tmp_path / "logs", "0")
    try:
        yield Rig(servers, listed)
    finally:
        servers.close()


def with_servers(tmp_path: Path, work: Any, *specs: ServerSpec, **more: Any) -> Any:
    """Start the servers, do the work, end them; gives what the work gives."""

    async def main() -> Any:
        await rig.ready()
        return await work(rig)

    with running(tmp_path, *specs, **more) as rig:
        return asyncio.run(main())


async def until(condition, seconds=20.0):
    """Wait for what another thread or process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process lives; a corpse does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def processes_of(place: Path) -> list[int]:
    """The processes that live and whose command line names something at this place."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended meanwhile
        if any(word.startswith(os.fsencode(place)) for word in words):
            found.append(int(folder.name))
    return found
