"""Where MCP servers are declared: the person's configuration, files they imported, the project.

Owns the two files beside the configuration (what was imported, what was trusted), and that a
project's servers count only when exactly that content of its `.mcp.json` was trusted at that place.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_magics.errors import ConfigError, UsageProblem
from agent_magics.extension.config_reader import MAX_BYTES
from agent_magics.extension.switches import SwitchFile, write_private
from agent_magics.messages import JSON
from agent_magics.plain import visible
from agent_magics.tools.mcp.declared import Declared, ProjectFile
from agent_magics.tools.mcp.specs import ServerSpec, server_specs

PROJECT = ".mcp.json"
"""The project's file, as other agents read it."""


@dataclass(frozen=True, slots=True)
class McpSources:
    """The declarations, read afresh at each use.

    Args:
        configured: Those of the configuration file.
        imported: The file that holds what was imported.
        trusted: The file that holds what was trusted.
        switches: Which are switched off.
        root: The folder that the agent works in.
    """

    configured: Callable[[], tuple[ServerSpec, ...]]
    imported: Path
    trusted: Path
    switches: SwitchFile
    root: Callable[[], Path]

    def declared(self) -> Declared:
        """What the files say now; the person's own go before the project's."""
        problems: list[str] = []
        specs = {spec.name: spec for spec in self.configured()}
        for spec in self._imported(problems):
            specs.setdefault(spec.name, spec)
        project = self._project(problems)
        untrusted: ProjectFile | None = None
        if project is not None:
            if self._trusts(project):
                for spec in project.specs:
                    if spec.name in specs:
                        problems.append(
                            f"{PROJECT}: your own MCP server {visible(spec.name)} goes before its"
                        )
                    specs.setdefault(spec.name, spec)
            elif project.specs:
                untrusted = project
        off = {spec.name for spec in specs.values() if spec.disabled}
        disabled = frozenset((*self.switches.disabled(), *off))
        return Declared(tuple(specs.values()), disabled, untrusted, tuple(problems))

    def trust(self, file: ProjectFile) -> None:
        """Trust exactly this content, in place of an older one at the same path.

        Raises:
            ConfigError: It changed meanwhile, or the file of trust cannot be written.
        """
        if (now := self._project([])) is None or now.digest != file.digest:
            raise ConfigError(f"{PROJECT} changed while you were asked; nothing is trusted")
        pairs = {path: digest for path, digest in self._pairs() if path != str(file.path)}
        pairs[str(file.path)] = file.digest
        rows = [{"file": path, "digest": digest} for path, digest in sorted(pairs.items())]
        write_private(self.trusted, json.dumps(rows, indent=1) + "\n")

    def switch(self, name: str, *, on: bool) -> None:
        """Enable or disable a server.

        Raises:
            ConfigError: The file cannot be written.
        """
        self.switches.switch(name, on=on)

    def take(self, path: Path) -> tuple[ServerSpec, ...]:
        """Copy the servers of a JSON file in the common form.

        Raises:
            ConfigError: It cannot be read, or is off; nothing is taken.
        """
        document = _document(path, path.name)
        if document is None:
            raise UsageProblem(f"There is no file {visible(str(path))}.")
        specs = server_specs(document, "imported", visible(path.name))
        mine = _document(self.imported, self.imported.name) or {"mcpServers": {}}
        servers = {**mine.get("mcpServers", {}), **document["mcpServers"]}
        self._write(servers)
        return specs

    def drop(self, name: str) -> bool:
        """Take an imported server back; whether there was one."""
        mine = _document(self.imported, self.imported.name) or {"mcpServers": {}}
        servers = dict(mine.get("mcpServers", {}))
        if servers.pop(name, None) is None:
            return False
        self._write(servers)
        return True

    def _write(self, servers: JSON) -> None:
        write_private(self.imported, json.dumps({"mcpServers": servers}, indent=1) + "\n")

    def _imported(self, problems: list[str]) -> tuple[ServerSpec, ...]:
        try:
            document = _document(self.imported, self.imported.name)
            name = self.imported.name
            return server_specs(document, "imported", name) if document is not None else ()
        except ConfigError as error:
            problems.append(str(error))
            return ()

    def _project(self, problems: list[str]) -> ProjectFile | None:
        path = Path(os.path.realpath(self.root() / PROJECT))
        try:
            document = _document(path, PROJECT)
            if document is None:
                return None
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            return ProjectFile(path, digest, server_specs(document, "project", PROJECT))
        except (ConfigError, OSError) as error:
            problems.append(str(error))
            return None

    def _trusts(self, file: ProjectFile) -> bool:
        return (str(file.path), file.digest) in self._pairs()

    def _pairs(self) -> frozenset[tuple[str, str]]:
        """A file that is off trusts nothing."""
        try:
            rows = json.loads(self.trusted.read_text(encoding="utf-8"))
            return frozenset((str(row["file"]), str(row["digest"])) for row in rows)
        except (OSError, ValueError, TypeError, KeyError):
            return frozenset()


def _document(path: Path, shown: str) -> JSON:
    """A JSON file's content; None when there is none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{shown}: larger than {MAX_BYTES} bytes")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(f"{shown}{where}: not valid JSON") from error
    except (OSError, RecursionError) as error:
        raise ConfigError(f"{shown}: cannot be read ({type(error).__name__})") from error
