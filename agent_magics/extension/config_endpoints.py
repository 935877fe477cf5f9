"""Named endpoints of the user's configuration: how they are written, and what is refused there.

    endpoints:
      NAME:
        base_url: https://host/v1          # not needed where `profile` has one of its own
        model: NAME                        # asked when only the endpoint is named
        api_key_env: VARIABLE              # one of three: a variable,
        api_key_command: [pass, show, x]   # a command that prints the key, run without a shell,
        api_key_keyring: SERVICE/USER      # or the system's keyring (extra `keyring`)
        headers: {X-Team: blue, api-key: {env: VARIABLE}}
        ca_file: ~/company.pem
        proxy: http://proxy:3128           # or {env: VARIABLE}, or none
        timeout: {connect: 10, first: 300, idle: 90}
        profile: vllm                      # or {like: vllm, stream: false}
        small: on                          # the profile for small models: auto, on, off

Only the user's own file has them. No secret stands in it: a key, a password in a URL, a header
whose name says that it is one, each is refused with the remedy, and never repeated.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_magics.extension.config_profile import read_profile, server_name
from agent_magics.extension.config_reader import Reader
from agent_magics.extension.named_endpoints import (
    Command,
    Keyring,
    KeySource,
    NamedEndpoint,
    Value,
    Variable,
)
from agent_magics.magics.small import SETTINGS as SMALL
from agent_magics.providers.endpoint import Timeouts
from agent_magics.providers.servers import SERVERS, server_named
from agent_magics.tools.redaction import says_secret
from agent_magics.tools.secret_tokens import token_spans

if TYPE_CHECKING:
    import yaml

LONGEST_WAIT = 3600.0
"""Seconds; a larger time-out is taken for a slip."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_KEYS = ("api_key_env", "api_key_command", "api_key_keyring")
_FIELDS = (
    "base_url",
    "model",
    *_KEYS,
    "headers",
    "ca_file",
    "proxy",
    "timeout",
    "profile",
    "small",
)
NO_KEY_HERE = (
    "a secret does not belong into a file: put it into a variable and name that with api_key_env, "
    "or into a password store (api_key_command) or the keyring (api_key_keyring)"
)


def read_endpoints(reader: Reader, node: yaml.Node) -> tuple[NamedEndpoint, ...]:
    """The endpoints of the file; each problem is noted with its line."""
    found: list[NamedEndpoint] = []
    for name, value in reader.mapping(node, "endpoints").items():
        if not _NAME.fullmatch(name):
            reader.wrong(
                value, f"an endpoint's name has letters, digits, '.', '_' and '-', not {name!r}"
            )
            continue
        before = len(reader.problems)
        endpoint = _endpoint(reader, name, value)
        if len(reader.problems) == before:
            found.append(endpoint)
    return tuple(found)


def chosen_endpoint(reader: Reader, node: yaml.Node, endpoints: Sequence[NamedEndpoint]) -> str:
    """The name of the endpoint that answers; it must be one of the file's."""
    name = reader.text(node, "endpoint")
    if name and not any(endpoint.name == name for endpoint in endpoints):
        known = ", ".join(endpoint.name for endpoint in endpoints) or "none"
        reader.wrong(node, f"endpoint: there is no {name!r} among the endpoints ({known})")
    return name


def _endpoint(reader: Reader, name: str, node: yaml.Node) -> NamedEndpoint:
    where = f"endpoints.{name}"
    parts = reader.mapping(node, where)
    for key, value in parts.items():
        if key in ("api_key", "key", "token", "password"):
            reader.wrong(value, f"{where}.{key}: {NO_KEY_HERE}")
        elif key not in _FIELDS:
            reader.wrong(value, f"{where} has no {key!r}; it has: {', '.join(_FIELDS)}")
    url = _url(reader, name, node, parts, where)
    at = f"{where}.profile"
    return NamedEndpoint(
        name=name,
        base_url=url,
        model=reader.text(parts["model"], f"{where}.model") if "model" in parts else "",
        key=_key(reader, parts, where),
        headers=_headers(reader, parts["headers"], where) if "headers" in parts else {},
        ca_file=_ca_file(reader, parts["ca_file"], where) if "ca_file" in parts else None,
        proxy=_proxy(reader, parts["proxy"], where) if "proxy" in parts else None,
        timeout=_timeouts(reader, parts["timeout"], where) if "timeout" in parts else Timeouts(),
        profile=read_profile(reader, parts["profile"], url, at) if "profile" in parts else None,
        server=server_name(parts.get("profile")),
        small=_small(reader, parts["small"], where) if "small" in parts else "auto",
    )


def _small(reader: Reader, node: yaml.Node, where: str) -> str:
    value = reader.text(node, f"{where}.small").lower()
    if value not in SMALL:
        reader.wrong(node, f"{where}.small must be one of {', '.join(SMALL)}")
    return value


def _url(
    reader: Reader, name: str, node: yaml.Node, parts: Mapping[str, yaml.Node], where: str
) -> str:
    """The base URL: given, or the one that all users of a hosted server have."""
    if "base_url" not in parts:
        server = server_named(server_name(parts.get("profile")) or name)
        if server is None or not server.url:
            known = ", ".join(s.name for s in SERVERS if s.url)
            reader.wrong(node, f"{where} needs base_url; only these have one of their own: {known}")
            return ""
        return server.url
    url, at = reader.text(parts["base_url"], f"{where}.base_url"), parts["base_url"]
    if _has_password(url):
        reader.wrong(at, f"{where}.base_url holds a user or password: {NO_KEY_HERE}")
    elif problem := _no_url(url):
        reader.wrong(at, f"{where}.base_url {problem}; it looks like https://host/v1")
    return url


