"""Named endpoints at work: which one is meant, its connection, and the models that it lists.

A listing is kept for a while, so that completion has names at hand; completion itself never waits
for a server longer than a moment, runs no command, and is silent about failures.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_magics.errors import AgentMagicsError, ToolError, UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.config_endpoints import proxy_problem
from agent_magics.extension.keys import Keys, source_of
from agent_magics.extension.named_endpoints import NamedEndpoint, Variable
from agent_magics.importing import installed_only
from agent_magics.magics.background import in_background
from agent_magics.magics.services import EndpointRow
from agent_magics.providers.endpoint import Endpoint
from agent_magics.providers.place import shown_url
from agent_magics.providers.servers import server_at, server_named
from agent_magics.tools.web.proxies import proxies_of, proxy_for
from agent_magics.tools.web.urls import parsed

FRESH = 300.0
"""Seconds for which a listing is good for completion."""
GLANCE = 0.15
"""Seconds that completion waits for a listing which is on its way."""
RETRY = 30.0
"""Seconds after a failed listing in which completion does not ask again."""


@dataclass(slots=True)
class NamedModels:
    """The named endpoints of one shell.

    Args:
        configuration: Read afresh by its owner.
        keys: Of the endpoints.
        variables: The environment, for its proxies.
        list_models: Asks an endpoint for its models.
        clock: Seconds.
    """

    configuration: Callable[[], Configuration]
    keys: Keys
    variables: Mapping[str, str]
    list_models: Callable[[Endpoint], tuple[str, ...]]
    clock: Callable[[], float] = time.monotonic
    _listings: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    _running: dict[str, threading.Thread] = field(default_factory=dict, repr=False)

    def connection(self, named: NamedEndpoint) -> Endpoint:
        """Where and how it is asked; may run the command that prints its key.

        Raises:
            UsageProblem: A key or another value that it needs is not there.
        """
        what = f"of the endpoint {named.name}"
        headers = {
            name: self.keys.value(value, f"the header {name} {what}")
            for name, value in named.headers.items()
        }
        proxy = None if named.proxy is None else self.keys.value(named.proxy, f"the proxy {what}")
        if isinstance(named.proxy, Variable) and proxy and proxy_problem(proxy):
            raise UsageProblem(
                f"The variable {named.proxy.name} is to hold the proxy {what}, and holds no "
                "address like http://user:password@host:3128."
            )
        return Endpoint(
            named.base_url,
            self.keys.of(named),
            headers,
            named.timeout,
            profile=named.profile,
            name=named.name,
            server=named.server,
            key_from=source_of(named.key),
            proxy=proxy,
            via=environment_proxy(named.base_url, self.variables),
            ca_file=named.ca_file,
        )

    # ---- what the magics ask: see `services.Endpoints`

    def rows(self) -> tuple[EndpointRow, ...]:
        """The endpoints, for a table; nothing is contacted and no key is fetched."""
        return tuple(
            EndpointRow(
                name=named.name,
                where=shown_url(named.base_url),
                server=(server_named(named.server) or server_at(named.base_url)).title,
                model=named.model,
                key=self._key_state(named),
            )
            for named in self.configuration().endpoints
        )

    def models(self, name: str) -> tuple[str, ...]:
        """The models that an endpoint lists, asked now.

        Raises:
            UsageProblem: There is no such endpoint, or its key is not there.
            ModelError: It cannot be asked.
        """
        found = meant(name, self.configuration().endpoints)
        if found is None:
            known = ", ".join(row.name for row in self.rows()) or "none"
            raise UsageProblem(f"There is no endpoint {name!r} in your config.yaml ({known}).")
        names = self.list_models(self.connection(found[0]))
        self._listings[found[0].name] = (self.clock(), names)
        return names

    def words(self, token: str) -> Sequence[str]:
        """What `%agent model` can be completed to: endpoints, and models of the one begun."""
        endpoints = self.configuration().endpoints
        begun = next((e for e in endpoints if token.startswith(f"{e.name}/")), None)
        if begun is None:
            return [e.name for e in endpoints]
        return [f"{begun.name}/{model}" for model in self._glanced(begun)]

    def forget_key(self, reference: str) -> None:
        """Ask for the key anew when the endpoint is used next."""
        self.keys.forget(reference.partition("/")[0])

    # ---- parts

    def _key_state(self, named: NamedEndpoint) -> str:
        if named.key is None:
            return "none"
        there = isinstance(named.key, Variable) and not self.keys.known(named)
        return source_of(named.key) + (" (not set)" if there else "")

    def _glanced(self, named: NamedEndpoint) -> tuple[str, ...]:
        """The models as far as they are known, or come within a moment."""
        asked, names = self._listings.get(named.name, (None, ()))
        good = FRESH if names else RETRY
        if asked is not None and self.clock() - asked < good:
            return names
        if named.key is not None and not self.keys.known(named):
            return names  # only a command or the keyring would tell; that is not for a key press
        thread = self._running.get(named.name)
        if thread is None or not thread.is_alive():
            thread = threading.Thread(target=self._look, args=(named,), daemon=True)
            self._running[named.name] = thread
            thread.start()
        thread.join(GLANCE)
        return self._listings.get(named.name, (0.0, names))[1]

    def _look(self, named: NamedEndpoint) -> None:
        try:
            names = self.list_models(self.connection(named))
        except AgentMagicsError:
            names = ()  # `%agent models` says what is wrong
        self._listings[named.name] = (self.clock(), names)


def meant(reference: str, endpoints: Iterable[NamedEndpoint]) -> tuple[NamedEndpoint, str] | None:
    """The endpoint and the model that `NAME` or `NAME/model` stands for; None: neither."""
    name, _, model = reference.partition("/")
    endpoint = next((endpoint for endpoint in endpoints if endpoint.name == name), None)
    return None if endpoint is None else (endpoint, model)


def listed(endpoint: Endpoint) -> tuple[str, ...]:
    """The models of an endpoint, over the connection that its answers use.

    Raises:
        ModelError: It cannot be asked.
    """
    with installed_only():
        from agent_magics.providers.openai import OpenAIModel, preload

        preload()
    model = OpenAIModel("", endpoint=endpoint)

    async def ask() -> tuple[str, ...]:
        try:
            return await model.models()
        finally:
            await model.aclose()

    return in_background(ask)


def environment_proxy(url: str, variables: Mapping[str, str]) -> str:
    """The proxy that the environment names for an address; empty: none."""
    try:
        return proxy_for(parsed(url), proxies_of(variables)) or ""
    except ToolError:
        return ""
