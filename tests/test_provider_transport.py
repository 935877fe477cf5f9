"""Proxies, certificates, headers and redirects on the real wire, all on loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_magics.errors import ModelError
from agent_magics.messages import Assistant, User
from agent_magics.ports import Request
from agent_magics.providers.openai import Endpoint, OpenAIModel, Patience, Timeouts
from agent_magics.providers.servers import server_named
from tests.fake import FakeServer
from tests.fetchkit import Site, moved, reply
from tests.proxykit import Proxy, Way

CERTIFICATE = Path(__file__).parent / "pages.example.org.pem"
HOST = "https://pages.example.org/v1"
KEY = "sk-test-0123456789abcdef"
GOOD = {"choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}
ANSWER = reply(json.dumps(GOOD), "application/json")
PATHS = {"/v1/chat/completions": ANSWER, "/v1/models": reply('{"data": [{"id": "m"}]}')}


@pytest.fixture
def secure() -> Iterator[Site]:
    """A server with TLS and a certificate that only its own file vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with Site(PATHS, context) as site:
        yield site


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def asked(endpoint: Endpoint) -> str:
    """The answer's text."""
    model = OpenAIModel("m", endpoint=replace(endpoint, patience=Patience(tries=1)))

    async def ask() -> str:
        async for item in model.stream(Request("", (User("x"),))):
            if isinstance(item, Assistant):
                await model.aclose()
                return item.text
        raise AssertionError

    return asyncio.run(ask())


def failure(endpoint: Endpoint) -> str:
    with pytest.raises(ModelError) as caught:
        asked(endpoint)
    text = str(caught.value)
    assert text.count("\n") == 1, text
    assert KEY not in text
    return text


def through(proxy: Proxy, **more: object) -> Endpoint:
    return Endpoint(HOST, KEY, proxy=proxy.url, ca_file=CERTIFICATE, **more)  # type: ignore[arg-type]


def test_the_endpoints_proxy_and_certificate_are_used_and_the_key_goes_through_the_tunnel(
    secure: Site,
) -> None:
    with Proxy("works", secure.port) as proxy:
        assert asked(through(proxy, name="mine")) == "Hi."
    assert proxy.heads[0].startswith("CONNECT pages.example.org:443")
    assert KEY not in proxy.heads[0]
    assert secure.header("Authorization") == [f"Bearer {KEY}"]


def test_user_and_password_of_a_proxy_are_sent_to_it_and_shown_nowhere(secure: Site) -> None:
    with Proxy("works", secure.port) as proxy:
        url = proxy.url.replace("http://", "http://me:open-sesame@")
        endpoint = replace(through(proxy), proxy=url)
        assert asked(endpoint) == "Hi."
    assert proxy.passwords == ["me:open-sesame"]
    assert "sesame" not in f"{endpoint!r} {endpoint.place('m')!r}"


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("wants a password", "wants a password"),
        ("refuses", "gave no connection to pages.example.org: 403"),
        ("hangs", "opened no way to pages.example.org within 0.5 s"),
        ("cuts", "gave no connection"),
        ("cuts later", "pages.example.org"),
    ],
)
def test_a_proxy_that_fails_is_named_and_something_can_be_done(way: Way, words: str) -> None:
    with Site(PATHS) as site, Proxy(way, site.port) as proxy:
        text = failure(through(proxy, timeout=Timeouts(connect=0.5)))
    assert words in text
    assert f"127.0.0.1:{proxy.port}" in text or "HTTPS_PROXY" in text
    assert "prox" in text.lower()


def test_a_proxy_that_is_not_there_is_not_taken_for_the_server() -> None:
    port = FakeServer.unused_port()
    text = failure(Endpoint(HOST, KEY, proxy=f"http://127.0.0.1:{port}"))
    assert "The proxy gave no connection to pages.example.org" in text
    assert f"http://127.0.0.1:{port}" in text


