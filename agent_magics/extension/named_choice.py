"""Which named endpoint answers, and with which model, in the order of who may say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.environment import Environment
from agent_magics.extension.keys import source_of
from agent_magics.extension.named_endpoints import NamedEndpoint
from agent_magics.extension.named_models import NamedModels, meant
from agent_magics.extension.settled import as_set
from agent_magics.magics.services import ModelChoice, ModelSettings
from agent_magics.ports import Model
from agent_magics.pricing import Price
from agent_magics.providers.endpoint import Endpoint
from agent_magics.providers.place import shown_url
from agent_magics.providers.served import Served


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """Chooses among the named endpoints.

    Args:
        models: The endpoints at work.
        environment: What the process's environment says.
        made: Makes the model of a name and an endpoint, once.
        price: What a model costs, by its name, its URL and the endpoint's name.
        served: What is known of a model before it is asked.
    """

    models: NamedModels
    environment: Environment
    made: Callable[[str, Endpoint], Model]
    price: Callable[[str, str, str], Price | None]
    served: Callable[[str, Endpoint], Served]

    def wanted(
        self, config: Configuration, settings: ModelSettings
    ) -> tuple[NamedEndpoint, str, str] | None:
        """The named endpoint, the model and who said so; None: another way of choosing counts.

        Raises:
            UsageProblem: The endpoint that a program needs is not there.
        """
        named = config.endpoints
        if settings.endpoint:
            if (found := meant(f"{settings.endpoint}/{settings.model}", named)) is None:
                raise UsageProblem(
                    f"The endpoint {settings.endpoint!r} is not in the config.yaml of this machine."
                )
            return (*found, settings.model_from)
        by_setting = settings.model_from or "%config AgentMagics.model"
        if found := meant(settings.model, named):
            return (*found, by_setting)
        if settings.base_url:
            return None
        plain = settings.model
        if found := meant(config.model, named):
            return (found[0], plain or found[1], "your config.yaml")
        if found := meant(config.endpoint, named):
            return (found[0], plain or config.model, "your config.yaml")
        if config.base_url:
            return None
        if found := meant(self.environment.model, named):
            return (found[0], plain or found[1], self.environment.source("model"))
        if len(named) == 1 and not config.model:
            return (named[0], plain, "the only one of your config.yaml")
        return None

    def choice(
        self, named: NamedEndpoint, model: str, source: str, settings: ModelSettings
    ) -> ModelChoice:
        """The choice of a model at a named endpoint.

        Args:
            named: The endpoint.
            model: Its name there; empty: the endpoint's own, or its only one.
            source: Who said so.
            settings: What the person set in this kernel.

        Raises:
            UsageProblem: No model is named, and several or none are listed.
        """
        model = model or named.model or self._only_named(named)
        key = source_of(named.key)
        why = [f"endpoint {named.name} from {source}", f"key from {key}" if key else "no key"]

        def make() -> Model:
            return self.made(model, as_set(self.models.connection(named), settings))

        return ModelChoice(
            model,
            shown_url(named.base_url),
            "; ".join(why),
            make,
            endpoint=named.name,
            prepare=lambda: self.models.keys.prepare(named),
            price=lambda: self.price(model, named.base_url, named.name),
            # No key is fetched for it, and a server of this machine mostly wants none.
            served=lambda: self.served(
                model, Endpoint(named.base_url, self.models.keys.known(named))
            ),
            small=named.small,
        )

    def _only_named(self, named: NamedEndpoint) -> str:
        models = self.models.models(named.name)
        if len(models) == 1:
            return models[0]
        shown = ", ".join(models[:8]) + (" …" if len(models) > 8 else "")
        raise UsageProblem(
            f"The endpoint {named.name} has no `model:` in your config.yaml and lists "
            f"{f'several ({shown})' if models else 'none'}: %agent model {named.name}/MODEL."
        )
