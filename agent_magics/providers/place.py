"""Where a request goes, for texts that a person reads: the address without secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_SHORTEST_KEY = 8
"""Characters; what is shorter ("none", "ollama") is a placeholder, and an ordinary word."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|key|hf|AIza)[-_]?[A-Za-z0-9_-]{16,}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes, for texts.

    Args:
        url: The base URL, free of passwords and query.
        model: The model's name.
        secrets: Texts that must not appear anywhere.
        proxy: The proxy in between, free of passwords; empty: none is known.
        key_hint: Where to look when the key is refused, as the beginning of a sentence.
        ca_file: The file with certificates of one's own; empty: none.
    """

    url: str
    model: str
    secrets: Collection[str] = field(default=(), repr=False)
    proxy: str = ""
    key_hint: str = "Check AGENT_MAGICS_API_KEY or OPENAI_API_KEY"
    ca_file: str = ""

    @property
    def host(self) -> str:
        """The host and port."""
        return urlsplit(self.url).netloc or self.url

    @property
    def port(self) -> int:
        """The port, given or by the scheme."""
        try:
            parts = urlsplit(self.url)
            return parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return 0

    def clean(self, text: str) -> str:
        """The text without keys: ours wherever it stands, and whatever looks like one."""
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_KEY:
                text = text.replace(secret, "[key]")
        return _KEY_LIKE.sub("[key]", text)


def shown_url(url: str) -> str:
    """A URL without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(unreadable URL)"
    if not host:
        return url if not {"@", "?"} & set(url) else "(unreadable URL)"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")
