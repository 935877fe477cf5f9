"""How `fetch` gets a page: redirects, checked addresses, limits; with servers that misbehave."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import threading
import zlib
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.tools.web.bodies import Unpacking
from agent_magics.tools.web.getting import Bounds, same_site
from agent_magics.tools.web.proxies import proxies_of, proxy_for
from agent_magics.tools.web.resolving import system_addresses
from agent_magics.tools.web.urls import parsed
from tests.fetchkit import Fetcher, Site, moved, reply

CERTIFICATE = Path(__file__).parent / "pages.example.org.pem"
QUICK = Bounds(total=1.5, silence=1, connect=10)


def opened(site: Site, host: str = "pages.example.org", **more) -> tuple[Fetcher, str]:
    """A fetcher to whose eyes the site is at a name, and the site's address."""
    answers = {host: ["127.0.0.1"], f"www.{host}": ["127.0.0.1"], **more.pop("answers", {})}
    entries = (f"{host}:{site.port}", f"www.{host}:{site.port}")
    return Fetcher(*entries, answers=answers, **more), f"http://{host}:{site.port}"


# -- redirects ------------------------------------------------------------------------------


def test_a_redirect_within_the_site_is_followed_and_said():
    with Site({"/a": moved("/b?x=1"), "/b": reply("<p>here")}) as site:
        fetcher, base = opened(site)
        text = fetcher.text(f"{base}/a")
        assert f"[{base}/a redirects to {base}/b?x=1]" in text
        assert f'url="{base}/b?x=1"' in text
        assert site.paths == ["/a", "/b?x=1"]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Keep", "308 Keep"])
def test_every_kind_of_redirect_is_followed_with_get(status):
    with Site({"/a": moved("/b", status), "/b": reply("<p>here")}) as site:
        fetcher, base = opened(site)
        assert "here" in fetcher.text(f"{base}/a")
        assert [head.split(" ")[0] for head in site.heads] == ["GET", "GET"]


def test_a_redirect_to_another_host_ends_the_call_and_names_the_address():
    with Site({"/": moved("https://other.example.org/page")}) as site:
        fetcher, base = opened(site, answers={"other.example.org": ["93.184.215.14"]})
        refusal = fetcher.refusal(base)
        assert "redirects to https://other.example.org/page" in refusal
        assert "call fetch with that address" in refusal
        assert fetcher.names.asked == ["pages.example.org"]


@pytest.mark.parametrize(
    "target",
    [
        *("http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/latest/meta-data/"),
        *("http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http://10.0.0.1:8080/", "http://wiki/"),
        *("http://2130706433/", "https://metadata.google.internal/", "http://192.168.1.1/"),
    ],
)
def test_a_redirect_to_a_private_address_is_refused_and_not_recommended(target):
    with Site({"/": moved(target)}) as site:
        fetcher, base = opened(site)
        refusal = fetcher.refusal(base)
        assert "call fetch with that address" not in refusal
        assert len(site.heads) == 1


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)"]
)
def test_a_redirect_to_another_scheme_is_refused(target):
    with Site({"/": moved(target)}) as site:
        fetcher, base = opened(site)
        assert "http and https" in fetcher.refusal(base) or "no whole" in fetcher.refusal(base)


def test_a_redirect_with_a_user_name_is_refused():
    with Site({}) as site:
        site.routes["/"] = moved(f"http://user:pw@pages.example.org:{site.port}/x")
        fetcher, base = opened(site)
        assert "user name" in fetcher.refusal(base)


def test_redirects_in_a_circle_end_after_five():
    with Site({"/a": moved("/b"), "/b": moved("/a")}) as site:
        fetcher, base = opened(site)
        assert "redirects more than 5 times" in fetcher.refusal(f"{base}/a")
        assert len(site.heads) == 6


def test_five_redirects_are_followed():
    routes = {f"/{n}": moved(f"/{n + 1}") for n in range(5)}
    with Site({**routes, "/5": reply("<p>there")}) as site:
        fetcher, base = opened(site)
        assert "there" in fetcher.text(f"{base}/0")


