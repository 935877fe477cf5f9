"""A fake of each well-known server: strict about what the real one refuses, in its own words.

One HTTP server on loopback plays all of them, each below a path of its own. A request that the real
server would refuse is answered with its status and its text; a good one with a tool call first, and
with a text once the call's result is there, each carrying the fields that the real one adds.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REQUEST = frozenset((
    "model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_tokens",
    "max_completion_tokens", "temperature", "stop", "logprobs", "parallel_tool_calls",
))  # fmt: skip
FORBIDDEN = "Extra inputs are not permitted"
Check = Callable[[Mapping[str, Any], Mapping[str, str]], Iterator[str]]


@dataclass(frozen=True)
class Strict:
    """One server.

    Args:
        check: Its refusals, in its words.
        ids: The form of the ids it gives; `{n}` is a number.
        message: Fields that it adds to an answer.
        call: Fields that it adds to a call.
        status: Of its refusals.
    """

    check: Check
    ids: str = "call_{n:024d}"
    message: Mapping[str, Any] = field(default_factory=dict)
    call: Mapping[str, Any] = field(default_factory=dict)
    status: int = 400


def said(body: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, message in enumerate(body["messages"]):
        if message["role"] == "assistant":
            yield number, message


def foreign(body: Mapping[str, Any], own: set[str], calls: set[str]) -> Iterator[str]:
    """Fields of answers and calls that this server does not know."""
    for number, message in said(body):
        for name in sorted(set(message) - {"role", "content", "tool_calls"} - own):
            yield f"messages.{number}.{name}"
        for call in message.get("tool_calls") or ():
            for name in sorted(set(call) - {"id", "type", "function"} - calls):
                yield f"messages.{number}.tool_calls.{name}"


def openai(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    if "max_tokens" in body:
        yield (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
    for place in foreign(body, set(), set()):
        yield f"Unknown parameter: '{place}'."
    for _, message in said(body):
        for call in message.get("tool_calls") or ():
            if len(call["id"]) > 40:
                yield "Invalid 'messages[1].tool_calls[0].id': string too long. Maximum length 40"


def azure(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
    if "authorization" in headers or "api-key" not in headers:
        yield "Access denied due to invalid subscription key or wrong API endpoint."
    yield from openai(body, headers)


def anthropic(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    for place in foreign(body, set(), set()):
        yield f"{place}: Extra inputs are not permitted"
    for number, message in said(body):
        if message["content"] == "":
            yield f"messages.{number}: text content blocks must be non-empty"
        for call in message.get("tool_calls") or ():
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", call["id"]):
                yield f"messages.{number}: tool_use.id: String should match pattern '^[a-z]+$'"


def gemini(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    if "$schema" in json.dumps(body.get("tools") or []):
        yield 'Invalid JSON payload received. Unknown name "$schema" at tools[0].parameters'
    for place in foreign(body, set(), {"extra_content"}):
        yield f'Invalid JSON payload received. Unknown name "{place.rpartition(".")[2]}"'
    for number, message in said(body):
        calls = message.get("tool_calls") or ()
        if calls and not (calls[0].get("extra_content") or {}).get("google"):
            yield (
                "Function call is missing a thought_signature in functionCall parts. "
                f"Position {number}."
            )


def openrouter(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    for place in foreign(body, {"reasoning", "reasoning_details"}, set()):
        yield f"Unrecognized key: {place}"


def deepseek(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    if "image_url" in json.dumps(body):
        yield (
            "Failed to deserialize the JSON body into the target type: messages[0]: unknown "
            "variant `image_url`, expected `text`"
        )
    for _, message in said(body):
        if message.get("tool_calls") and not isinstance(message.get("reasoning_content"), str):
            yield "The `reasoning_content` in the thinking mode must be passed back to the API."
    for place in foreign(body, {"reasoning_content"}, set()):
        yield f"unknown field `{place}`"


def mistral(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    for name in ("stream_options", "max_completion_tokens"):
        if name in body:
            yield f"body.{name}: Extra inputs are not permitted (extra_forbidden)"
    for place in foreign(body, set(), set()):
        yield f"body.{place}: Extra inputs are not permitted (extra_forbidden)"
    last = ""
    for message in body["messages"]:
        if message["role"] == "user" and last == "tool":
            yield "Unexpected role 'user' after role 'tool'"
        last = message["role"]
    for _, message in said(body):
        for call in message.get("tool_calls") or ():
            if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
                yield ("Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.")


def groq(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    for name in ("logprobs", "logit_bias", "top_logprobs"):
        if name in body:
            yield f"property '{name}' is unsupported"
    for place in foreign(body, set(), set()):
        where, _, name = place.rpartition(".")
        yield (
            f"'{where}' : for 'role:assistant' the following must be satisfied[('{where}' : "
            f"property '{name}' is unsupported)]"
        )


def xai(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    if "stop" in body:
        yield "Model grok does not support parameter stop."
    for place in foreign(body, set(), set()):
        yield f"Invalid request content: unknown field `{place}`"


def together(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    for place in foreign(body, set(), set()):
        yield f"Input validation error: unexpected field {place}"


def local(body: Mapping[str, Any], _headers: Mapping[str, str]) -> Iterator[str]:
    """Servers of one's own ignore what they do not know; a broken history they refuse."""
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"tool_call_id {message['tool_call_id']!r} not found"
        else:
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]


