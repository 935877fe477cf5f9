"""All MCP servers of a kernel: which are declared, which run, what they offer.

Owns which connection belongs to which declaration, and that nothing is started before it is
needed. The servers live on a thread of their own, from the first cell that needs them until
`close`. Where declarations come from, and which a person trusts, the composition root knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from agent_magics.errors import ToolError, UsageProblem
from agent_magics.plain import visible
from agent_magics.tool import Arguments, Tool
from agent_magics.tools.mcp.background import Background
from agent_magics.tools.mcp.connection import Connection, State
from agent_magics.tools.mcp.declared import Declared, Fixed, Sources
from agent_magics.tools.mcp.logfile import LogFile
from agent_magics.tools.mcp.making import Asks, Invoke, reading_tool, server_tool
from agent_magics.tools.mcp.names import server_parts, tool_names
from agent_magics.tools.mcp.opening import Surroundings, opener
from agent_magics.tools.mcp.pipes import ServerProcess
from agent_magics.tools.mcp.specs import VARIABLE, ServerSpec, fingerprint
from agent_magics.tools.mcp.values import (
    Elicit,
    OfferedPrompt,
    OfferedResource,
    Part,
    Reply,
    Tell,
)
from agent_magics.tools.redaction import says_secret

T = TypeVar("T")

CLOSING = 8.0
"""Seconds that all servers together may take to end."""


def _nobody() -> None:
    """Who is asked where nobody can be."""


def _nowhere() -> Surroundings:
    return Surroundings(Path.cwd, {}, tuple)


class Servers:
    """The MCP servers of one kernel.

    Args:
        sources: Where declarations come from.
        around: What servers are started with.
        logs: The folder of their logs.
        version: Of this package.
        attended: Whether a question of a server in the midst of a call may be put to the person
            who is asked in the cell; else it is declined.
    """

    def __init__(
        self,
        sources: Sources | None = None,
        around: Surroundings | None = None,
        logs: Path = Path(),
        version: str = "",
        *,
        attended: bool = True,
    ) -> None:
        self.sources = sources or Fixed()
        self._attended = attended
        self._around = around or _nowhere()
        self._logs = logs
        self._version = version
        self._background = Background()
        # Replaced as a whole, so that other threads can read it.
        self._connections: Mapping[str, Connection] = {}
        self._processes: set[ServerProcess] = set()
        self._told: set[str] = set()

    # -- for a cell, on its own loop ----------------------------------------------------------

    async def ready(self, tell: Callable[[str, bool], None]) -> None:
        """Start what is enabled and was not tried yet, all at once; returns when it is settled.

        Args:
            tell: Takes lines for the person, and whether something is wrong.
        """
        declared = self.sources.declared()
        self._tell_once(declared, tell)
        if not declared.enabled and not self._background.running:
            return
        waiting = [spec.name for spec in declared.enabled if not self._settled(spec)]
        if waiting:
            names = ", ".join(visible(name) for name in waiting)
            tell(f"starting MCP servers: {names}", False)
        await self._background.here(lambda: self._settle(declared.enabled))
        for name in waiting:
            state = self.state(name)
            if state.word != "running":
                why = state.detail or state.word
                tell(f"MCP server {visible(name)} is not there: {why}. See %agent mcp", True)

    def tools(self, asks: Asks) -> tuple[Tool, ...]:
        """The tools of all servers that run, sorted by name.

        Args:
            asks: For questions of a server during a call.
        """
        asks = asks if self._attended else _nobody
        made: list[Tool] = []
        readable: list[str] = []
        for connection, part in self._running():
            spec, state = connection.spec, connection.state
            offered = {tool.name: tool for tool in state.tools}
            for name, full in tool_names(part, offered).items():
                invoke = self._invoking(spec.name)
                made.append(server_tool(full, spec, offered[name], invoke, asks))
            if "resources" in state.offers:
                readable.append(spec.name)
        if readable:
            made.append(reading_tool(tuple(sorted(readable)), self._read, asks))
        return tuple(sorted(made, key=lambda tool: tool.name))

    # -- for commands -------------------------------------------------------------------------

    def state(self, name: str) -> State:
        """What is known of a server."""
        connection = self._connections.get(name)
        return connection.state if connection is not None else State()

    def names_of(self, name: str) -> Mapping[str, str]:
        """The tools of a server that runs: its own names, and those that they are offered under."""
        for connection, part in self._running():
            if connection.spec.name == name:
                return tool_names(part, [tool.name for tool in connection.state.tools])
        return {}

    def log(self, name: str) -> LogFile:
        """The log of a server."""
        parts = server_parts({name})
        return LogFile(self._logs / f"{parts[name]}.log")

    async def restart(self, name: str) -> State:
        """Close a server, and start it as it is declared now.

        Raises:
            UsageProblem: It is not declared, or switched off.
        """
        specs = {spec.name: spec for spec in self.sources.declared().enabled}
        if name not in specs:
            raise UsageProblem(f"There is no MCP server {name!r} that is switched on.")

        async def work() -> State:
            await self._dropped(name)
            connection = self._added(specs[name])
            await connection.ready()
            return connection.state

        return await self._background.here(work)

    async def stop(self, name: str) -> None:
        """Close a server, if it runs."""
        if name in self._connections:
            await self._background.here(lambda: self._dropped(name))

    async def prompts(self, name: str) -> tuple[OfferedPrompt, ...]:
        """The prompts of a server; none where it has none."""
        if "prompts" not in self.state(name).offers:
            return ()
        return await self._used(name, lambda c: c.use(lambda link: link.prompts()))

    async def prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> Reply:
        """A prompt with its arguments filled in."""
        return await self._used(name, lambda c: c.use(lambda link: link.prompt(prompt, arguments)))

    async def resources(self, name: str) -> tuple[OfferedResource, ...]:
        """The resources of a server; none where it has none."""
        if "resources" not in self.state(name).offers:
            return ()
        return await self._used(name, lambda c: c.use(lambda link: link.resources()))

    def secrets(self) -> tuple[str, ...]:
        """What servers are told in secret, each as `NAME=value`, for who takes secrets out."""
        found: list[str] = []
        for connection in self._connections.values():
            spec = connection.spec
            told = [(k, v) for k, v in spec.env if says_secret(k)] + list(spec.headers)
            for name, value in told:
                names = VARIABLE.findall(value)
                texts = [self._around.variables.get(n, d) for n, d in names] or value.split()[-1:]
                found += [f"{name}={text}" for text in texts]
        return tuple(found)

    def close(self) -> None:
        """End all servers and the thread, for good; for any thread, and for the process's end."""

        async def everything() -> None:
            await asyncio.gather(
                *(connection.stop() for connection in self._connections.values()),
                return_exceptions=True,
            )

        try:
            self._background.close(everything, CLOSING)
        finally:  # also when somebody does not want to wait
            for process in tuple(self._processes):
                process.kill()
            self._connections = {}

    # -- on the servers' own thread -----------------------------------------------------------

    async def _settle(self, specs: tuple[ServerSpec, ...]) -> None:
        wanted = {spec.name: spec for spec in specs}
        for name, connection in self._connections.items():
            spec = wanted.get(name)
            if spec is None or fingerprint(spec) != fingerprint(connection.spec):
                await self._dropped(name)
        connections = [self._connections.get(s.name) or self._added(s) for s in specs]
        await asyncio.gather(*(connection.ready() for connection in connections))

    def _added(self, spec: ServerSpec) -> Connection:
        log = self.log(spec.name)
        open_it = opener(spec, self._around, log, self._processes)
        connection = Connection(spec, open_it, log, self._version)
        self._connections = {**self._connections, spec.name: connection}
        return connection

    async def _dropped(self, name: str) -> None:
        connection = self._connections.get(name)
        if connection is not None:
            self._connections = {n: c for n, c in self._connections.items() if n != name}
            await connection.stop()

    # -- parts --------------------------------------------------------------------------------

    def _settled(self, spec: ServerSpec) -> bool:
        connection = self._connections.get(spec.name)
        return (
            connection is not None
            and connection.settled
            and fingerprint(connection.spec) == fingerprint(spec)
        )

    def _running(self) -> list[tuple[Connection, str]]:
        parts = server_parts(self._connections)
        return [
            (connection, parts[name])
            for name, connection in sorted(self._connections.items())
            if connection.state.word == "running"
        ]

    def _invoking(self, server: str) -> Invoke:
        async def invoke(name: str, arguments: Arguments, tell: Tell, elicit: Elicit) -> Reply:
            return await self._used(server, lambda c: c.call(name, arguments, tell, elicit))

        return invoke

    async def _read(self, server: str, uri: str, elicit: Elicit) -> Reply:
        if uri:
            return await self._used(server, lambda c: c.use(lambda link: link.read(uri), elicit))
        found = await self.resources(server)
        lines = [
            " ".join(f"{r.uri} {r.name} {r.media_type} {r.description}".split()) for r in found
        ]
        return Reply((Part("text", "\n".join(lines) or "(it offers none)"),))

    async def _used(self, server: str, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        connection = self._connections.get(server)
        if connection is None:
            raise ToolError(f"The MCP server {server} is not there any more.")
        return await self._background.here(lambda: work(connection))

    def _tell_once(self, declared: Declared, tell: Callable[[str, bool], None]) -> None:
        """What the person should know of the declarations; each thing once per kernel."""
        news = [(problem, True) for problem in declared.problems]
        if declared.untrusted is not None:
            names = ", ".join(visible(spec.name) for spec in declared.untrusted.specs)
            news.append(
                (
                    f"This project names MCP servers ({names}), which are not started: "
                    "%agent mcp trust shows them and asks you",
                    False,
                )
            )
        for line, wrong in news:
            if line not in self._told:
                self._told.add(line)
                tell(line, wrong)
