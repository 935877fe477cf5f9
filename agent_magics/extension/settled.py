"""An endpoint with what a person set about it in this kernel. Pure."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from agent_magics.errors import UsageProblem
from agent_magics.magics.services import ModelSettings
from agent_magics.providers.endpoint import Endpoint
from agent_magics.providers.profiles import CHOICES, Profile


def as_set(endpoint: Endpoint, settings: ModelSettings) -> Endpoint:
    """The endpoint with what the person set about it.

    Raises:
        UsageProblem: A field of the profile is not known, or has a value of another kind.
    """
    # The kernel's setting, unless it is the default and the endpoint has one of its own.
    own = endpoint.name and settings.idle_timeout == ModelSettings().idle_timeout
    idle = endpoint.timeout.idle if own else settings.idle_timeout
    timeout = replace(endpoint.timeout, idle=idle)
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
        if name in CHOICES and value not in CHOICES[name]:
            raise UsageProblem(f"profile[{name!r}] is one of {', '.join(CHOICES[name])}.")
        given[name] = value
    return replace(endpoint, timeout=timeout, profile=replace(endpoint.known_profile, **given))
