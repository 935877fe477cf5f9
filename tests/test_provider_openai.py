"""The real client against the fake server: connections, event loops, lessons, keys, interrupts."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from agent_magics.errors import ModelError
from agent_magics.events import Notice, TextDelta
from agent_magics.messages import Assistant, Image, User
from agent_magics.ports import Request, Streamed
from agent_magics.providers.checking import test_connection as connection_report
from agent_magics.providers.openai import (
    Endpoint,
    Learnt,
    OpenAIModel,
    Patience,
    Timeouts,
    model_names,
    preload,
)
from agent_magics.providers.profiles import Profile
from tests.fake import FakeServer, Scenario

REQUEST = Request("", (User("x"),))
KEY = "sk-test-0123456789abcdef"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


async def no_sleep(_seconds: float) -> None:
    pass


def model(scenario: Scenario | str, **fields: Any) -> OpenAIModel:
    url = scenario if isinstance(scenario, str) else scenario.url
    lessons = fields.pop("lessons", None)
    endpoint = Endpoint(url, fields.pop("key", KEY), **fields)
    return OpenAIModel("fake", endpoint=endpoint, sleep=no_sleep, lessons=lessons)


async def read(stream: AsyncIterator[Streamed]) -> list[Streamed]:
    return [item async for item in stream]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread to see something; the test's own time-out bounds it."""
    while not condition():  # noqa: ASYNC110  # an event cannot be set across these threads
        await asyncio.sleep(0.005)


def ask(asked: OpenAIModel, request: Request = REQUEST) -> list[Streamed]:
    async def main() -> list[Streamed]:
        try:
            return await read(asked.stream(request))
        finally:
            await asked.aclose()

    return asyncio.run(main())


def test_one_model_answers_in_one_event_loop_after_the_other(server: FakeServer) -> None:
    asked = model(server.scenario(turns=0))
    for _ in range(3):
        assert ask(asked)[-1].stop == "end"


def test_a_loop_that_ended_without_closing_does_not_harm_the_next(server: FakeServer) -> None:
    asked = model(server.scenario(turns=0))
    for _ in range(3):
        assert asyncio.run(read(asked.stream(REQUEST)))[-1].stop == "end"
    gc.collect()
    assert len(asked._clients._by_loop) <= 1