def test_the_environments_proxy_counts_until_the_endpoint_says_none(
    secure: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy("works", secure.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert asked(Endpoint(HOST, KEY, ca_file=CERTIFICATE)) == "Hi."
        assert len(proxy.heads) == 1
        near = Endpoint(f"https://localhost:{secure.port}/v1", KEY, proxy="")
        assert "certificate" in failure(near)
        assert len(proxy.heads) == 1


def test_a_server_on_this_machine_is_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{FakeServer.unused_port()}")
    with Site(PATHS) as site:
        assert asked(Endpoint(f"http://127.0.0.1:{site.port}/v1", KEY)) == "Hi."


def test_a_plain_server_is_asked_through_a_proxy_with_the_whole_address() -> None:
    url = "http://models.example:81/v1"
    with Site({f"{url}/chat/completions": ANSWER}) as site, Proxy("works", site.port) as proxy:
        assert asked(Endpoint(url, KEY, proxy=proxy.url)) == "Hi."
    assert proxy.heads[0].startswith("POST http://models.example:81/v1/chat/completions")


def test_without_its_file_the_certificate_is_refused_with_the_remedy(secure: Site) -> None:
    with Proxy("works", secure.port) as proxy:
        text = failure(replace(through(proxy), ca_file=None))
    assert "TLS certificate of pages.example.org cannot be verified" in text
    assert "ca_file" in text


@pytest.mark.parametrize("content", [None, b"no certificate", b""])
def test_a_file_of_certificates_that_is_none_is_named(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ours.pem"
    if content is not None:
        path.write_bytes(content)
    text = failure(Endpoint(HOST, KEY, proxy="", ca_file=path))
    assert str(path) in text
    assert "PEM" in text


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_and_gets_neither_key_nor_conversation(status: str) -> None:
    with Site(PATHS) as other:
        target = f"http://127.0.0.1:{other.port}/v1/chat/completions"
        with Site({"/v1/chat/completions": moved(target, status)}) as site:
            url = f"http://127.0.0.1:{site.port}/v1"
            text = failure(Endpoint(url, KEY, headers={"x-api-key": KEY}))
    assert other.heads == []
    assert f"to {target}" in text
    assert "Nothing was sent there" in text


def test_a_named_endpoint_gets_no_headers_of_the_environments_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer theirs\nX-Theirs: 1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-theirs")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-theirs")
    with Site(PATHS) as site:
        url = f"http://127.0.0.1:{site.port}/v1"
        asked(Endpoint(url, KEY, headers={"X-Team": "blue"}, name="mine"))
        asked(Endpoint(url, "", name="keyless"))
    first, second = site.heads
    assert "theirs" not in first.lower()
    assert "theirs" not in second.lower()
    assert site.header("Authorization", 0) == [f"Bearer {KEY}"]
    assert site.header("X-Team", 0) == ["blue"]
    assert site.header("Authorization", 1) == []


def test_azure_gets_the_key_in_its_own_header_and_the_version_in_the_query() -> None:
    azure = server_named("azure")
    assert azure is not None
    route = "/openai/deployments/d"
    with Site({f"{route}/chat/completions": ANSWER}) as site:
        url = f"http://127.0.0.1:{site.port}{route}?api-version=2024-10-21"
        assert asked(Endpoint(url, KEY, profile=azure.profile)) == "Hi."
    assert site.paths == [f"{route}/chat/completions?api-version=2024-10-21"]
    assert site.header("api-key") == [KEY]
    assert site.header("Authorization") == []


def test_the_time_until_a_connection_is_the_endpoints() -> None:
    text = failure(Endpoint("http://192.0.2.1/v1", KEY, proxy="", timeout=Timeouts(connect=0.2)))
    assert "192.0.2.1" in text


def test_the_list_of_models_goes_the_same_way(secure: Site) -> None:
    async def names(endpoint: Endpoint) -> tuple[str, ...]:
        model = OpenAIModel("", endpoint=endpoint)
        found = await model.models()
        await model.aclose()
        return found

    with Proxy("works", secure.port) as proxy:
        assert asyncio.run(names(through(proxy))) == ("m",)
