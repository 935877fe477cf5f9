"""Model servers on this machine: found where they are, and nothing else is taken for one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agent_magics.providers.local import PORTS, find_servers, models_at
from tests.fake import FakeServer

Reply = Callable[[BaseHTTPRequestHandler], None]
PATIENT = 20.0


@contextmanager
def serving(reply: Reply) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def answering(body: bytes, status: int = 200, **headers: str) -> Reply:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        assert handler.path == "/v1/models"
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def listing(*models: str, owner: str = "") -> bytes:
    return json.dumps({"data": [{"id": m, "owned_by": owner} for m in models]}).encode()


def test_the_default_ports_are_those_of_the_four_servers() -> None:
    assert PORTS == {
        11434: "Ollama",
        1234: "LM Studio",
        8080: "llama.cpp",
        8000: "vLLM",
        30000: "SGLang",
    }


def test_servers_are_found_with_their_models_in_the_order_of_the_ports() -> None:
    with (
        serving(answering(listing("nomic-embed-text", "qwen", "qwen"))) as first,
        serving(answering(listing("served", owner="vllm"))) as second,
    ):
        ports = {first: "Ollama", FakeServer.unused_port(): "LM Studio", second: "llama.cpp"}
        found = find_servers(PATIENT, ports)
    assert [(f.server, f.models) for f in found] == [
        ("Ollama", ("qwen", "nomic-embed-text")),
        ("vLLM", ("served",)),
    ]
    assert found[0].base_url == f"http://127.0.0.1:{first}/v1"


def test_a_server_without_a_model_is_found_too_so_that_it_can_be_said() -> None:
    with serving(answering(listing())) as port:
        (found,) = find_servers(PATIENT, {port: "Ollama"})
    assert found.models == ()


@pytest.mark.parametrize(
    "reply",
    [
        answering(b"<html>hello</html>"),
        answering(b"[]"),
        answering(b'{"data": "x"}'),
        answering(b'{"data": [{"name": "a user"}]}'),
        answering(b'{"data": [{"id": 7}, {"id": "two\\nlines"}]}'),
        answering(b"{"),
        answering(b"[" * 100_000),
        answering(listing("x"), 404),
        answering(listing("x"), 401),
        answering(b"", 302, Location="http://127.0.0.1:1/v1/models"),
        answering(b"x" * 2_000_000),
        answering(b""),
    ],
)
def test_other_programs_on_these_ports_are_not_taken_for_one(reply: Reply) -> None:
    with serving(reply) as port:
        assert find_servers(PATIENT, {port: "Ollama"}) == ()


def test_a_program_that_never_ends_its_answer_holds_nobody_up() -> None:
    ended = threading.Event()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not ended.wait(0.02):
                handler.wfile.write(b" ")
        except OSError:
            pass

    with serving(reply) as port:
        assert find_servers(0.2, {port: "Ollama"}) == ()
        assert not ended.is_set()
        ended.set()


def test_nobody_listening_is_no_server() -> None:
    assert find_servers(PATIENT, {FakeServer.unused_port(): "Ollama"}) == ()


def test_proxies_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(answering(listing("qwen"))) as port:
        assert len(find_servers(PATIENT, {port: "Ollama"})) == 1


def test_the_models_of_any_address_are_listed_with_its_key() -> None:
    seen: list[str | None] = []

    def reply(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["Authorization"])
        answering(listing("qwen"))(handler)

    with serving(reply) as port:
        assert models_at(f"http://127.0.0.1:{port}/v1/", "k", PATIENT) == ("qwen",)
    assert seen == ["Bearer k"]


@pytest.mark.parametrize("url", ["nonsense", "http://[::1/v1", "http://127.0.0.1:99999/v1", ""])
def test_no_address_breaks_the_listing(url: str) -> None:
    assert models_at(url) == ()
