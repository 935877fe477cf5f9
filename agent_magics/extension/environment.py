"""The one reader of the process's environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Environment:
    """What the environment says, as far as this package looks.

    Args:
        model: `AGENT_MAGICS_MODEL`.
        base_url: `AGENT_MAGICS_BASE_URL`, else `OPENAI_BASE_URL`.
        api_key: `AGENT_MAGICS_API_KEY`, else `OPENAI_API_KEY`; never shown.
        sources: For each of the three, the name of the variable that gave it.
        approve: `AGENT_MAGICS_APPROVE`: names of tools whose calls run without a question …
        approve_in: … while the workspace lies in this folder, `AGENT_MAGICS_APPROVE_IN`.
        config: `AGENT_MAGICS_CONFIG`: the user's configuration file, instead of the platform's.
        data: `AGENT_MAGICS_DATA`: the folder for what is kept, instead of the platform's.
        session_name: `JPY_SESSION_NAME`: the notebook that a Jupyter server started the kernel for.
        replay_strict: True when `AGENT_MAGICS_REPLAY_STRICT` is `1`: a replay that goes otherwise
            than recorded is an error.
        local_servers: False when `AGENT_MAGICS_LOCAL_SERVERS` is `0`: do not look for servers.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    sources: Mapping[str, str] | None = None
    approve: tuple[str, ...] = ()
    approve_in: Path | None = None
    config: Path | None = None
    data: Path | None = None
    local_servers: bool = True
    session_name: str = ""
    replay_strict: bool = False

    def __repr__(self) -> str:
        return f"Environment(model={self.model!r}, base_url={self.base_url!r})"

    def source(self, field: str) -> str:
        """The variable that gave `model`, `base_url` or `api_key`."""
        return (self.sources or {}).get(field, "")


def read_environment(variables: Mapping[str, str]) -> Environment:
    """Pick out what matters; empty values count as not set."""
    sources: dict[str, str] = {}

    def first(field: str, *names: str) -> str:
        for name in names:
            value = variables.get(name, "").strip()
            if value:
                sources[field] = name
                return value
        return ""

    inside = variables.get("AGENT_MAGICS_APPROVE_IN", "").strip()
    config = variables.get("AGENT_MAGICS_CONFIG", "").strip()
    data = variables.get("AGENT_MAGICS_DATA", "").strip()
    approve = variables.get("AGENT_MAGICS_APPROVE", "").replace(",", " ").split()
    return Environment(
        model=first("model", "AGENT_MAGICS_MODEL"),
        base_url=first("base_url", "AGENT_MAGICS_BASE_URL", "OPENAI_BASE_URL"),
        api_key=first("api_key", "AGENT_MAGICS_API_KEY", "OPENAI_API_KEY"),
        sources=sources,
        approve=tuple(approve) if inside else (),
        approve_in=Path(inside) if inside else None,
        config=Path(config).expanduser() if config else None,
        data=Path(data).expanduser() if data else None,
        session_name=variables.get("JPY_SESSION_NAME", "").strip(),
        replay_strict=variables.get("AGENT_MAGICS_REPLAY_STRICT", "").strip() == "1",
        local_servers=variables.get("AGENT_MAGICS_LOCAL_SERVERS", "").strip() != "0",
    )
