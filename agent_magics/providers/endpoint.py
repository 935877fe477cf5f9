"""Where a model is asked, and how patiently. Values only; no connection is made here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agent_magics.providers.place import Place, shown_url
from agent_magics.providers.profiles import OPENAI_URL, Profile
from agent_magics.providers.servers import Server, detected, server_at, server_named


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds of silence after which a try is given up.

    Args:
        connect: Until the connection stands.
        first: Until the first byte of an answer; a local server may load the model meanwhile.
        idle: Between two pieces of an answer; comments of the stream count as life.
    """

    connect: float = 10.0
    first: float = 300.0
    idle: float = 90.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long it is tried.

    Args:
        tries: How often the server is asked for one answer when it fails.
        cut: How often of these for streams that end properly but never say that they are complete;
            some servers always do, and then the last text is kept, marked as cut.
        longest_wait: Seconds that a server may ask to wait; more is reported instead.
    """

    tries: int = 5
    cut: int = 3
    longest_wait: float = 120.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server.

    Args:
        base_url: Up to and with `/v1`; None: OpenAI's own.
        api_key: Never shown; empty for servers that want none.
        headers: Sent with each request; never shown, since they may hold secrets.
        timeout: Bounds of silence.
        patience: Bounds of retries.
        profile: What the server takes; None: guessed by the URL, then learnt.
        stream: Whether answers are streamed, if the server can.
        name: What the person's configuration calls it; empty: it has no name there.
        server: The known server that it is; empty: recognised by the URL.
        key_from: Where the key comes from, for texts.
        proxy: The proxy's URL, which may hold a password; None: as the environment says; empty:
            none at all.
        via: The proxy that the environment names for this server, for texts.
        ca_file: Certificates that are trusted beside the usual ones.
    """

    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    timeout: Timeouts = field(default_factory=Timeouts)
    patience: Patience = field(default_factory=Patience)
    profile: Profile | None = None
    stream: bool = True
    name: str = ""
    server: str = ""
    key_from: str = ""
    proxy: str | None = field(default=None, repr=False)
    via: str = field(default="", repr=False)
    ca_file: Path | None = None

    def __repr__(self) -> str:
        return f"Endpoint({shown_url(self.url)!r})"

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return (self.base_url or OPENAI_URL).strip().rstrip("/")

    @property
    def key(self) -> str:
        """The API key without the spaces and line ends that copying brings."""
        return self.api_key.strip()

    @property
    def url_problem(self) -> str:
        """Why the base URL cannot be used; empty if it can."""
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError as wrong:
            return str(wrong)
        if parts.scheme not in ("http", "https"):
            return "it does not begin with http:// or https://"
        if not parts.hostname:
            return "it names no host"
        if port == 0 or not self.url.isprintable() or " " in self.url:
            return "it holds something that no URL can"
        return ""

    @property
    def known_profile(self) -> Profile:
        """What is believed of the server before it was asked."""
        return self.profile if self.profile is not None else detected(self.url)

    @property
    def kind(self) -> Server:
        """What kind of server it is."""
        return server_named(self.server) or server_at(self.url)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that no proxy may stand in between."""
        try:
            host = (urlsplit(self.url).hostname or "").lower()
        except ValueError:
            return False
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def _key_hint(self) -> str:
        """Where to look when the key is refused, as the beginning of a sentence."""
        if self.name and not self.key:
            return f"Give the endpoint {self.name} a key in your config.yaml (api_key_env)"
        if self.key_from:
            return f"Check the key, which comes from {self.key_from}"
        return "Check AGENT_MAGICS_API_KEY or OPENAI_API_KEY"

    def place(self, model: str) -> Place:
        """Where it is, for texts that a person reads."""
        headers = (value.strip() for value in self.headers.values() if len(value.strip()) >= 8)
        proxy = (self.via if self.proxy is None else self.proxy).strip()
        secrets = (self.key, *headers, *_secrets_of(self.url), *_secrets_of(proxy))
        return Place(
            shown_url(self.url),
            model,
            tuple(s for s in secrets if s),
            proxy=shown_url(proxy) if proxy else "",
            key_hint=self._key_hint,
            ca_file=str(self.ca_file or ""),
        )


def _secrets_of(url: str) -> tuple[str, ...]:
    """The password and the query of a URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    return tuple(part for part in (parts.password, parts.query) if part)


class Learnt:
    """What servers taught, for as long as the session lives; shared by the models of a session."""

    __slots__ = ("_profiles",)

    def __init__(self) -> None:
        self._profiles: dict[tuple[str, str, Profile], Profile] = {}

    def profile(self, endpoint: Endpoint, model: str) -> Profile:
        """What is known of an endpoint and a model."""
        believed = endpoint.known_profile
        return self._profiles.get((endpoint.url, model, believed), believed)

    def remember(self, endpoint: Endpoint, model: str, profile: Profile) -> None:
        """Keep a lesson."""
        self._profiles[(endpoint.url, model, endpoint.known_profile)] = profile