def test_a_redirect_without_an_address_is_said():
    with Site({"/": reply("", "", "302 Found")}) as site:
        fetcher, base = opened(site)
        assert "leads on without saying where" in fetcher.refusal(base)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("http://example.org/", "https://example.org/x", True),
        ("http://example.org/", "https://www.example.org/", True),
        ("https://www.example.org/", "https://example.org/", True),
        ("https://example.org:8443/", "https://example.org:8443/y", True),
        ("https://example.org/", "http://example.org/", False),
        ("https://example.org/", "https://example.org:8443/", False),
        ("http://example.org:8080/", "https://example.org/", False),
        ("https://example.org/", "https://docs.example.org/", False),
        ("https://example.org/", "https://example.org.evil.net/", False),
        ("https://example.org/", "https://wwwexample.org/", False),
        ("https://example.org/", "https://www.www.example.org/", False),
    ],
)
def test_what_stays_with_the_approved_host(old, new, same):
    assert same_site(parsed(old), parsed(new)) is same


def test_a_redirect_to_www_is_followed():
    with Site({"/b": reply("<p>there")}) as site:
        site.routes["/a"] = moved(f"http://www.pages.example.org:{site.port}/b")
        fetcher, base = opened(site)
        assert "there" in fetcher.text(f"{base}/a")


# -- the address that was checked is the address that is asked -------------------------------


def test_a_name_that_means_something_else_the_second_time_gains_nothing():
    with Site({"/": reply("<p>first")}) as public, Site({"/": reply("<p>private")}) as private:
        fetcher = Fetcher(f"rebind.example.org:{public.port}")
        # The first look-up is checked and used; a second one would lead elsewhere.
        fetcher.names.answers["rebind.example.org"] = [["127.0.0.1"], ["127.9.9.9"]]
        assert "first" in fetcher.text(f"http://rebind.example.org:{public.port}/")
        assert fetcher.names.asked == ["rebind.example.org"]
        assert private.heads == []


def test_each_hop_of_a_redirect_is_resolved_and_checked_anew():
    with Site({"/a": moved("/b"), "/b": reply("<p>there")}) as site:
        fetcher = Fetcher(f"rebind.example.org:{site.port}")
        fetcher.names.answers["rebind.example.org"] = [["127.0.0.1"], ["169.254.169.254"]]
        refusal = fetcher.refusal(f"http://rebind.example.org:{site.port}/a")
        assert "169.254.169.254" in refusal
        assert site.paths == ["/a"]


def test_a_public_name_is_not_asked_when_its_second_answer_is_private():
    with Site({"/": reply("<p>private")}) as site:
        fetcher = Fetcher()
        fetcher.names.answers["rebind.example.org"] = [["127.0.0.1"]]
        assert "is not asked" in fetcher.refusal(f"http://rebind.example.org:{site.port}/")
        assert site.heads == []


def test_the_host_header_is_the_name_and_nothing_personal_is_sent():
    with Site({"/": reply("<p>x", Set_Cookie="id=1")}) as site:
        fetcher, base = opened(site)
        fetcher.text(base)
        fetcher.text(base)
        assert site.header("Host") == [f"pages.example.org:{site.port}"]
        assert site.header("Cookie") == []
        assert site.header("Authorization") == []
        assert site.header("User-Agent")[0].startswith("agent_magics/")
        assert site.header("Referer") == []


def test_no_netrc_is_read(tmp_path, monkeypatch):
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login me password hunter2\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    with Site({"/": reply("<p>x")}) as site:
        fetcher, base = opened(site)
        fetcher.text(base)
        assert site.header("Authorization") == []


def test_the_second_address_is_tried_when_the_first_takes_no_connection():
    with Site({"/": reply("<p>there")}) as site:
        fetcher, base = opened(site, answers={"pages.example.org": ["127.7.7.7", "127.0.0.1"]})
        assert "there" in fetcher.text(base)


def server_side() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=CERTIFICATE)


def test_tls_keeps_the_name_although_the_connection_goes_to_an_address():
    asked: list[str | None] = []
    context = server_side()
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    with Site({"/": reply("<p>sealed")}, context) as site:
        fetcher = Fetcher(
            f"pages.example.org:{site.port}",
            answers={"pages.example.org": ["127.0.0.1"]},
            trust=trusting,
        )
        assert "sealed" in fetcher.text(f"https://pages.example.org:{site.port}/")
        assert asked == ["pages.example.org"]


def test_a_certificate_for_another_name_is_not_taken():
    with Site({"/": reply("<p>sealed")}, server_side()) as site:
        fetcher = Fetcher(
            f"other.example.org:{site.port}",
            answers={"other.example.org": ["127.0.0.1"]},
            trust=trusting,
        )
        refusal = fetcher.refusal(f"https://other.example.org:{site.port}/")
        assert "TLS certificate of other.example.org is not valid" in refusal
        assert site.heads == []


