"""Which model answers, and why: setting, named endpoint, environment, a server here, demonstration.

Nothing is contacted at load: servers on this machine are looked for when a model is first needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.config_prices import price_of
from agent_magics.extension.dotenv import not_the_projects
from agent_magics.extension.environment import Environment
from agent_magics.extension.keys import Keys
from agent_magics.extension.named_choice import NamedChoice
from agent_magics.extension.named_endpoints import NamedEndpoint
from agent_magics.extension.named_models import NamedModels, environment_proxy, listed
from agent_magics.extension.replays import PREFIX as REPLAY
from agent_magics.extension.replays import Replays, replay_choice, wanted
from agent_magics.extension.settled import as_set
from agent_magics.importing import installed_only
from agent_magics.magics.services import ModelChoice, ModelSettings
from agent_magics.ports import Model
from agent_magics.pricing import Price
from agent_magics.providers.demonstration import NAME as DEMONSTRATION
from agent_magics.providers.demonstration import demonstration
from agent_magics.providers.endpoint import Endpoint, Learnt
from agent_magics.providers.exchanges import RequestLog
from agent_magics.providers.local import Found, find_servers
from agent_magics.providers.prices import library_price
from agent_magics.providers.profiles import OPENAI_URL
from agent_magics.providers.served import Served, by_name, served

DEFAULT_MODEL = "gpt-5-mini"
"""Asked for when there is a key for OpenAI's own endpoint and nobody named a model."""
RECHECK = 30.0
"""Seconds for which a look for servers on this machine stays good."""


