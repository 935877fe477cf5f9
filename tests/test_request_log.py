"""The log of requests: off until asked for, whole, and without keys."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest

from agent_magics.errors import ModelError, UsageProblem
from agent_magics.messages import User
from agent_magics.ports import Request
from agent_magics.providers.exchanges import MAX_TEXT, RequestLog
from agent_magics.providers.openai import Endpoint, OpenAIModel, Patience
from agent_magics.providers.place import Place
from tests.fake import FakeServer
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

KEY = "sk-test-0123456789abcdef"
PLACE = Place("https://host/v1", "m", (KEY,))


@pytest.fixture(scope="module")
def server():
    with FakeServer() as server:
        yield server


async def no_sleep(_seconds):
    pass


def asked(url, lines, text="What is here?", key=KEY, **fields):
    log = RequestLog(lines.append, lambda: lambda text: text.replace("hunter2secret", "[x]"))
    endpoint = Endpoint(url, key, patience=Patience(tries=2), **fields)
    model = OpenAIModel("fake", endpoint=endpoint, sleep=no_sleep, log=log)

    async def main():
        try:
            async for _ in model.stream(Request("Be exact.", (User(text),))):
                pass
        finally:
            await model.aclose()

    asyncio.run(main())


def read(lines):
    return [json.loads(line) for line in lines]


def test_a_request_and_its_streamed_answer_are_two_lines(server):
    lines = []
    asked(server.scenario(turns=0).url, lines)
    request, response = read(lines)
    assert (request["request"], request["method"]) == (1, "POST")
    assert request["url"].endswith("/chat/completions")
    assert request["body"]["messages"][-1] == {"role": "user", "content": "What is here?"}
    assert (response["response"], response["status"]) == (1, 200)
    assert response["stream"].startswith("data: {")
    assert "[DONE]" in response["stream"]
    assert response["headers"]["content-type"].startswith("text/event-stream")


def test_no_key_is_in_it_wherever_it_stands(server):
    lines = []
    url = server.scenario(turns=0).url.replace("http://", "http://me:hunter2secret@")
    secret = {"X-Token": "header-token-1234567890"}
    text = f"my key is {KEY} and sk-other0123456789abcdefgh, header-token-1234567890"
    asked(f"{url}?api-version=hunter2secret", lines, text, headers=secret)
    told = b"".join(lines).decode()
    for key in (KEY, "hunter2secret", "header-token-1234567890", "sk-other0123456789"):
        assert key not in told
    assert "authorization" not in told.lower()
    assert read(lines)[1]["sent_headers"]["content-type"] == "application/json"


def test_a_refusal_and_a_lost_connection_are_in_it(server):
    lines = []
    with pytest.raises(ModelError):
        asked(f"http://127.0.0.1:{server.unused_port()}/v1", lines)
    first, second = read(lines)[:2]
    assert (first["request"], second["response"]) == (1, 1)
    assert "status" not in second
    assert second["error"]
    assert len(lines) == 4  # it was tried twice


def test_nothing_is_written_until_it_is_asked_for(server):
    log = RequestLog()
    assert log.begin(PLACE, "POST", "/x", b"{}") is None


def test_texts_are_cut_at_a_bound_and_that_is_said():
    lines = []
    log = RequestLog(lines.append)
    exchange = log.begin(PLACE, "POST", "/x", json.dumps({"a": "b" * (MAX_TEXT + 5)}).encode())
    exchange.answered(200, {"content-type": "text/plain"})
    for _ in range(3):
        exchange.piece(b"c" * MAX_TEXT)
    exchange.ended()
    exchange.ended("again")
    request, response = read(lines)
    assert request["body"]["a"].endswith("[… 5 characters not written]")
    assert response["body"].endswith(f"[… {2 * MAX_TEXT:,} bytes not written]")


def test_a_body_that_is_no_json_or_nested_too_deeply_is_text():
    lines = []
    log = RequestLog(lines.append)
    for body in (b"\xff{", b"[" * 500 + b"]" * 500, b"[" * 100_000, b'{"a": "\\ud800"}'):
        log.begin(PLACE, "POST", "/x", body)
    assert len(read(lines)) == 4


def say(shell, capsys, words):
    capsys.readouterr()
    magic(shell, "agent", words)
    return capsys.readouterr().out


def test_the_command_begins_and_ends_it_and_the_panel_says_so(shell, capsys, server):
    magics = shell.magics_manager.registry["AgentMagics"]
    magics.base_url, magics.model = server.scenario(turns=0).url, "fake"
    assert "not written" in say(shell, capsys, "log --requests")
    assert "without keys" in say(shell, capsys, "log --requests wire.jsonl")
    magic(shell, "agent", "", "What is here?")
    assert "written to wire.jsonl" in say(shell, capsys, "log --requests")
    magic(shell, "agent", "")
    assert "written to wire.jsonl" in str(magic(shell, "agent", ""))
    assert "not written any more" in say(shell, capsys, "log --requests off")
    lines = Path("wire.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"agent_magics_requests": 1}
    assert len(lines) == 3
    assert stat.S_IMODE(os.stat("wire.jsonl").st_mode) == 0o600
    magic(shell, "agent", "", "What is here?")
    assert len(Path("wire.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    magic(shell, "agent", "log --requests wire.jsonl")  # it is added to
    magic(shell, "agent", "", "What is here?")
    assert len(Path("wire.jsonl").read_text(encoding="utf-8").splitlines()) == 5


def test_another_file_is_left_as_it_is_and_the_log_goes_on(shell):
    Path("notes.txt").write_text("mine\n", encoding="utf-8")
    magic(shell, "agent", "log --requests wire.jsonl")
    with pytest.raises(UsageProblem, match="is no log of requests, so it is left as it is"):
        magic(shell, "agent", "log --requests notes.txt")
    magics = shell.magics_manager.registry["AgentMagics"]
    assert "wire.jsonl" in magics.services.requests.state()
