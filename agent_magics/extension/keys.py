"""Keys of named endpoints: found when they are needed, held in memory, never shown.

A variable is looked at each time, since code can change it. A command or the keyring is asked once,
and again when the person chooses the endpoint anew. Values of headers and proxies that stand in
variables are found here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_magics.errors import UsageProblem
from agent_magics.extension.key_command import printed_key
from agent_magics.extension.named_endpoints import (
    Command,
    Keyring,
    KeySource,
    NamedEndpoint,
    Value,
    Variable,
)
from agent_magics.extension.system_keyring import keyring_password


@dataclass(slots=True)
class Keys:
    """The keys of one shell's endpoints.

    Args:
        variables: The environment.
        run: Runs a command that prints a key.
        keyring: Asks the keyring for a service and a user.
        kept: What a command or the keyring gave; shared where many turns run at once.
    """

    variables: Mapping[str, str]
    run: Callable[[Sequence[str]], str] = printed_key
    keyring: Callable[[str, str], str] = keyring_password
    kept: dict[tuple[str, KeySource], str] = field(default_factory=dict, repr=False)

    def of(self, endpoint: NamedEndpoint) -> str:
        """The endpoint's key; empty if it needs none. May run a command, or wait for a person.

        Raises:
            UsageProblem: There is none; the message says what to do.
        """
        known = self.known(endpoint)
        if known or endpoint.key is None:
            return known
        match endpoint.key:
            case Variable(name):
                raise _unset(name, f"the key of the endpoint {endpoint.name}")
            case Command(words):
                key = self.run(words)
            case Keyring(service, user):
                key = self.keyring(service, user).strip()
        self.kept[endpoint.name, endpoint.key] = key
        return key

    def prepare(self, endpoint: NamedEndpoint) -> None:
        """Fetch a key that takes its time, where an interrupt ends the wait at once.

        Raises:
            UsageProblem: See `of`.
        """
        if isinstance(endpoint.key, Command | Keyring):
            self.of(endpoint)

    def known(self, endpoint: NamedEndpoint) -> str:
        """The key as far as it is known without running anything; empty if it is not."""
        match endpoint.key:
            case None:
                return ""
            case Variable(name):
                return self.variables.get(name, "").strip()
            case source:
                return self.kept.get((endpoint.name, source), "")

    def forget(self, name: str) -> None:
        """Ask for an endpoint's key again when it is needed next: keys run out."""
        for entry in [entry for entry in self.kept if entry[0] == name]:
            del self.kept[entry]

    def value(self, value: Value, what: str) -> str:
        """A text of the configuration, or of the variable that it names.

        Raises:
            UsageProblem: The variable is not set.
        """
        if isinstance(value, str):
            return value
        found = self.variables.get(value.name, "").strip()
        if not found:
            raise _unset(value.name, what)
        return found

    def secrets(self, endpoints: Iterable[NamedEndpoint]) -> tuple[str, ...]:
        """All that is known and must not be passed on, each `NAME=value`; runs nothing."""
        found = [f"{_word(name)}_KEY={key}" for (name, _), key in self.kept.items() if key]
        found.extend(
            f"{name}={value.strip()}"
            for name in variables_of(endpoints)
            if (value := self.variables.get(name))
        )
        return tuple(found)


def variables_of(endpoints: Iterable[NamedEndpoint]) -> tuple[str, ...]:
    """The variables in which endpoints have their keys and other secrets."""
    return tuple(
        source.name
        for endpoint in endpoints
        for source in (endpoint.key, endpoint.proxy, *endpoint.headers.values())
        if isinstance(source, Variable)
    )


def source_of(source: KeySource | None) -> str:
    """Where a key comes from, for a person; the key itself has no part in it."""
    match source:
        case None:
            return ""
        case Variable(name):
            return name
        case Command(words):
            return f"the command {words[0]}"
        case Keyring(service, user):
            return f"the keyring ({service}/{user})"


def _unset(variable: str, what: str) -> UsageProblem:
    return UsageProblem(
        f"The variable {variable} is to hold {what}, and it is not set. Set it before Jupyter "
        "starts, or name another source in your config.yaml."
    )


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()