@dataclass(slots=True)
class ModelChooser:
    """Answers "which model, and why" afresh for each turn.

    Args:
        environment: What the process's environment says.
        variables: For the variable that a configuration names for the key.
        configuration: Read afresh by its owner.
        find: Looks for servers on this machine.
        clock: Seconds.
        learnt: What endpoints taught before.
        root: The workspace: recordings are looked for in it, and its `.env` must not decide where
            a key goes.
        log: Writes requests while somebody wants it.
        kept: Keys that commands and the keyring gave; see `Keys`.
    """

    environment: Environment
    variables: Mapping[str, str]
    configuration: Callable[[], Configuration]
    find: Callable[[], tuple[Found, ...]] = find_servers
    clock: Callable[[], float] = time.monotonic
    learnt: Learnt = field(default_factory=Learnt)
    root: Callable[[], Path] = Path.cwd
    log: RequestLog = field(default_factory=RequestLog)
    kept: dict[Any, str] = field(default_factory=dict, repr=False)
    named: NamedModels = field(init=False)
    _replays: Replays = field(default_factory=Replays)
    _found: tuple[Found, ...] = ()
    _looked: float | None = None
    _keys: dict[str, str] = field(default_factory=dict, repr=False)
    _known: dict[tuple[str, str], tuple[float, Served]] = field(default_factory=dict)
    _made: dict[tuple[str, Endpoint], Model] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keys = Keys(self.variables, kept=self.kept)
        self.named = NamedModels(self.configuration, keys, self.variables, listed)

    def __call__(self, settings: ModelSettings) -> ModelChoice:
        """The model for these settings.

        Args:
            settings: What the person set in this kernel; empty fields are not set.

        Raises:
            UsageProblem: An endpoint is named but no model, and it does not offer exactly one.
        """
        config = self.configuration()
        environment = self.environment
        if settings.model == DEMONSTRATION:
            return self._demonstration("chosen with %agent model demonstration")
        model, model_from = _first(
            (settings.model, settings.model_from or "%config AgentMagics.model"),
            (config.model, "your config.yaml"),
            (environment.model, environment.source("model")),
        )
        if model.startswith(REPLAY):
            return self._replay(model, f"model from {model_from}", settings)
        by_name = NamedChoice(self.named, environment, self._model, self._price, self._served)
        if (named := by_name.wanted(config, settings)) is not None:
            return by_name.choice(*named, settings)
        base_url, url_from = _first(
            (settings.base_url, "%config AgentMagics.base_url"),
            (config.base_url, "your config.yaml"),
            (environment.base_url, environment.source("base_url")),
        )
        key, key_from = self._key(config)
        if url_from == environment.source("base_url"):
            not_the_projects((url_from, base_url), (key_from, key), self.root())
        if base_url or key:
            where = (base_url, url_from, key, key_from)
            return self._endpoint(model, model_from, *where, settings)
        if servers := self._servers():
            return self._local(servers, model, model_from, settings)
        if model:
            raise UsageProblem(
                f"The model {model!r} is set ({model_from}), but no endpoint is: set "
                "OPENAI_API_KEY, or OPENAI_BASE_URL, or %config AgentMagics.base_url = '…'."
            )
        if config.endpoints:
            raise UsageProblem(
                f"Your config.yaml names the endpoints {_names(config.endpoints)}, and none is "
                "chosen: %agent model NAME, or `endpoint: NAME` in the file."
            )
        return self._demonstration("nothing is configured and no model server runs on this machine")

    def secrets(self) -> tuple[str, ...]:
        """The keys that were ever used, each as `NAME=value`, whatever their variables' names.

        The one that the configuration names counts before its first use, too.
        """
        config = self.configuration()
        self._key(config)
        first = (self.environment.source("api_key"), self.environment.api_key)
        pairs = tuple(f"{name}={key}" for name, key in (first, *self._keys.items()) if key)
        return (*pairs, *self.named.keys.secrets(config.endpoints))

    def _price(self, model: str, url: str, name: str = "") -> Price | None:
        """What a model costs: by the person's file, else by the price library, if there is one."""
        own = price_of(model, name, self.configuration().prices)
        if own is not None:
            return own
        with installed_only():
            return library_price(model, url)

    def _key(self, config: Configuration) -> tuple[str, str]:
        key, name = self._found_key(config)
        if key:
            self._keys[name] = key
        return key, name

    def _found_key(self, config: Configuration) -> tuple[str, str]:
        if config.api_key_env:
            key = self.variables.get(config.api_key_env, "").strip()
            if key:
                return key, config.api_key_env
        return self.environment.api_key, self.environment.source("api_key")

    def _endpoint(
        self,
        model: str,
        model_from: str,
        base_url: str,
        url_from: str,
        key: str,
        key_from: str,
        settings: ModelSettings,
    ) -> ModelChoice:
        via = environment_proxy(base_url or OPENAI_URL, self.variables)
        bare = Endpoint(base_url or None, key or "none", key_from=key_from, via=via)
        endpoint = as_set(bare, settings)
        if not model and not base_url:
            model, model_from = DEFAULT_MODEL, "the default for OpenAI's endpoint"
        if not model:
            model, model_from = self._only_model(base_url, key)
        why = [f"model from {model_from}"]
        why.append(f"endpoint from {url_from}" if base_url else "OpenAI's endpoint")
        why.append(f"key from {key_from}" if key else "no key set")
        return self._choice(model, endpoint, base_url or "OpenAI's endpoint", "; ".join(why))

    def _only_model(self, base_url: str, key: str) -> tuple[str, str]:
        from agent_magics.providers.local import models_at

        models = models_at(base_url, api_key=key)
        if not models:
            raise UsageProblem(
                f"No model is set, and {base_url} does not list any: name one with "
                "%agent model NAME."
            )
        if len(models) > 1:
            shown = ", ".join(models[:8]) + (" …" if len(models) > 8 else "")
            raise UsageProblem(
                f"No model is set, and {base_url} offers several ({shown}): "
                "name one with %agent model NAME."
            )
        return models[0], "the endpoint, which offers just this one"

    def _local(
        self, found: tuple[Found, ...], model: str, model_from: str, settings: ModelSettings
    ) -> ModelChoice:
        server = next((s for s in found if model and model in s.models), found[0])
        chosen = model or next((m for m in server.models if "embed" not in m.lower()), "")
        if not chosen:
            raise UsageProblem(f"{server.server} runs at {server.base_url}, but offers no model.")
        why = (
            f"model from {model_from}" if model else f"the first model that {server.server} offers"
        )
        return self._choice(
            chosen,
            as_set(Endpoint(server.base_url, "none"), settings),
            server.base_url,
            f"{why}; {server.server} found on this machine",
        )

    def _servers(self) -> tuple[Found, ...]:
        if not self.environment.local_servers:
            return ()
        now = self.clock()
        if self._looked is None or now - self._looked > RECHECK:
            self._found, self._looked = self.find(), now
        return self._found

    def _replay(self, model: str, why: str, settings: ModelSettings) -> ModelChoice:
        """Opened anew when the file or a setting is another: else its turns go on in order."""
        strict = settings.replay_strict or self.environment.replay_strict
        asked = wanted(model, settings.replay_tools, strict=strict)
        root = self.root()
        replay, path = self._replays.opened(asked, root)
        return replay_choice(model, why, replay, path, root)

    def _demonstration(self, why: str) -> ModelChoice:
        return ModelChoice(DEMONSTRATION, "a recording in the package", why, demonstration, True)

    def _choice(self, model: str, endpoint: Endpoint, where: str, why: str) -> ModelChoice:
        return ModelChoice(
            model,
            where,
            why,
            lambda: self._model(model, endpoint),
            price=lambda: self._price(model, endpoint.url),
            served=lambda: self._served(model, endpoint),
        )

    def _model(self, model: str, endpoint: Endpoint) -> Model:
        """One object per model and endpoint: it remembers what the endpoint has taught it."""
        if (model, endpoint) not in self._made:
            with installed_only():
                from agent_magics.providers.openai import OpenAIModel, preload

                preload()
            self._made[model, endpoint] = OpenAIModel(
                model, endpoint=endpoint, lessons=self.learnt, log=self.log
            )
        return self._made[model, endpoint]

    def _served(self, model: str, endpoint: Endpoint) -> Served:
        """What is known of a model; only servers of this machine are asked, now and then."""
        if not endpoint.is_local:
            return by_name(model)
        now, key = self.clock(), (endpoint.url, model)
        if key not in self._known or now - self._known[key][0] > RECHECK:
            api_key = "" if endpoint.key == "none" else endpoint.key
            self._known[key] = (now, served(endpoint.url, model, api_key))
        return self._known[key][1]


def _names(endpoints: Sequence[NamedEndpoint]) -> str:
    return ", ".join(endpoint.name for endpoint in endpoints)


def _first(*candidates: tuple[str, str]) -> tuple[str, str]:
    """The first (value, source) with a value."""
    return next((candidate for candidate in candidates if candidate[0]), ("", ""))
