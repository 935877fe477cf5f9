"""Models and front ends of plug-ins beside the package's own.

`%agent model NAME:model`, where NAME is an installed provider; `%config AgentMagics.frontend`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.errors import UsageProblem
from agent_magics.extension.config import Configuration
from agent_magics.extension.environment import Environment
from agent_magics.frontends.plugged import (
    PluggedApprover,
    PluggedRenderer,
    Surroundings,
    plugged_front_end,
)
from agent_magics.library.plugins import PluginProblem, Plugins
from agent_magics.magics.services import ModelChoice, ModelSettings
from agent_magics.plain import visible
from agent_magics.ports import Model
from agent_magics.providers.plugged import plugged


@dataclass(frozen=True, slots=True)
class PluggedChooser:
    """Answers "which model" where its name begins with an installed provider's.

    Args:
        plugins: The installed ones; imported only when a model of theirs is asked.
        then: Chooses all others.
        configuration: Read afresh by its owner.
        environment: What the process's environment says.
        redact: Takes secrets out of errors.
    """

    plugins: Plugins
    then: Callable[[ModelSettings], ModelChoice]
    configuration: Callable[[], Configuration]
    environment: Environment
    redact: Callable[[str], str]

    def __call__(self, settings: ModelSettings) -> ModelChoice:
        """The model for these settings.

        Raises:
            UsageProblem: The provider cannot be imported.
        """
        candidates = (
            (settings.model, settings.model_from or "%config AgentMagics.model"),
            (self.configuration().model, "your config.yaml"),
            (self.environment.model, self.environment.source("model")),
        )
        name, why = next((pair for pair in candidates if pair[0]), ("", ""))
        provider, colon, model = name.partition(":")
        if not colon or not model or provider not in self.plugins.names("providers"):
            return self.then(settings)
        try:
            factory, package = self.plugins.get("providers", provider)
        except PluginProblem as problem:
            self.plugins.broke("providers", provider, str(problem))
            raise UsageProblem(f"The provider {provider} cannot be used: {problem}.") from problem

        def make() -> Model:
            return plugged(name, factory, model, package, self.redact)

        return ModelChoice(name, f"plug-in {package}", why, make)


@dataclass(frozen=True, slots=True)
class PluggedFrontEnds:
    """Makes a plug-in's renderer and approver for one run.

    Args:
        plugins: The installed ones.
        redact: Takes secrets out of errors.
    """

    plugins: Plugins
    redact: Callable[[str], str]

    def __call__(self, name: str, around: Surroundings) -> tuple[PluggedRenderer, PluggedApprover]:
        """The front end of this name.

        Raises:
            UsageProblem: It is not installed, or fails; the message says how.
        """
        try:
            factory, package = self.plugins.get("frontends", name)
            return plugged_front_end(factory, f"the front end {package}", around)
        except Exception as error:
            why = str(error) if isinstance(error, PluginProblem) else _said(error)
            self.plugins.broke("frontends", name, why)
            raise UsageProblem(
                self.redact(f"The front end {name!r} cannot be used ({why}).")
            ) from error


def _said(error: Exception) -> str:
    text = " ".join(visible(str(error)).split())[:300]
    return f"{type(error).__name__}: {text}"
