"""Another model in mid-conversation, between all pairs of known servers: nothing is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agent_magics.errors import ModelError
from agent_magics.messages import (
    Assistant,
    Conversation,
    Image,
    ToolResult,
    User,
    known_ids,
    normalised,
)
from agent_magics.ports import Request
from agent_magics.providers.openai import Endpoint, OpenAIModel, Patience
from agent_magics.providers.profiles import Profile
from agent_magics.providers.servers import SERVERS, server_at, server_named
from agent_magics.tool import Tool, ToolOutput
from tests.strict_servers import STRICT, StrictServers, refusals

PICTURE = Image("image/png", "AAAA")
KEY = "sk-test-0123456789abcdef"


async def _no_run(_arguments: object, _report: object) -> ToolOutput:
    raise AssertionError


READY = Tool(
    "ready",
    "Say so.",
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
    },
    "read",
    _no_run,
)


@pytest.fixture(scope="module")
def servers() -> Iterator[StrictServers]:
    with StrictServers() as running:
        yield running


def model_at(
    servers: StrictServers, name: str, model: str, profile: Profile | None = None
) -> OpenAIModel:
    known = server_named(name)
    assert known is not None
    endpoint = Endpoint(
        servers.url(name), KEY, profile=profile or known.profile, patience=Patience(tries=1)
    )
    return OpenAIModel(model, endpoint=endpoint)


async def turn(model: OpenAIModel, conversation: Conversation, prompt: User) -> Conversation:
    """A prompt, a call, its result with a picture, and an answer."""
    conversation = (*conversation, prompt)
    for _ in range(4):
        request = Request("Be brief.", conversation, (READY,))
        last: Assistant | None = None
        async for item in model.stream(request):
            if isinstance(item, Assistant):
                last = item
        assert last is not None
        said = normalised(last, known_ids(conversation))
        conversation = (*conversation, Assistant(**_fields(said, model.name)))
        if not said.calls:
            return conversation
        results = [ToolResult(call.id, "seen", images=(PICTURE,)) for call in said.calls]
        conversation = (*conversation, *results)
    raise AssertionError("the model goes on calling")


def _fields(said: Assistant, model: str) -> dict[str, object]:
    names = ("text", "calls", "stop", "usage", "reasoning", "extra")
    return {**{name: getattr(said, name) for name in names}, "model": model}


@pytest.mark.parametrize("first", STRICT)
@pytest.mark.parametrize("shared", [True, False], ids=["one name", "two names"])
def test_a_conversation_moves_between_all_pairs_of_servers_and_back_without_a_refusal(
    servers: StrictServers, first: str, shared: bool
) -> None:
    async def there_and_back() -> None:
        for second in STRICT:
            names = ("m", "m") if shared else (f"m-{first}", f"n-{second}")
            one, other = (
                model_at(servers, server, name)
                for server, name in zip((first, second), names, strict=True)
            )
            talk = await turn(one, (), User("PROMPT Look.", (PICTURE,)))
            talk = await turn(other, talk, User("PROMPT And now?"))
            talk = await turn(one, talk, User("PROMPT And again?"))
            texts = [m.text for m in talk if isinstance(m, Assistant) and not m.calls]
            assert texts == [f"This is {name}." for name in (first, second, first)]
            await one.aclose()
            await other.aclose()

    before = len(servers.refused)
    asyncio.run(there_and_back())
    assert servers.refused[before:] == []


@pytest.mark.parametrize("name", [name for name in STRICT if name != "azure"])
def test_a_server_that_was_not_recognised_is_learnt_from_its_refusals(
    servers: StrictServers, name: str
) -> None:
    async def ask() -> Conversation:
        model = model_at(servers, name, "m", Profile())
        foreign = await turn(model_at(servers, "vllm", "m"), (), User("PROMPT Look.", (PICTURE,)))
        talk = await turn(model, foreign, User("PROMPT And now?"))
        return await turn(model, talk, User("PROMPT And again?"))

    talk = asyncio.run(ask())
    assert talk[-1].text == f"This is {name}."  # type: ignore[union-attr]  # it is an answer


def test_a_key_in_the_wrong_header_is_refused_and_the_key_is_not_repeated(
    servers: StrictServers,
) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(turn(model_at(servers, "azure", "m", Profile()), (), User("PROMPT")))
    assert "refused the API key" in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_fakes_do_refuse() -> None:
    bare = {"role": "assistant", "content": "x", "odd": 1}
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}, bare]}
    for name in STRICT:
        lenient = STRICT[name].check.__name__ == "local"
        assert bool(refusals(name, body, {"api-key": "k"})) is not lenient, name
        assert refusals(name, {**body, "n": 2}, {"api-key": "k"})


def test_each_known_server_has_a_fake_and_each_address_of_its_own_is_recognised() -> None:
    assert set(STRICT) | {"cerebras", "zai"} == {server.name for server in SERVERS}
    for server in SERVERS:
        if server.url:
            assert server_at(server.url) is server
        for host in server.hosts:
            assert server_at(f"https://{host}/v1") is server
        if server.port:
            assert server_at(f"http://gpu.example:{server.port}/v1") is server


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://mine.openai.azure.com/openai/v1", "azure"),
        ("https://mine.openai.azure.com/openai/deployments/d?api-version=2024-10-21", "azure"),
        ("https://mine.services.ai.azure.com/openai/v1/", "azure"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://evil.example/api.openai.com/v1", "other"),
        ("https://api.openai.com.evil.example/v1", "other"),
        ("http://[::1", "other"),
    ],
)
def test_a_server_is_recognised_by_its_host(url: str, name: str) -> None:
    assert server_at(url).name == name