def _no_url(url: str) -> str:
    """What keeps a text from being an HTTP address; empty if nothing does."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as wrong:
        return f"cannot be read ({wrong})"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "is no address"
    return "holds a blank" if " " in url or not url.isprintable() else ""


def looks_like_key(text: str) -> bool:
    """Whether a text has the form of a secret."""
    return any(True for _ in token_spans(text))


def _has_password(url: str) -> bool:
    return "@" in url.partition("://")[2].partition("/")[0]


def _key(reader: Reader, parts: Mapping[str, yaml.Node], where: str) -> KeySource | None:
    given = [name for name in _KEYS if name in parts]
    if len(given) > 1:
        reader.wrong(parts[given[1]], f"{where} has {' and '.join(given)}: one is enough")
    if not given:
        return None
    kind, node = given[0], parts[given[0]]
    if kind == "api_key_command":
        return _command(reader, node, f"{where}.{kind}")
    text = reader.text(node, f"{where}.{kind}")
    if kind == "api_key_env":
        return _variable(reader, node, text, f"{where}.{kind}")
    service, _, user = text.partition("/")
    if not service or not user:
        reader.wrong(node, f"{where}.{kind} is written SERVICE/USER")
    return Keyring(service, user)


def variable_name(reader: Reader, node: yaml.Node) -> str:
    """The name that `api_key_env` of the file itself has."""
    return _variable(reader, node, reader.text(node, "api_key_env"), "api_key_env").name


def _variable(reader: Reader, node: yaml.Node, name: str, where: str) -> Variable:
    """A variable's name; what looks like the key itself is not repeated."""
    if looks_like_key(name) or not _VARIABLE.fullmatch(name) or len(name) > 60:
        reader.wrong(node, f"{where} is the name of a variable, not the key itself: {NO_KEY_HERE}")
        return Variable("")
    return Variable(name)


def _command(reader: Reader, node: yaml.Node, where: str) -> Command:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        words = reader.texts(node, where)
    else:
        try:
            words = tuple(shlex.split(reader.text(node, where)))
        except ValueError as wrong:
            reader.wrong(node, f"{where} cannot be read: {wrong}")
            return Command(())
    if not words or not words[0]:
        reader.wrong(node, f"{where} is empty")
    elif any(looks_like_key(word) for word in words):
        reader.wrong(node, f"{where} holds what looks like a key: {NO_KEY_HERE}")
    return Command(words)


def _value(reader: Reader, node: yaml.Node, where: str) -> Value:
    """A text, or `{env: VARIABLE}`."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return reader.text(node, where)
    parts = reader.mapping(node, where)
    if set(parts) != {"env"}:
        reader.wrong(node, f"{where} is a text, or {{env: VARIABLE}}")
        return ""
    return _variable(reader, parts["env"], reader.text(parts["env"], where), where)


def _headers(reader: Reader, node: yaml.Node, where: str) -> Mapping[str, Value]:
    found: dict[str, Value] = {}
    for name, value in reader.mapping(node, f"{where}.headers").items():
        at = f"{where}.headers.{name}"
        if not _HEADER.fullmatch(name):
            reader.wrong(value, f"{where}.headers: {name!r} cannot be the name of a header")
            continue
        content = _value(reader, value, at)
        if isinstance(content, str):
            secret = says_secret(name.replace("-", "_")) or name.lower() in (
                "authorization",
                "proxy-authorization",
                "cookie",
            )
            if secret or looks_like_key(content):
                reader.wrong(value, f"{at} is a secret; write {{env: VARIABLE}} in its place")
                continue
            if not content.isascii() or not content.isprintable():
                reader.wrong(value, f"{at} holds characters that no header can")
        found[name] = content
    return found


def _ca_file(reader: Reader, node: yaml.Node, where: str) -> Path | None:
    path = Path(reader.text(node, f"{where}.ca_file")).expanduser()
    if not path.is_absolute():
        reader.wrong(node, f"{where}.ca_file must begin with / or ~, not depend on a folder")
        return None
    return path


def _proxy(reader: Reader, node: yaml.Node, where: str) -> Value:
    value = _value(reader, node, f"{where}.proxy")
    if isinstance(value, Variable) or value in ("none", "direct"):
        return "" if isinstance(value, str) else value
    if _has_password(value):
        reader.wrong(
            node, f"{where}.proxy holds a user or password; write {{env: VARIABLE}} in its place"
        )
    elif problem := proxy_problem(value):
        reader.wrong(node, f"{where}.proxy {problem}")
    return value


def proxy_problem(url: str) -> str:
    """What keeps a text from being a proxy's address; empty if nothing does."""
    if url.startswith(("socks5://", "socks5h://")):
        url = url.replace("socks5h://", "http://").replace("socks5://", "http://")
    problem = _no_url(url)
    return f"{problem}; it looks like http://host:3128, or none" if problem else ""


def _timeouts(reader: Reader, node: yaml.Node, where: str) -> Timeouts:
    known = {f.name: getattr(Timeouts(), f.name) for f in fields(Timeouts)}
    for name, value in reader.mapping(node, f"{where}.timeout").items():
        if name not in known:
            reader.wrong(value, f"{where}.timeout has {', '.join(known)}, not {name!r}")
            continue
        try:
            seconds = float(reader.text(value, f"{where}.timeout.{name}"))
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= LONGEST_WAIT:
            reader.wrong(value, f"{where}.timeout.{name} is a number of seconds up to 3600")
            continue
        known[name] = seconds
    return Timeouts(**known)