def test_a_certificate_that_nobody_vouches_for_is_not_taken():
    with Site({"/": reply("<p>sealed")}, server_side()) as site:
        fetcher = Fetcher(
            f"pages.example.org:{site.port}", answers={"pages.example.org": ["127.0.0.1"]}
        )
        assert "certificate" in fetcher.refusal(f"https://pages.example.org:{site.port}/")


def test_a_host_that_takes_no_connection_is_said():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    fetcher = Fetcher(f"127.0.0.1:{port}")
    assert f"No connection to 127.0.0.1:{port}" in fetcher.refusal(f"http://127.0.0.1:{port}/")


def test_a_server_that_speaks_something_else_is_said():
    def shell(connection: socket.socket, _ended: threading.Event) -> None:
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    with Site({"/": shell}) as site:
        fetcher, base = opened(site)
        assert "does not speak HTTP" in fetcher.refusal(base)


def test_the_systems_resolver_gives_addresses_and_nothing_for_what_it_does_not_know():
    assert [str(a) for a in asyncio.run(system_addresses("127.0.0.1", 80))] == ["127.0.0.1"]
    assert asyncio.run(system_addresses("no such name", 80)) == ()
    assert asyncio.run(system_addresses("x" * 300, 80)) == ()


# -- limits ---------------------------------------------------------------------------------


