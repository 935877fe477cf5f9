"""MCP servers at an address: what is sent to whom, and what each bad answer means."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agent_magics.errors import ToolError
from agent_magics.tools.mcp.specs import server_spec
from tests.mcpkit import HERE, needs_sdk, with_servers

pytestmark = needs_sdk


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def sdk_server():
    """The server written with the SDK, over HTTP."""
    port = free_port()
    words = [sys.executable, str(HERE / "mcp_server.py"), "http", str(port)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "running on" in line:
                    break
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


class Faulty(BaseHTTPRequestHandler):
    """Answers each message as its server's `reply` says, and notes what it got."""

    def do_POST(self):
        size = int(self.headers.get("content-length", 0))
        message = json.loads(self.rfile.read(size) or b"null")
        self.server.seen.append((self.path, dict(self.headers), message))
        self.server.reply(self, message)

    def do_GET(self):
        self.send_response(405)
        self.end_headers()

    do_DELETE = do_GET  # noqa: N815  # the standard library's name

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def result(self, message, result) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.answer(200, body, content_type="application/json")

    def handshake(self, message) -> bool:
        """Answer what comes before a call."""
        method = message.get("method")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "web", "version": "1"}
            self.result(
                message,
                {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
            )
        elif method == "tools/list":
            tool = {"name": "go", "inputSchema": {"type": "object"}}
            self.result(message, {"tools": [tool]})
        elif "id" not in message:
            self.answer(202)
        else:
            return False
        return True

    def log_message(self, *_):
        pass


@contextmanager
def serving(reply):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.daemon_threads = True
    server.reply, server.seen = reply, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def at(server, **more):
    url = f"http://127.0.0.1:{server.server_port}/mcp"
    return server_spec("web", {"url": url, **more}, "user")


def told_of(tmp_path, server, **more) -> str:
    async def work(rig):
        return "\n".join(rig.told)

    return with_servers(tmp_path, work, at(server, **more))


def test_a_server_over_http_works_with_progress_and_elicitation(tmp_path):
    async def work(rig):
        added = await rig.call("mcp__web__add", a=20, b=1)
        await rig.call("mcp__web__slow", seconds=0.01)
        return added, rig.reported, await rig.call("mcp__web__ask")

    with sdk_server() as url:
        spec = server_spec("web", {"type": "http", "url": url}, "user")
        added, reported, asked = with_servers(tmp_path, work, spec)
    assert "the sum is 21" in added.text
    assert "1/3 a third is done\n" in reported
    assert "decline" in asked.text


def test_headers_are_sent_with_their_variables_filled_in(tmp_path):
    with serving(Faulty.handshake) as server:

        async def work(rig):
            return rig.servers.secrets(), sorted(rig.tools)

        spec = at(server, headers={"Authorization": "Bearer ${WEB_TOKEN}"})
        secrets, tools = with_servers(tmp_path, work, spec, variables={"WEB_TOKEN": "t-12345678"})
        assert tools == ["mcp__web__go"]
        sent = {headers.get("Authorization") for _, headers, _ in server.seen}
        assert sent == {"Bearer t-12345678"}
        assert secrets == ("Authorization=t-12345678",)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "401 Unauthorized: set its Authorization header"),
        (404, "404 Not Found: there is nothing at this path"),
        (500, "500 Internal Server Error"),
        (200, "Unexpected content type"),
    ],
)
def test_a_bad_status_is_said_with_what_to_do(tmp_path, status, words):
    with serving(lambda handler, _: handler.answer(status, b"<html>no</html>")) as server:
        assert words in told_of(tmp_path, server)


def test_a_redirect_to_another_host_is_not_followed_and_gets_no_header(tmp_path):
    with serving(Faulty.handshake) as other:
        where = f"http://localhost:{other.server_port}/mcp?x=1"
        with serving(lambda handler, _: handler.answer(307, location=where)) as server:
            told = told_of(tmp_path, server, headers={"Authorization": "Bearer secret-token"})
        assert other.seen == []
    assert f"http://localhost:{other.server_port}/mcp, which is not followed" in told
    assert "secret-token" not in told


def test_nobody_at_the_address_is_said(tmp_path):
    async def work(rig):
        return "\n".join(rig.told)

    spec = server_spec("web", {"url": f"http://127.0.0.1:{free_port()}/mcp"}, "user")
    assert "ConnectError" in with_servers(tmp_path, work, spec)


def test_a_server_that_stays_silent_is_given_up(tmp_path):
    release = threading.Event()
    try:
        with serving(lambda handler, _: release.wait(30)) as server:
            assert "did not answer within 1 s" in told_of(tmp_path, server, startup_timeout=1)
            release.set()
    finally:
        release.set()


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({}, b"x" * 25_000_000, "too long"),
        ({"content_encoding": "gzip"}, b"x", "encoded"),
        ({}, b'{"jsonrpc": "2.0", "id": 99', "parse"),
    ],
)
def test_a_call_whose_answer_cannot_be_read_is_an_error(tmp_path, headers, body, words):
    def reply(handler, message):
        if not handler.handshake(message):
            handler.answer(200, body, content_type="application/json", **headers)

    async def work(rig):
        with pytest.raises(ToolError, match=words):
            await rig.call("mcp__web__go")

    with serving(reply) as server:
        with_servers(tmp_path, work, at(server))


def test_a_server_that_is_gone_is_asked_once_more_and_then_given_up(tmp_path):
    async def work(rig):
        server.shutdown()
        server.server_close()
        with pytest.raises(ToolError, match=r"is gone.*ConnectError"):
            await rig.call("mcp__web__go")
        with pytest.raises(ToolError, match="is not there"):
            await rig.call("mcp__web__go")

    with serving(Faulty.handshake) as server:
        with_servers(tmp_path, work, at(server))


def test_an_expired_session_is_renewed_with_the_next_call(tmp_path):
    calls = []

    def reply(handler, message):
        if message.get("method") == "initialize":
            body = {
                "jsonrpc": "2.0",
                "id": message["id"],
                "result": {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "web", "version": "1"},
                },
            }
            handler.answer(
                200,
                json.dumps(body).encode(),
                content_type="application/json",
                mcp_session_id="s1",
            )
        elif not handler.handshake(message):
            calls.append(message)
            if len(calls) == 1:
                handler.answer(404)
            else:
                handler.result(message, {"content": [{"type": "text", "text": "back again"}]})

    async def work(rig):
        with pytest.raises(ToolError, match="is gone"):
            await rig.call("mcp__web__go")
        return await rig.call("mcp__web__go")

    with serving(reply) as server:
        assert "back again" in with_servers(tmp_path, work, at(server)).text
