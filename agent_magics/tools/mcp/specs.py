"""How an MCP server is started or reached, as it is configured. Pure values.

Reads the common form (`command`, `args`, `env`, `cwd`, or `url`, `headers`), whoever wrote the
file. Owns how `${NAME}` is filled in, and what of a server may be shown: never a value of `env` or
`headers`, never what `${NAME}` stands for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from agent_magics.errors import ConfigError
from agent_magics.messages import JSON
from agent_magics.plain import visible

Origin: TypeAlias = Literal["user", "imported", "project"]

STARTUP_SECONDS = 30.0
"""Until a server must have answered; `npx` and `uvx` download on their first start."""
CALL_SECONDS = 120.0
"""Until a call must have ended: as of `run_shell`."""
LONGEST = 3600.0
MAX_SERVERS = 50
"""In one file."""
_NAME = re.compile(r"[\w.@ -]{1,64}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_LOCAL = ("command", "args", "env", "cwd")
_REMOTE = ("url", "headers")
_BOTH = ("type", "timeout", "startup_timeout", "disabled")
_OTHERS_WORDS = frozenset(
    ("autoApprove", "alwaysAllow", "description", "transportType", "trust", "icon", "name")
)
"""Keys that other agents write; they are passed over. What approves is never taken over."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server.

    Args:
        name: What the person calls it.
        command: The program of a local server; empty for one that is reached by its address.
        args: Its arguments.
        env: Further variables of its environment, as pairs; `${NAME}` not yet filled in.
        cwd: Where it runs; empty: in the workspace.
        url: The address of a server that runs elsewhere.
        headers: Sent with each request, as pairs; `${NAME}` not yet filled in.
        startup_timeout: Seconds until it must have answered.
        timeout: Seconds until a call must have ended.
        origin: Who says so: the person's configuration, a file they imported, or the project.
        disabled: Whether its own entry switches it off.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    startup_timeout: float = STARTUP_SECONDS
    timeout: float = CALL_SECONDS
    origin: Origin = "user"
    disabled: bool = False

    def __repr__(self) -> str:
        return f"ServerSpec({self.name!r}, {self.where!r})"

    @property
    def where(self) -> str:
        """The command line or the address in one line, as written; values are left out."""
        if self.command:
            return visible(" ".join((self.command, *self.args)))
        parts = urlsplit(self.url)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        return visible(shown + ("?…" if parts.query else ""))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables of this process's environment that it wants to know."""
        texts = (self.command, *self.args, self.cwd, self.url)
        values = (value for _, value in (*self.env, *self.headers))
        found = (name for text in (*texts, *values) for name, _ in VARIABLE.findall(text))
        return tuple(dict.fromkeys(found))


def server_spec(name: str, entry: JSON, origin: Origin) -> ServerSpec:
    """The server of one entry.

    Raises:
        ConfigError: It is off; the message names the server and says what to change.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"MCP server {visible(name[:80])!r}: a name has up to 64 letters, digits, - _ . or @"
        )
    if not isinstance(entry, Mapping):
        raise _off(name, "must be a mapping with command or url")
    unknown = set(entry) - {*_LOCAL, *_REMOTE, *_BOTH, *_OTHERS_WORDS}
    if unknown:
        known = ", ".join((*_LOCAL, *_REMOTE, *_BOTH))
        raise _off(name, f"unknown key {visible(str(min(unknown, key=str)))!r}; there are: {known}")
    command, url = _text(name, entry, "command"), _text(name, entry, "url")
    if bool(command) == bool(url):
        raise _off(name, "needs either command (a program) or url (an address)")
    _check_kind(name, _text(name, entry, "type"), url)
    return ServerSpec(
        name,
        command,
        _args(name, entry.get("args")),
        _pairs(name, "env", entry.get("env")),
        _text(name, entry, "cwd"),
        url,
        _pairs(name, "headers", entry.get("headers")),
        _seconds(name, "startup_timeout", entry.get("startup_timeout"), STARTUP_SECONDS),
        _seconds(name, "timeout", entry.get("timeout"), CALL_SECONDS),
        origin,
        entry.get("disabled") is True,
    )


def server_specs(document: JSON, origin: Origin, file: str) -> tuple[ServerSpec, ...]:
    """The servers of a JSON file in the common form, `{"mcpServers": {NAME: {…}}}`.

    Raises:
        ConfigError: It is off; nothing of it can be taken.
    """
    servers = document.get("mcpServers") if isinstance(document, Mapping) else None
    if not isinstance(servers, Mapping):
        raise ConfigError(f'{file}: must be {{"mcpServers": {{NAME: {{"command": …}}}}}}')
    if len(servers) > MAX_SERVERS:
        raise ConfigError(f"{file}: more than {MAX_SERVERS} servers")
    try:
        return tuple(server_spec(str(name), entry, origin) for name, entry in servers.items())
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def filled(spec: ServerSpec, variables: Mapping[str, str], refused: Collection[str]) -> ServerSpec:
    """The server with `${NAME}` and `${NAME:-default}` filled in; for starting, never for showing.

    Args:
        spec: As configured.
        variables: The environment.
        refused: Variables that this server may not be told.

    Raises:
        ConfigError: A variable is not set, or may not be told.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name in refused:
            raise _off(spec.name, f"{name} holds a key of yours; a project may not ask for it")
        found = variables.get(name)
        if found is None and default is None:
            raise _off(spec.name, f"the variable {name} is not set; set it before Jupyter starts")
        return found if found is not None else default

    def fill(text: str) -> str:
        return VARIABLE.sub(value, text)

    return ServerSpec(
        spec.name,
        fill(spec.command),
        tuple(fill(word) for word in spec.args),
        tuple((key, fill(text)) for key, text in spec.env),
        fill(spec.cwd),
        fill(spec.url),
        tuple((key, fill(text)) for key, text in spec.headers),
        spec.startup_timeout,
        spec.timeout,
        spec.origin,
        spec.disabled,
    )


