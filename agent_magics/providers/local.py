"""Model servers on this machine, found by asking the ports they use by default.

Standard library only, since this runs before anyone decided for a provider. Owns what counts as a
model server: other programs use the same ports, so only a JSON list of models does. Proxies are
never asked, redirects never followed.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_magics.messages import JSON

if TYPE_CHECKING:
    from http.client import HTTPResponse

PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8080: "llama.cpp",
    8000: "vLLM",
    30000: "SGLang",
}
"""Default ports, in the order in which servers are preferred."""

_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "sglang": "SGLang", "library": "Ollama"}
"""What servers call themselves in their list, whatever port they use."""

_LARGEST = 1024 * 1024
"""Bytes of an answer that are read."""

_MOST_MODELS, _LONGEST_NAME = 200, 200


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answered.

    Args:
        server: What it is, as far as port and answer tell.
        base_url: For `Endpoint`.
        models: Their names; those that can only embed come last.
    """

    server: str
    base_url: str
    models: tuple[str, ...]


def find_servers(timeout: float = 0.3, ports: Mapping[int, str] | None = None) -> tuple[Found, ...]:
    """The model servers on this machine's loopback, in the order of the ports.

    Args:
        timeout: Seconds for all of them together.
        ports: Port to server name; None: the default ports.
    """
    ports = PORTS if ports is None else ports
    found: dict[int, Found] = {}

    def look(port: int, server: str) -> None:
        body = _get(f"http://127.0.0.1:{port}/v1/models", {}, timeout)
        if (answer := _read(body, server, f"http://127.0.0.1:{port}/v1")) is not None:
            found[port] = answer

    # Daemon threads: a service that never ends its answer must not hold up anyone's exit.
    threads = [threading.Thread(target=look, args=item, daemon=True) for item in ports.items()]
    deadline = time.monotonic() + timeout
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return tuple(found[port] for port in ports if port in found)


def models_at(base_url: str, api_key: str = "", timeout: float = 2.0) -> tuple[str, ...]:
    """The models that a server lists; empty where it does not answer.

    Args:
        base_url: Up to and with `/v1`.
        api_key: Sent to this address only.
        timeout: Seconds.
    """
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    answer = _read(_get(f"{base_url.rstrip('/')}/models", headers, timeout), "", base_url)
    return answer.models if answer else ()


def _get(url: str, headers: Mapping[str, str], timeout: float) -> bytes:
    """The body of a good answer within a time; empty for anything else."""
    import http.client
    import ssl

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        secure = parts.scheme == "https"
        connection = (
            http.client.HTTPSConnection(
                host, port, timeout=timeout, context=ssl.create_default_context()
            )
            if secure
            else http.client.HTTPConnection(host, port, timeout=timeout)
        )
    except (ValueError, OSError, http.client.HTTPException):
        return b""
    try:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request("GET", target, headers={"Accept": "application/json", **headers})
        response = connection.getresponse()
        if response.status != 200:
            return b""
        return _bounded(response, time.monotonic() + timeout)
    except (OSError, ValueError, http.client.HTTPException):
        return b""
    finally:
        connection.close()


def _bounded(response: HTTPResponse, deadline: float) -> bytes:
    """The body, if it ends in time and in size."""
    body = bytearray()
    while piece := response.read1(65536):
        body += piece
        if len(body) > _LARGEST or time.monotonic() > deadline:
            return b""
    return bytes(body)


def _read(body: bytes, server: str, base_url: str) -> Found | None:
    """What an answer says, if it is a list of models."""
    try:
        value: JSON = json.loads(body)
    except (ValueError, RecursionError):
        return None
    entries = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        return None
    known = [entry for entry in entries if isinstance(entry, Mapping) and _is_name(entry.get("id"))]
    if entries and not known:
        return None
    names = [entry["id"] for entry in known[:_MOST_MODELS]]
    owner = str(known[0].get("owned_by", "")).lower() if known else ""
    ordered = sorted(dict.fromkeys(names), key=_only_embeds)
    return Found(_OWNERS.get(owner, server), base_url, tuple(ordered))


def _is_name(value: JSON) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()


def _only_embeds(name: str) -> bool:
    """Whether a model turns text into numbers and cannot answer, by its name."""
    return any(part in name.lower() for part in ("embed", "bge-", "rerank", "whisper"))
