"""What a server on this machine says of a model: its size, its context, whether calls have a form.

llama.cpp answers at `/props` and in its list, Ollama at `/api/show`, vLLM in its list. Standard
library only and never through a proxy. Owns which of their fields mean what; a server that says
nothing is no error. Asks nobody but the address it is given.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_magics.messages import JSON
from agent_magics.providers.sizes import size_of

SECONDS = 1.0
"""For each of the questions."""
_LLAMA, _OLLAMA = "llamacpp", "library"
"""Whom they name as the owner of a model in their lists."""
_LARGEST = 2_000_000
"""Bytes of an answer that are read: `/api/show` holds the licence."""

TEMPLATE = (
    "The server's chat template has no form for tool calls. The profile for small models does not "
    "need one; for other clients, or with the profile off, start the server with one that has it "
    "(llama.cpp: --jinja --chat-template-file FILE)."
)


@dataclass(frozen=True, slots=True)
class Served:
    """What is known of a model before it is asked.

    Args:
        size: Billions of parameters; None: not known.
        calls: Whether its chat template has a form for tool calls; None: not known.
        window: Its context in tokens; 0: not known.
        told: Who said so, for the panel.
    """

    size: float | None = None
    calls: bool | None = None
    window: int = 0
    told: str = ""


def by_name(model: str) -> Served:
    """What a name alone says."""
    size = size_of(model)
    return Served(size, told="its name" if size is not None else "")


def served(base_url: str, model: str, api_key: str = "") -> Served:
    """What a server and the name say; never raises.

    Args:
        base_url: Up to and with `/v1`; asked as it is, so only for servers of this machine.
        model: As it is asked for.
        api_key: Sent to this address only.
    """
    root = base_url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    named = by_name(model)
    entry = _entry(_ask(f"{root}/v1/models", headers), model)
    owner = str(entry.get("owned_by", "")).lower()
    if owner == _OLLAMA:
        return _ollama(_ask(f"{root}/api/show", headers, {"model": model}), named)
    if owner == _LLAMA:
        return _llama(_ask(f"{root}/props", headers), entry, named)
    return _listed(entry, named)


def _llama(props: Mapping[str, JSON], entry: Mapping[str, JSON], named: Served) -> Served:
    caps = _mapping(props.get("chat_template_caps"))
    calls = caps.get("supports_tool_calls")
    settings = _mapping(props.get("default_generation_settings"))
    parameters = _number(_mapping(entry.get("meta")).get("n_params"))
    size = parameters / 1e9 if parameters else named.size
    size = size_of(str(props.get("model_path", ""))) if size is None else size
    known = bool(calls) if isinstance(calls, bool) else None
    return Served(size, known, int(_number(settings.get("n_ctx"))), "llama.cpp's server")


def _ollama(shown: Mapping[str, JSON], named: Served) -> Served:
    info, details = _mapping(shown.get("model_info")), _mapping(shown.get("details"))
    parameters = _number(info.get("general.parameter_count"))
    said = size_of(str(details.get("parameter_size", "")))
    size = parameters / 1e9 if parameters else (named.size if said is None else said)
    able = shown.get("capabilities")
    calls = "tools" in able if isinstance(able, list) else None
    # Its own context is that of the model, not what the server was started with.
    return Served(size, calls, 0, "Ollama")


def _listed(entry: Mapping[str, JSON], named: Served) -> Served:
    root = size_of(str(entry.get("root") or ""))
    size = named.size if named.size is not None else root
    window = int(_number(entry.get("max_model_len")))
    return Served(size, None, window, "the server's list" if root or window else named.told)


def _entry(listed: Mapping[str, JSON], model: str) -> Mapping[str, JSON]:
    """The model in a list of models; the only one where none has that name."""
    data = listed.get("data")
    entries = [e for e in data if isinstance(e, Mapping)] if isinstance(data, list) else []
    found = [entry for entry in entries if entry.get("id") == model]
    return found[0] if found else (entries[0] if len(entries) == 1 else {})


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _number(value: JSON) -> float:
    ordinary = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if ordinary and 0 < value < 1e15 else 0.0


def _ask(
    url: str, headers: Mapping[str, str], body: Mapping[str, str] | None = None
) -> Mapping[str, JSON]:
    """The JSON object that an address answers with; empty for anything else."""
    try:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else None
        connection = (kind or http.client.HTTPConnection)(
            parts.hostname or "", parts.port, timeout=SECONDS
        )
    except (ValueError, OSError, http.client.HTTPException):
        return {}
    sent = None if body is None else json.dumps(body).encode()
    wanted = {"Accept": "application/json", "Content-Type": "application/json", **headers}
    deadline = time.monotonic() + SECONDS
    try:
        connection.request("GET" if sent is None else "POST", parts.path, sent, wanted)
        response = connection.getresponse()
        data = bytearray()
        while response.status == 200 and (piece := response.read1(65536)):
            data += piece
            if len(data) > _LARGEST or time.monotonic() > deadline:
                return {}
        return _mapping(json.loads(bytes(data) or b"{}"))
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return {}
    finally:
        connection.close()
