"""What a server takes, as a configuration says it: a known server's name, or what differs from one.

profile: vllm
profile: {like: vllm, stream: false}
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from agent_magics.extension.config_reader import Reader
from agent_magics.providers.profiles import CHOICES, Profile
from agent_magics.providers.servers import SERVERS, detected, server_named

if TYPE_CHECKING:
    import yaml


def server_name(node: yaml.Node | None) -> str:
    """The server that a `profile` names, in either form; empty if it names none."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        pairs = {k.value: v.value for k, v in node.value if isinstance(v, yaml.ScalarNode)}
        return str(pairs.get("like", ""))
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def read_profile(reader: Reader, node: yaml.Node, url: str, where: str) -> Profile | None:
    """The record.

    Args:
        reader: Takes the problems.
        node: A server's name, or a mapping.
        url: What is recognised by its address counts where no server is named.
        where: The key, for texts.
    """
    import yaml

    named = server_name(node)
    server = server_named(named)
    if server is None and (named or isinstance(node, yaml.ScalarNode)):
        known = ", ".join(s.name for s in SERVERS)
        reader.wrong(node, f"{where}: there is no {named!r}; there are: {known}")
        return None
    profile = server.profile if server is not None else detected(url)
    if isinstance(node, yaml.ScalarNode):
        return profile
    return _changed(reader, node, profile, where)


def _changed(reader: Reader, node: yaml.Node, profile: Profile, where: str) -> Profile:
    """A record with what a mapping says in place of its own."""
    values = {f.name: getattr(profile, f.name) for f in fields(Profile)}
    for name, value in reader.mapping(node, where).items():
        if name == "like":
            continue
        if name not in values:
            reader.wrong(value, f"{where} has no {name!r}; it has: {', '.join(values)}")
            continue
        match values[name]:
            case bool():
                values[name] = reader.switch(value, f"{where}.{name}")
            case int():
                text = reader.text(value, f"{where}.{name}")
                if not text.isdecimal() or int(text) < 8:
                    reader.wrong(value, f"{where}.{name} is a whole number from 8 on")
                    continue
                values[name] = int(text)
            case frozenset():
                values[name] = frozenset(reader.texts(value, f"{where}.{name}"))
            case _:
                text = reader.text(value, f"{where}.{name}")
                if name in CHOICES and text not in CHOICES[name]:
                    reader.wrong(value, f"{where}.{name} is one of {', '.join(CHOICES[name])}")
                    continue
                values[name] = text
    return Profile(**values)
