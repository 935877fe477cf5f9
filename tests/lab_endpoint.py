"""A model on loopback that says what a test wrote down: the far end of a real client.

Speaks just enough of the chat-completions protocol for one conversation per model name, and keeps
what it was sent. Knows nothing of the product; the conformance suite has a server for faults.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 30.0
"""Seconds that a test waits for a request, or a held answer for its release."""


@dataclass(frozen=True, slots=True)
class Says:
    """One answer of the model.

    Args:
        text: The visible words.
        calls: Tool names and their arguments.
        hold: Stop in the middle of the answer until `Endpoint.release` or the client goes away.
        status: An HTTP error instead of an answer; `text` is then the error's message.
        reasoning: What the model thinks before it answers.
        retry: Whether the client may try an error again.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    hold: bool = False
    status: int = 200
    reasoning: str = ""
    retry: bool = False


class Endpoint:
    """Use as a context manager; `url` is what `OPENAI_BASE_URL` would hold."""

    def __init__(self) -> None:
        self._answers: dict[str, deque[Says]] = defaultdict(deque)
        self._requests: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._keys: dict[str, list[str]] = defaultdict(list)
        self._functions: dict[str, Callable[[dict[str, Any]], Says]] = {}
        self._news = threading.Condition()
        self._released: set[str] = set()
        self._gone: set[str] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Endpoint:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(self, model: str, *answers: Says) -> None:
        """What the model of this name says, one answer per request."""
        self._answers[model].extend(answers)

    def forget(self, model: str) -> None:
        """Take back what was written for a model, and hold its answers again."""
        self._answers[model].clear()
        with self._news:
            self._released.discard(model)

    def answering(self, model: str, answer: Callable[[dict[str, Any]], Says]) -> None:
        """What the model of this name says to any request; called from several threads."""
        self._functions[model] = answer

    def requests(self, model: str, count: int = 0) -> list[dict[str, Any]]:
        """What the model was sent so far, as soon as it has been asked `count` times."""
        with self._news:
            come = self._news.wait_for(lambda: len(self._requests[model]) >= count, PATIENCE)
            assert come, f"{model} was asked {len(self._requests[model])} times, not {count}"
            return list(self._requests[model])

    def keys(self, model: str) -> list[str]:
        """The API key of each request so far."""
        return list(self._keys[model])

    def told(self, model: str) -> list[str]:
        """The tool results in the newest request, in order."""
        messages = self.requests(model, 1)[-1]["messages"]
        return [str(m["content"]) for m in messages if m["role"] == "tool"]

    def release(self, model: str) -> None:
        """Let held answers go on."""
        self._note(self._released, model)

    def hung_up(self, model: str) -> bool:
        """Whether a client went away in the middle of a held answer; waits for that."""
        with self._news:
            return self._news.wait_for(lambda: model in self._gone, PATIENCE)

    def _note(self, where: set[str], model: str) -> None:
        with self._news:
            where.add(model)
            self._news.notify_all()

    def _goes_on(self, model: str) -> bool:
        """Whether a held answer was released; waits a little for it."""
        with self._news:
            return self._news.wait_for(lambda: model in self._released, 0.05)

    def _next(self, request: dict[str, Any]) -> Says:
        model = request["model"]
        with self._news:
            self._requests[model].append(request)
            self._news.notify_all()
        if model in self._functions:
            return self._functions[model](request)
        with self._news:
            answers = self._answers[model]
            return answers.popleft() if answers else Says(f"(nothing more is written for {model})")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(length))
                model = request["model"]
                key = str(self.headers["Authorization"]).removeprefix("Bearer ")
                endpoint._keys[model].append(key)
                says = endpoint._next(request)
                if says.status != 200:
                    body = json.dumps({"error": {"message": says.text}}).encode()
                    self.send_response(says.status)
                    self.send_header("Content-Length", str(len(body)))
                    self.send_header("x-should-retry", str(says.retry).lower())
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                try:
                    for piece in endpoint._pieces(says, model, length // 4):
                        self.wfile.write(f"data: {piece}\n\n".encode())
                        self.wfile.flush()
                except OSError:
                    endpoint._note(endpoint._gone, model)

        return Handler

    def _pieces(self, says: Says, model: str, tokens: int) -> Iterator[str]:
        """The answer as events of the stream."""
        if says.reasoning:
            yield _chunk({"reasoning_content": says.reasoning})
        half = len(says.text) // 2
        for text in (says.text[:half], says.text[half:]):
            if text:
                yield _chunk({"content": text})
            # Empty pieces keep coming, so that a client that hangs up is noticed.
            while says.hold and not self._goes_on(model):
                yield _chunk({"content": ""})
        for number, (name, arguments) in enumerate(says.calls):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            function = {"name": name, "arguments": text}
            call = {"index": number, "id": f"call_{number}", "type": "function"}
            yield _chunk({"tool_calls": [{**call, "function": function}]})
        yield _chunk({}, "tool_calls" if says.calls else "stop")
        usage = {"prompt_tokens": tokens, "completion_tokens": 20}
        yield json.dumps(_frame([]) | {"usage": usage})
        yield "[DONE]"


def _frame(choices: list[Any]) -> dict[str, Any]:
    return {"id": "x", "object": "chat.completion.chunk", "choices": choices}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(_frame([choice]))