def fingerprint(spec: ServerSpec) -> str:
    """Tells whether a running server is still the one that is configured."""
    parts = (spec.command, spec.args, spec.env, spec.cwd, spec.url, spec.headers)
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "replace")).hexdigest()


def shown(spec: ServerSpec) -> str:
    """Everything about a server that a person must see before they trust it, and no value."""
    lines = [f"server {visible(spec.name)}"]
    if spec.command:
        lines.append("  runs on this machine, with your rights:")
        lines += [f"    {visible(word)}" for word in (spec.command, *spec.args)]
        lines.append(f"  in: {visible(spec.cwd) or 'the workspace'}")
    else:
        # Whole: a part that is left out could be where a secret goes to.
        lines.append(f"  is asked at: {visible(spec.url)}")
    for title, pairs in (("variables that it sets", spec.env), ("headers", spec.headers)):
        if pairs:
            lines.append(f"  {title}: {', '.join(visible(key) for key, _ in pairs)}")
    if spec.variables:
        lines.append(f"  is told these variables of yours: {', '.join(spec.variables)}")
    return "\n".join(lines)


def _off(name: str, what: str) -> ConfigError:
    return ConfigError(f"MCP server {visible(name)}: {what}")


def _text(name: str, entry: Mapping[str, JSON], key: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        raise _off(name, f"{key} must be a text")
    return value.strip()


def _check_kind(name: str, kind: str, url: str) -> None:
    if kind == "sse":
        raise _off(name, "type sse is the old transport, which is not supported; use its http url")
    fitting = ("http", "streamable-http", "streamableHttp") if url else ("stdio",)
    if kind and kind not in fitting:
        raise _off(name, f"type {visible(kind)!r} does not go with {'url' if url else 'command'}")
    parts = urlsplit(url) if url else None
    if parts is not None and (parts.scheme not in ("http", "https") or not parts.netloc):
        raise _off(name, "url must begin with http:// or https://")


def _args(name: str, value: JSON) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(
        isinstance(word, str | int | float) and not isinstance(word, bool) for word in value
    ):
        raise _off(name, "args must be a list of texts")
    return tuple(str(word) for word in value)


def _pairs(name: str, key: str, value: JSON) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str | int | float) for text in value.values()
    ):
        raise _off(name, f"{key} must be a mapping of names to texts")
    pairs = tuple((str(k), _word(v)) for k, v in value.items())
    if any(not k or "\0" in k + v or "=" in k or "\n" in k for k, v in pairs):
        raise _off(name, f"a name in {key} cannot be one")
    return pairs


def _word(value: JSON) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seconds(name: str, key: str, value: JSON, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
        raise _off(name, f"{key} must be seconds, above 0 and up to {LONGEST:g}")
    return float(value)
