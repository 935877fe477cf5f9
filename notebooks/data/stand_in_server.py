"""A stand-in for a model server: speaks the protocol of OpenAI-compatible servers, knows nothing.

It lets a notebook show what connecting looks like where there is no model. Loopback only.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "stand-in"


class StandIn:
    """A server on a free port of this machine; `url` is what to connect to.

    Args:
        key: The key that it asks for; empty: none.
    """

    def __init__(self, key: str = "") -> None:
        handler = type("Handler", (_Handler,), {"key": key})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    key = ""

    def do_GET(self) -> None:
        if self._may():
            self._json(200, {"object": "list", "data": [{"id": NAME, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._may():
            return
        if asked["model"] != NAME:
            self._error(404, f"The model {asked['model']!r} does not exist", "model_not_found")
            return
        last = str(asked["messages"][-1]["content"])
        words = ["ready"] if "the one word: ready" in last else _answer(asked).split(" ")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number, word in enumerate(words):
            self._event({"delta": {"content": word if number == 0 else f" {word}"}})
        self._event({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _may(self) -> bool:
        if self.key and self.headers.get("Authorization") != f"Bearer {self.key}":
            self._error(401, "Incorrect API key provided", "invalid_api_key")
            return False
        return True

    def _event(self, choice: dict) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": NAME}
        chunk["choices"] = [{"index": 0, "finish_reason": None, **choice}]
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def _error(self, status: int, message: str, code: str) -> None:
        self._json(status, {"error": {"message": message, "code": code, "type": "error"}})

    def _json(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Quiet."""


def _answer(asked: dict) -> str:
    roles = " and ".join(f"a message from the {one['role']}" for one in asked["messages"])
    return (
        f"I am a stand-in, not a model: I say this whatever you ask. I got {roles}, and the "
        "descriptions of the tools; a real model would have got the same."
    )
