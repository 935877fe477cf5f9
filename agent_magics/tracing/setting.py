"""What a person can say about tracing, and the names that the conventions give to providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

Mode: TypeAlias = Literal["auto", "on", "off"]

PROVIDERS = {
    "openai.azure.com": "azure.ai.openai",
    "anthropic.com": "anthropic",
    "googleapis.com": "gcp.gemini",
    "deepseek.com": "deepseek",
    "mistral.ai": "mistral_ai",
    "groq.com": "groq",
    "x.ai": "x_ai",
    "perplexity.ai": "perplexity",
    "cohere.com": "cohere",
    "openrouter.ai": "openrouter",
}
"""Values of `gen_ai.provider.name` by the end of the endpoint's host; others speak as `openai`."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """The setting.

    Args:
        mode: `auto`: where the program has loaded OpenTelemetry; `on`: load it, and say if it is
            missing; `off`.
        content: Whether prompts, answers, arguments and results stand in the spans.
    """

    mode: Mode = "auto"
    content: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Who answers, as spans say it.

    Args:
        provider: `gen_ai.provider.name`.
        address: The endpoint's host; empty: not known.
        port: Its port; 0: not known.
    """

    provider: str = "openai"
    address: str = ""
    port: int = 0


def where_of(endpoint: str) -> Where:
    """What an endpoint's address says of who answers; never raises.

    Args:
        endpoint: `https://host:port/path`, or any other text.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port or 0
    except ValueError:
        return Where()
    if not host:
        return Where()
    known = (name for end, name in PROVIDERS.items() if host == end or host.endswith(f".{end}"))
    return Where(next(known, "openai"), host, port or (443 if parts.scheme == "https" else 80))