def drip(connection: socket.socket, ended: threading.Event) -> None:
    """A byte now and then, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not ended.wait(0.05):
        connection.sendall(b"x")


def drip_head(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not ended.wait(0.05):
        connection.sendall(b"X")


def endless(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not ended.is_set():
        connection.sendall(b"all work and no play\n" * 5000)


def endless_head(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not ended.is_set():
        connection.sendall(b"X-More: and more\r\n" * 1000)


def endless_early_hints(connection: socket.socket, ended: threading.Event) -> None:
    while not ended.is_set():
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)


def silent(_connection: socket.socket, ended: threading.Event) -> None:
    ended.wait(30)


@pytest.mark.parametrize("fault", [drip, drip_head, silent, endless_early_hints])
def test_a_server_that_takes_its_time_is_left(fault):
    with Site({"/": fault}) as site:
        fetcher, base = opened(site, bounds=QUICK)
        refusal = fetcher.refusal(base)
        assert "within 1.5 seconds" in refusal or "stopped sending" in refusal


def test_a_head_without_end_is_left():
    with Site({"/": endless_head}) as site:
        fetcher, base = opened(site)
        assert "does not speak HTTP" in fetcher.refusal(base)


def test_a_body_without_end_is_read_up_to_the_limit_and_that_is_said():
    with Site({"/": endless}) as site:
        fetcher, base = opened(site, bounds=Bounds(size=100_000))
        text = fetcher.text(base)
        assert "[cut: only the first 100.0 kB were read]" in text


def test_an_interrupt_closes_the_connection():
    begun, gone = threading.Event(), threading.Event()

    def watch(connection: socket.socket, _ended: threading.Event) -> None:
        begun.set()
        if not connection.recv(1):
            gone.set()

    with Site({"/": watch}) as site:
        fetcher, base = opened(site)

        async def interrupted() -> None:
            task = asyncio.create_task(fetcher.tool.run({"url": base}, lambda _: None))
            await asyncio.to_thread(begun.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(interrupted())
        assert gone.wait(10)


def test_a_bomb_is_unpacked_up_to_the_limit_only():
    bomb = gzip.compress(b"\0" * 50_000_000 + b"x", 9)
    with Site({"/": reply(bomb, "text/plain", Content_Encoding="gzip")}) as site:
        fetcher, base = opened(site)
        assert "text/plain" in fetcher.refusal(base)
    bomb = gzip.compress(b"zzzz " * 10_000_000, 9)
    with Site({"/": reply(bomb, "text/plain", Content_Encoding="gzip")}) as site:
        fetcher, base = opened(site)
        assert "[cut: only the first 5.0 MB were read]" in fetcher.text(base)


def test_what_is_unpacked_is_bounded_piece_by_piece():
    bomb = zlib.compress(b"0" * 100_000_000, 9)
    unpacking = Unpacking("deflate", 1000)
    unpacking.feed(bomb)
    assert unpacking.full
    assert len(unpacking.data) == 1001


@pytest.mark.parametrize("wrap", ["gzip", "deflate", "x-gzip", "identity", "raw deflate", "GZIP"])
def test_a_packed_page_is_unpacked(wrap):
    page = b"<p>" + b"packed text " * 1000
    if "gzip" in wrap.lower():
        data = gzip.compress(page[:100]) + gzip.compress(page[100:])
    elif wrap == "raw deflate":
        data = zlib.compress(page)[2:-4]
    else:
        data = zlib.compress(page) if wrap == "deflate" else page
    coding = wrap.removeprefix("raw ")
    with Site({"/": reply(data, Content_Encoding=coding)}) as site:
        fetcher, base = opened(site)
        assert fetcher.body(base).split() == ["packed", "text"] * 1000


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip, deflate", "compress"])
def test_other_ways_of_packing_are_refused(coding):
    with Site({"/": reply(b"xyz", Content_Encoding=coding)}) as site:
        fetcher, base = opened(site)
        assert "packed in a way" in fetcher.refusal(base)
        assert site.header("Accept-Encoding") == ["gzip, deflate"]


def test_a_damaged_packed_page_is_said():
    with Site({"/": reply(b"\x1f\x8b\x08garbage and more", Content_Encoding="gzip")}) as site:
        fetcher, base = opened(site)
        assert "damaged" in fetcher.refusal(base)


def test_a_page_that_breaks_off_is_said():
    short = reply("x" * 50, "text/plain").replace(b"Content-Length: 50", b"Content-Length: 500")
    with Site({"/": short}) as site:
        fetcher, base = opened(site)
        assert "broke off" in fetcher.refusal(base)


# -- proxies --------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used_and_resolves_the_name():
    with Site({"http://pages.example.org/x": reply("<p>by proxy")}) as proxy:
        fetcher = Fetcher(proxies={"http": f"http://127.0.0.1:{proxy.port}"})
        assert "by proxy" in fetcher.text("http://pages.example.org/x")
        assert fetcher.names.asked == []
        assert proxy.header("Host") == ["pages.example.org"]


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://wiki/", "http://10.0.0.1.nip.io/"])
def test_a_proxy_does_not_open_private_names_and_numbers(url):
    with Site({}) as proxy:
        fetcher = Fetcher(proxies={"http": f"http://127.0.0.1:{proxy.port}"})
        fetcher.refusal(url)
        assert proxy.heads == []


def test_a_host_that_the_person_opened_is_asked_without_the_proxy():
    with Site({"/": reply("<p>direct")}) as site:
        fetcher, base = opened(site, proxies={"all": "http://127.0.0.1:9"})
        assert "direct" in fetcher.text(base)


def test_a_tunnel_through_a_proxy_names_the_host_and_its_refusal_is_said():
    def refuse(connection: socket.socket, _ended: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    with Site({"pages.example.org:443": refuse}) as proxy:
        fetcher = Fetcher(proxies={"https": f"http://me:hunter2@127.0.0.1:{proxy.port}"})
        refusal = fetcher.refusal("https://pages.example.org/x")
        assert "proxy of the environment refused" in refusal
        assert "hunter2" not in refusal
        assert proxy.heads[0].startswith("CONNECT pages.example.org:443 ")
        assert "/x" not in proxy.heads[0]


@pytest.mark.parametrize("proxy", ["ftp://x", "http://[", "://", "socks5://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_said_without_its_address(proxy):
    fetcher = Fetcher(proxies={"all": proxy})
    refusal = fetcher.refusal("https://pages.example.org/")
    assert "proxy of the environment" in refusal or "proxy that the environment" in refusal


def test_proxies_are_read_as_other_programs_read_them():
    variables = {"HTTP_PROXY": "a:1", "http_proxy": "b:2", "HTTPS_PROXY": "c:3", "no_proxy": "x, y"}
    assert proxies_of(variables) == {"http": "b:2", "https": "c:3", "no": "x, y"}
    assert proxies_of({"HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"}) == {}
    assert proxies_of({"ALL_PROXY": " "}) == {}


@pytest.mark.parametrize(
    ("no", "proxied"),
    [
        ("", True),
        ("*", False),
        ("example.org", False),
        (".example.org", False),
        ("*.example.org", False),
        ("pages.example.org:443", False),
        ("ages.example.org", True),
        ("example.com, other", True),
        ("PAGES.EXAMPLE.ORG", False),
    ],
)
def test_no_proxy_names_hosts_that_are_asked_directly(no, proxied):
    proxies = {"https": "p:1", "no": no}
    expected = "http://p:1" if proxied else None
    assert proxy_for(parsed("https://pages.example.org/"), proxies) == expected


def test_an_error_of_the_unpacking_is_one_that_the_model_reads():
    with pytest.raises(ToolError):
        Unpacking("deflate", 10).feed(b"\x78\x9cgarbage")
