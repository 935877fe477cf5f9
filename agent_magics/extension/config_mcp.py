"""The key `mcp_servers` (or `mcpServers`) of the person's configuration file, in the common form.

mcp_servers:
  git: {command: uvx, args: [mcp-server-git]}
  docs: {url: "https://host/mcp", headers: {Authorization: "Bearer ${DOCS_TOKEN}"}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import ConfigError
from agent_magics.tools.mcp.specs import ServerSpec, server_spec

if TYPE_CHECKING:
    import yaml

    from agent_magics.extension.config_reader import Reader

KEYS = ("mcp_servers", "mcpServers")
"""Both ways of writing it; what stands under either counts."""


def mcp_servers(reader: Reader, entries: dict[str, yaml.Node]) -> tuple[ServerSpec, ...]:
    """The servers of a file; what is off is reported with its line.

    Args:
        reader: Of the file.
        entries: All its keys.
    """
    import yaml

    found: dict[str, ServerSpec] = {}
    for key in KEYS:
        node = entries.get(key)
        if node is None or reader.source == "project":
            continue
        for name, entry in reader.mapping(node, key).items():
            if name in found:
                reader.wrong(entry, f"MCP server {name!r} is given twice")
                continue
            try:
                plain = yaml.safe_load(yaml.serialize(entry))
                found[name] = server_spec(name, plain, "user")
            except ConfigError as error:
                reader.wrong(entry, str(error))
            except (yaml.YAMLError, RecursionError, ValueError):
                reader.wrong(entry, f"MCP server {name!r} cannot be read")
    return tuple(found.values())
