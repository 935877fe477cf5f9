"""Which model answers, and why: setting, environment, a server on this machine, demonstration.

Nothing is contacted at load: servers on this machine are looked for when a model is first needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.environment import Environment
from agent_magics.extension.replays import PREFIX as REPLAY
from agent_magics.extension.replays import Replays, replay_choice, wanted
from agent_magics.importing import installed_only
from agent_magics.magics.services import ModelChoice, ModelSettings
from agent_magics.ports import Model
from agent_magics.providers.demonstration import NAME as DEMONSTRATION
from agent_magics.providers.demonstration import demonstration
from agent_magics.providers.endpoint import Endpoint, Learnt
from agent_magics.providers.local import Found, find_servers
from agent_magics.providers.profiles import Profile

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
        root: The workspace, for the files of recordings.
    """

    environment: Environment
    variables: Mapping[str, str]
    configuration: Callable[[], Configuration]
    find: Callable[[], tuple[Found, ...]] = find_servers
    clock: Callable[[], float] = time.monotonic
    learnt: Learnt = field(default_factory=Learnt)
    root: Callable[[], Path] = Path.cwd
    _replays: Replays = field(default_factory=Replays)
    _found: tuple[Found, ...] = ()
    _looked: float | None = None
    _keys: dict[str, str] = field(default_factory=dict, repr=False)
    _made: dict[tuple[str, Endpoint], Model] = field(default_factory=dict)

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
        base_url, url_from = _first(
            (settings.base_url, "%config AgentMagics.base_url"),
            (config.base_url, "your config.yaml"),
            (environment.base_url, environment.source("base_url")),
        )
        key, key_from = self._key(config)
        if base_url or key:
            where = (base_url, url_from, key, key_from)
            return self._endpoint(model, model_from, *where, settings)
        found = self._servers()
        if found:
            return self._local(found, model, model_from, settings)
        if model:
            raise UsageProblem(
                f"The model {model!r} is set ({model_from}), but no endpoint is: set "
                "OPENAI_API_KEY, or OPENAI_BASE_URL, or %config AgentMagics.base_url = '…'."
            )
        return self._demonstration("nothing is configured and no model server runs on this machine")

    def secrets(self) -> tuple[str, ...]:
        """The keys that were ever used, each as `NAME=value`, whatever their variables' names.

        The one that the configuration names counts before its first use, too.
        """
        self._key(self.configuration())
        first = (self.environment.source("api_key"), self.environment.api_key)
        return tuple(f"{name}={key}" for name, key in (first, *self._keys.items()) if key)

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
        endpoint = _as_set(Endpoint(base_url or None, key or "none"), settings)
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
            _as_set(Endpoint(server.base_url, "none"), settings),
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
        def make() -> Model:
            # One object per model and endpoint: it remembers what the endpoint has taught it.
            if (model, endpoint) not in self._made:
                with installed_only():
                    from agent_magics.providers.openai import OpenAIModel, preload

                    preload()
                self._made[model, endpoint] = OpenAIModel(
                    model, endpoint=endpoint, lessons=self.learnt
                )
            return self._made[model, endpoint]

        return ModelChoice(model, where, why, make)


def _as_set(endpoint: Endpoint, settings: ModelSettings) -> Endpoint:
    """The endpoint with what the person set about it.

    Raises:
        UsageProblem: A field of the profile is not known, or has a value of another kind.
    """
    timeout = replace(endpoint.timeout, idle=settings.idle_timeout)
    if not settings.profile:
        return replace(endpoint, timeout=timeout)
    known = {f.name: getattr(endpoint.known_profile, f.name) for f in fields(Profile)}
    given: dict[str, Any] = {}
    for name, value in settings.profile:
        if name not in known:
            raise UsageProblem(f"profile has no {name!r}; it has: {', '.join(known)}.")
        value = frozenset(value) if isinstance(value, list | tuple | set) else value
        if type(value) is not type(known[name]):
            kind = type(known[name]).__name__
            raise UsageProblem(f"profile[{name!r}] must be of the kind {kind}, not {value!r}.")
        given[name] = value
    return replace(endpoint, timeout=timeout, profile=replace(endpoint.known_profile, **given))


def _first(*candidates: tuple[str, str]) -> tuple[str, str]:
    """The first (value, source) with a value."""
    return next((candidate for candidate in candidates if candidate[0]), ("", ""))