def test_two_loops_can_ask_the_same_model_at_the_same_time(server: FakeServer) -> None:
    asked = model(server.scenario(turns=0, final=200, delay=0.0005))
    answers: list[str] = []

    def work() -> None:
        answers.append(ask(asked)[-1].text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == 4
    assert all(answer.endswith("DONE") for answer in answers)


def test_the_connection_is_kept_from_one_request_to_the_next(server: FakeServer) -> None:
    scenario = server.scenario(turns=0)
    asked = model(scenario)

    async def main() -> None:
        for _ in range(5):
            await read(asked.stream(REQUEST))
        await asked.aclose()

    before = server.connections
    asyncio.run(main())
    assert server.connections - before == 1
    assert len(scenario.requests) == 5


@pytest.mark.parametrize("fault", ["slow", "stall", "silentheaders"])
def test_cancelling_closes_the_connection_at_once(fault: str, server: FakeServer) -> None:
    scenario = server.scenario(turns=0, fault=fault, at=0, slow=600)
    asked = model(scenario)

    before = server.open_connections

    async def main() -> None:
        task = asyncio.create_task(read(asked.stream(REQUEST)))
        await until(lambda: bool(scenario.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.open_connections <= before)
        await asked.aclose()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_leaving_the_stream_early_closes_the_connection(server: FakeServer) -> None:
    asked = model(server.scenario(turns=0, fault="stall", at=0, slow=600))
    before = server.open_connections

    async def main() -> None:
        stream = asked.stream(REQUEST)
        async for item in stream:
            if isinstance(item, TextDelta):
                break
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        await until(lambda: server.open_connections <= before)
        await asked.aclose()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_headers_keys_and_queries_reach_the_server(server: FakeServer) -> None:
    scenario = server.scenario(turns=0)
    ask(model(scenario.url + "?api-version=7", key=f" {KEY}\n", headers={"X-Team": "blue"}))
    (request,) = scenario.requests
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert request["headers"]["x-team"] == "blue"
    assert request["target"].endswith("/chat/completions?api-version=7")


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(model(server.scenario(turns=0)))[-1].stop == "end"


@pytest.mark.parametrize("key", ["sk-“quoted”", "two\nlines", "tab\tbed"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(
    key: str, server: FakeServer
) -> None:
    with pytest.raises(ModelError) as caught:
        ask(model(server.scenario(turns=0), key=key))
    assert "cannot be sent" in str(caught.value)
    assert key not in str(caught.value)


def test_the_key_is_in_no_repr_and_in_no_error_whatever_the_server_says(
    server: FakeServer,
) -> None:
    asked = model(server.scenario(turns=0, fault="401", at=0))
    assert KEY not in repr(asked)
    assert KEY not in repr(asked.endpoint)
    with pytest.raises(ModelError) as caught:
        ask(asked)
    seen: BaseException | None = caught.value
    while seen is not None:
        assert KEY not in str(seen)
        seen = seen.__cause__


@pytest.mark.parametrize(
    ("fault", "profile"),
    [
        ("nostreamoptions", Profile(stream_options=False)),
        ("nostream", Profile(stream=False)),
        ("nosystem", Profile(system_role="user")),
    ],
)
def test_a_refused_form_is_learnt_once_and_remembered(
    fault: str, profile: Profile, server: FakeServer
) -> None:
    scenario, lessons = server.scenario(turns=0, fault=fault), Learnt()
    asked = model(scenario, lessons=lessons)
    request = Request("be brief", (User("x"),))
    assert ask(asked, request)[-1].stop == "end"
    assert len(scenario.requests) == 2
    assert ask(asked, request)[-1].stop == "end"
    assert len(scenario.requests) == 3
    assert asked.profile == profile
    assert model(scenario, lessons=lessons).profile == profile
    assert model(scenario).profile == Profile()


def test_the_person_is_told_when_a_lesson_takes_something_away(server: FakeServer) -> None:
    scenario = server.scenario(turns=0, fault="noimages")
    items = ask(model(scenario), Request("", (User("look", (Image("image/png", "AA"),)),)))
    (notice,) = [item for item in items if isinstance(item, Notice)]
    assert "image" in notice.text
    assert b"image_url" not in scenario.bodies[-1]


def test_a_server_that_refuses_everything_is_not_asked_for_ever(server: FakeServer) -> None:
    scenario = server.scenario(turns=0, fault="422", at=0, times=99)
    with pytest.raises(ModelError):
        ask(model(scenario))
    assert len(scenario.requests) == 1


def test_without_streaming_the_same_comes_at_once(server: FakeServer) -> None:
    scenario = server.scenario(turns=0)
    items = ask(model(scenario, stream=False))
    assert [type(item) for item in items] == [TextDelta, Assistant]
    assert "stream" not in json.loads(scenario.bodies[0])


# --- the check of a connection -------------------------------------------------------------------


def check(asked: OpenAIModel) -> str:
    return asyncio.run(connection_report(asked))


def test_a_connection_that_works_is_one_line(server: FakeServer) -> None:
    scenario = server.scenario(turns=1, tool="ready")
    text = check(model(scenario))
    assert "answers and calls tools" in text
    assert "\n" not in text
    assert len(scenario.requests) == 1


def test_a_model_that_talks_in_place_of_calling_is_told_with_a_remedy(server: FakeServer) -> None:
    text = check(model(server.scenario(turns=0)))
    first, second = text.split("\n")
    assert "answers (" in first
    assert "asked to call a tool and did not" in second
    assert "try a larger model" in second


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", "API key"),
        ("404", "It has: fake."),
        ("429quota", "quota"),
        ("html200", "/v1"),
        ("500", "later"),
        ("closed", "without an answer"),
    ],
)
def test_a_connection_that_does_not_is_two_lines_after_one_request(
    fault: str, words: str, server: FakeServer
) -> None:
    scenario = server.scenario(turns=0, fault=fault, at=0, times=9)
    text = check(model(scenario))
    assert words in text
    assert len(text.splitlines()) == 2
    assert len(scenario.requests) == 1


def test_a_server_that_is_not_there_is_named(server: FakeServer) -> None:
    text = check(model(f"http://127.0.0.1:{server.unused_port()}/v1"))
    assert "Start the server" in text


def test_models_are_listed_and_a_list_that_is_none_is_empty(server: FakeServer) -> None:
    async def main() -> tuple[str, ...]:
        asked = model(server.scenario())
        try:
            return await asked.models()
        finally:
            await asked.aclose()

    assert asyncio.run(main()) == ("fake",)
    assert model_names(b'[{"id": "a"}, {"id": 5}, 3]') == ("a",)
    assert model_names(b"<html>") == model_names(b'"x"') == ()
    nowhere = model(f"http://127.0.0.1:{server.unused_port()}/v1", patience=Patience(tries=1))
    with pytest.raises(ModelError):
        asyncio.run(nowhere.models())


# --- cost ----------------------------------------------------------------------------------------


def test_importing_the_provider_does_not_import_the_package() -> None:
    code = (
        "import sys, agent_magics.providers.openai, agent_magics.providers.checking;"
        "print([m for m in ('openai', 'httpx2', 'pydantic') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_nothing_is_left_open_behind_a_session(server: FakeServer) -> None:
    code = (
        "import asyncio, gc\n"
        "from agent_magics.messages import User\n"
        "from agent_magics.ports import Request\n"
        "from agent_magics.providers.openai import Endpoint, OpenAIModel\n"
        f"model = OpenAIModel('fake', endpoint=Endpoint({server.scenario(turns=0).url!r}))\n"
        "async def main():\n"
        "    items = [i async for i in model.stream(Request('', (User('x'),)))]\n"
        "    await model.aclose()\n"
        "    return items\n"
        "for _ in range(3):\n"
        "    assert asyncio.run(main())[-1].stop == 'end'\n"
        "gc.collect()\n"
    )
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, check=True
    )
    assert "ResourceWarning" not in run.stderr
    assert "never" not in run.stderr


@pytest.mark.parametrize(
    ("fault", "words"),
    [("silentheaders", "list of models"), ("drop", "broke off"), ("404", "404")],
)
def test_a_list_of_models_that_does_not_come_is_an_error(
    fault: str, words: str, server: FakeServer
) -> None:
    asked = model(
        server.scenario(fault=fault, models=1), timeout=Timeouts(connect=0.5, first=0.5, idle=0.5)
    )
    with pytest.raises(ModelError, match=words):
        asyncio.run(asked.models())


def test_a_server_that_says_not_to_retry_is_obeyed(server: FakeServer) -> None:
    scenario = server.scenario(turns=0, fault="503noretry", at=0, times=9)
    with pytest.raises(ModelError):
        ask(model(scenario))
    assert len(scenario.requests) == 1


def test_a_base_url_that_is_none_is_an_error_before_anything_is_sent() -> None:
    with pytest.raises(ModelError, match="cannot be used"):
        ask(model("localhost:11434/v1"))


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://127.0.0.1:9")
    with pytest.raises(ModelError, match="proxy"):
        ask(model("https://host.invalid/v1"))


def test_certificates_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/ca.pem")
    with pytest.raises(ModelError, match="SSL_CERT_FILE"):
        ask(model("https://host.invalid/v1"))


def test_preloading_imports_the_package() -> None:
    preload()
    assert "openai" in sys.modules


def test_a_server_that_never_shakes_hands_is_given_up_after_the_time_to_connect() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        text = check(model(url, timeout=Timeouts(connect=0.3)))
    assert "No connection" in text
    assert "0.3 s" in text


def test_a_request_that_json_has_no_form_for_is_an_error_and_no_crash(server: FakeServer) -> None:
    scenario = server.scenario(turns=0)
    request = Request("", (User("x"),), options={"seed": object()})
    with pytest.raises(ModelError, match="options of the model"):
        ask(model(scenario), request)
    assert scenario.requests == []
