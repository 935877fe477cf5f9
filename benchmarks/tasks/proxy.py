"""A proxy on loopback that counts what each run asks of the model, and gives all the same sampling.

The contestants count differently, or not at all; what passes here is the same measure for each of
them. A run is named by the first part of the path: `http://127.0.0.1:PORT/RUN/v1`.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SECONDS = 600.0
"""How long the model's server may be silent."""


@dataclass(slots=True)
class Count:
    """What one run asked for.

    Args:
        requests: To the model.
        input: Tokens of the prompts.
        output: Tokens of the answers.
        refused: Statuses of 400 and more.
        bodies: Requests and answers, where they are kept.
    """

    requests: int = 0
    input: int = 0
    output: int = 0
    refused: list[int] = field(default_factory=list)
    bodies: list[tuple[str, str]] = field(default_factory=list)


class Proxy:
    """`with Proxy(url) as proxy:` serves until the block ends.

    Args:
        upstream: The endpoint's base URL.
        sampling: Set in each chat request, whatever the contestant says.
        keep: Whether requests and answers are kept as text.
    """

    def __init__(self, upstream: str, sampling: Mapping[str, Any], keep: bool = False) -> None:
        self.upstream = urlsplit(upstream.rstrip("/"))
        self.sampling = dict(sampling)
        self.keep = keep
        self.counts: dict[str, Count] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, run: str) -> str:
        """The base URL of a run."""
        return f"http://127.0.0.1:{self._server.server_port}/{run}/v1"

    def count(self, run: str) -> Count:
        """What it asked for so far."""
        with self._lock:
            return self.counts.setdefault(run, Count())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self) -> None:
                proxy.pass_on(self, b"")

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                proxy.pass_on(self, self.rfile.read(length))

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def pass_on(self, client: BaseHTTPRequestHandler, body: bytes) -> None:
        """Send a request on, and its answer back as it comes."""
        run, _, rest = client.path.lstrip("/").partition("/")
        base = self.upstream.path.removesuffix("/v1")
        chat = rest.endswith("chat/completions")
        if chat:
            body = json.dumps({**json.loads(body), **self.sampling}).encode()
        host, port = self.upstream.hostname or "", self.upstream.port
        kind = http.client.HTTPSConnection if self.upstream.scheme == "https" else None
        connection = (kind or http.client.HTTPConnection)(host, port, timeout=SECONDS)
        headers = {"Content-Type": "application/json"}
        if authorization := client.headers.get("Authorization"):
            headers["Authorization"] = authorization
        said = bytearray()
        try:
            connection.request(client.command, f"{base}/{rest}", body or None, headers)
            answer = connection.getresponse()
            client.send_response(answer.status)
            client.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            client.end_headers()
            while piece := answer.read1(65536):
                said += piece
                client.wfile.write(piece)
                client.wfile.flush()
            status = answer.status
        except (OSError, http.client.HTTPException):
            status = 599
        finally:
            connection.close()
        if chat:
            self._note(run, status, body, bytes(said))

    def _note(self, run: str, status: int, body: bytes, said: bytes) -> None:
        count = self.count(run)
        usage = used(said)
        with self._lock:
            count.requests += 1
            count.input += usage[0]
            count.output += usage[1]
            if status >= 400:
                count.refused.append(status)
            if self.keep:
                count.bodies.append((body.decode("utf-8", "replace"), whole_text(said)))


def used(answer: bytes) -> tuple[int, int]:
    """Tokens of the prompt and of the answer, as far as a response says."""
    found = (0, 0)
    for value in _values(answer):
        usage = value.get("usage")
        if isinstance(usage, dict):
            found = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
    return found


def whole_text(answer: bytes) -> str:
    """What a response says, in one piece, calls as their JSON."""
    parts: list[str] = []
    for value in _values(answer):
        for choice in value.get("choices") or []:
            message = choice.get("delta") or choice.get("message") or {}
            parts.append(message.get("content") or "")
            for call in message.get("tool_calls") or []:
                function = call.get("function") or {}
                name = f"\n[call {function['name']}] " if function.get("name") else ""
                parts.append(name + (function.get("arguments") or ""))
    return "".join(parts) or answer.decode("utf-8", "replace")[:2000]


def _values(answer: bytes) -> list[dict[str, Any]]:
    text = answer.decode("utf-8", "replace")
    lines = [line[5:] for line in text.splitlines() if line.startswith("data:")] or [text]
    values: list[dict[str, Any]] = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            values.append(value)
    return values