STRICT: Mapping[str, Strict] = {
    "openai": Strict(openai),
    "azure": Strict(azure),
    "anthropic": Strict(anthropic, "toolu_01{n:022d}"),
    "gemini": Strict(
        gemini,
        "function-call-{n:020d}",
        call={"extra_content": {"google": {"thought_signature": "c2lnbmVk"}}},
    ),
    "openrouter": Strict(
        openrouter,
        "tool_0_ready_{n}",
        message={
            "reasoning": "Hm.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "s"}],
        },
    ),
    "deepseek": Strict(deepseek, "call_00_{n:020d}", message={"reasoning_content": "Hm."}),
    "mistral": Strict(mistral, "{n:09d}", status=422),
    "groq": Strict(groq, "fc_{n:032d}", message={"reasoning": "Hm."}),
    "xai": Strict(xai, message={"reasoning_content": "Hm."}),
    "together": Strict(together, message={"reasoning": "Hm."}),
    "ollama": Strict(local, "call_{n:08d}", message={"reasoning": "Hm."}),
    "lmstudio": Strict(local, "{n:09d}", message={"reasoning_content": "Hm."}),
    "llamacpp": Strict(local, "{n:032d}", message={"reasoning_content": "Hm."}),
    # 46 characters, which OpenAI refuses; and Kimi's form with a colon.
    "vllm": Strict(local, "chatcmpl-tool-{n:032d}", message={"reasoning_content": "Hm."}),
    "sglang": Strict(local, "functions.ready:{n}", message={"reasoning_content": "Hm."}),
}
"""By the names of `providers.servers`."""


def refusals(name: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> list[str]:
    """Why the server would refuse a request; empty if it takes it."""
    unknown = [f"Unrecognized request argument: {key}" for key in set(body) - REQUEST]
    return unknown + list(STRICT[name].check(body, headers)) + list(local(body, headers))


def has_result(body: Mapping[str, Any]) -> bool:
    """Whether the newest prompt's call has its result; pictures of results are no prompt."""
    found = False
    for message in body["messages"]:
        if message["role"] == "tool":
            found = True
        elif message["role"] == "user" and "PROMPT" in json.dumps(message["content"]):
            found = False
    return found


class StrictServers:
    """`with StrictServers() as servers:` plays all of them until the block ends."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []
        self.asked = 0
        self._numbers = itertools.count(1)
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                name = self.path.split("/")[1]
                headers = {key.lower(): value for key, value in self.headers.items()}
                status, kind, answer = owner.answer(name, body, headers)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> StrictServers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, name: str) -> str:
        """The base URL of one of them."""
        return f"http://127.0.0.1:{self._server.server_port}/{name}/v1"

    def answer(
        self, name: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[int, str, bytes]:
        """What the server says to a request."""
        self.asked += 1
        why = refusals(name, body, headers)
        strict = STRICT[name]
        if why:
            self.refused.append((name, why[0]))
            status = 401 if "Access denied" in why[0] else strict.status
            error: dict[str, Any] = {"error": {"message": why[0], "type": "invalid_request_error"}}
            if "extra_forbidden" in why[0]:  # Mistral's shape
                place = why[0].partition(":")[0].split(".")
                error = {"detail": [{"type": "extra_forbidden", "loc": place, "msg": FORBIDDEN}]}
            return status, "application/json", json.dumps(error).encode()
        message: dict[str, Any] = {"role": "assistant", **strict.message}
        ending = "stop"
        if has_result(body):
            message["content"] = f"This is {name}."
        else:
            ending = "tool_calls"
            message["content"] = None
            message["tool_calls"] = [
                {
                    "index": 0,
                    "id": strict.ids.format(n=next(self._numbers)),
                    "type": "function",
                    "function": {"name": "ready", "arguments": '{"word": "ready"}'},
                    **strict.call,
                }
            ]
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        chunk = {"choices": [{"index": 0, "delta": message, "finish_reason": ending}]}
        if not body.get("stream"):
            whole = {"choices": [{"message": message, "finish_reason": ending}], "usage": usage}
            return 200, "application/json", json.dumps(whole).encode()
        lines = [json.dumps(chunk), json.dumps({"choices": [], "usage": usage}), "[DONE]"]
        return 200, "text/event-stream", "".join(f"data: {x}\n\n" for x in lines).encode()
