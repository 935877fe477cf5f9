"""Which addresses `fetch` understands, and which it asks: nothing but the public web."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.web.guarding import reason_against, refuse_private, usable
from agent_magics.tools.web.urls import WebUrl, host_entry, joined, parsed
from tests.fetchkit import Fetcher


def words(text: str) -> list[str]:
    """A table, one entry after the other."""
    return text.split()


LITERALS = words(
    """
127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 172.16.0.1
172.31.255.254 192.168.0.1 192.168.255.255 169.254.169.254 169.254.169.253 169.254.170.2
169.254.0.23 169.254.1.1 100.64.0.1 100.100.100.200 100.127.255.255 192.0.0.1 192.0.0.192
192.0.2.1 198.51.100.7 203.0.113.9 198.18.0.1 198.19.255.255 192.88.99.1 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16 [::1] [::] [0:0:0:0:0:0:0:1] [::0001]
[0000::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe]
[::ffff:10.0.0.1] [::ffff:8.8.8.8] [::127.0.0.1] [::7f00:1] [::8.8.8.8] [::ffff:0:127.0.0.1]
[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::169.254.169.254] [64:ff9b::10.0.0.1]
[64:ff9b:1::1] [64:ff9b:1::8.8.8.8] [2002:7f00:1::] [2002:7f00:0001::1] [2002:a9fe:a9fe::]
[2002:c0a8:1::1] [2002:808:808::1] [2001::1] [2001:0:7f00:1::]
[2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:10::1] [2001:20::1] [2001:2::1] [2001:db8::1]
[3fff::1] [5f00::1] [100::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fdff:ffff::1] [fe80::1]
[fe80::a9fe:a9fe] [febf::1] [fec0::1] [ff00::1] [ff02::1] [ff05::2] [4000::1] [e000::1]
[2a00:1450::5efe:10.0.0.1] [2a00:1450::200:5efe:192.168.0.1] [FE80::1] [::FFFF:127.0.0.1]
"""
)
ODD = words(
    """
2130706433 0x7f000001 0x7F000001 017700000001 0177.0.0.1 0177.0.0.01 0x7f.0.0.1 0x7f.1 127.1
127.0.1 0 0x0 0x 00000000.1 127.0.0.01 127.00.0.1 0127.0.0.1 127.0.0.0x1 3232235521 2852039166
0xa9fea9fe 0251.0376.0251.0376 0xA9.0xFE.0xA9.0xFE 169.254.43518 4294967295 4294967296
256.256.256.256 127.0.0.1.. 127..0.1 .127.0.0.1 1.2.3.4.5 127.0.0.256 99999999999999999999
134744072 0x8.0x8.0x8.0x8 [127.0.0.1] [::1 ::1] ::1 [::1]x [fe80::1%eth0] [fe80::1%25eth0]
[::1%251] [v1.fe80::a] [] [:::1] [1:2:3:4:5:6:7:8:9] [::ffff:0x7f.1] [::ffff:127.1]
user@127.0.0.1 user:pass@127.0.0.1 example.org@127.0.0.1 127.0.0.1@example.org :@example.org
@example.org example.org:80@127.0.0.1 a@b@c example.org%40127.0.0.1 127%2e0%2e0%2e1
%31%32%37.0.0.1 loc%61lhost 127.0.0.1:0 127.0.0.1:65536 127.0.0.1:99999999 example.org:80:80
example.org:８０ example.org:-1 example.org:+80 example.org:8_0 example.org:0x50 example.org:٨٠
１２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1
①②⑦.⓪.⓪.① ⑴27.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 ¹²⁷.⁰.⁰.¹ 127.0.0.1\xad
127\xad.0.0.1 2130706433。 ０ｘ7f000001 ｌｏｃａｌｈｏｓｔ
ⓛⓞⓒⓐⓛⓗⓞⓢⓣ 𝓁𝑜𝒸𝒶𝓁𝒽𝑜𝓈𝓉 localhoſt LOCALHOST LocalHost
localhost. localhost.. exa_mple..org -example.org example-.org exa*mple.org exa!mple.org
ex<ample.org example.org;80
"""
)
NAMES = words(
    """
localhost localhost.localdomain foo.localhost a.b.localhost router.local printer.local. wiki
intranet metadata metadata.google.internal metadata.goog metadata.google.internal.
Metadata.Google.Internal instance-data instance-data.ec2.internal kubernetes.default.svc
kubernetes.default.svc.cluster.local host.docker.internal gateway.docker.internal wiki.corp
mail.lan nas.home box.home.arpa files.private app.intranet db.test x.invalid 127.0.0.1.nip.io
10.0.0.1.sslip.io 7f000001.nip.io localtest.me www.lvh.me app.vcap.me make-127-0-0-1-rr.1u.ms
7f000001.a9fea9fe.rbndr.us metadata.tencentyun.com abc.onion ip6-localhost ip6-loopback
broadcasthost
"""
)
URLS = words(
    """
file:///etc/passwd file://localhost/etc/passwd FILE:///etc/passwd ftp://example.org/
gopher://127.0.0.1:6379/_ data:text/html,hi javascript:alert(1) jar:http://example.org!/
dict://127.0.0.1:11211/stat ldap://127.0.0.1 ws://example.org/ wss://example.org/
sftp://example.org/ tftp://x/ blob:http://example.org/1 about:blank
view-source:http://127.0.0.1/ netdoc:///etc/passwd unix:///var/run/docker.sock http+unix://x/
mailto:a@b.org http:127.0.0.1 http:/127.0.0.1 http:///127.0.0.1/ https:example.org //127.0.0.1/
/etc/passwd example.org http://\\127.0.0.1/ http:\\\\127.0.0.1 http://example.org\\@127.0.0.1/
http://127.0.0.1\\@example.org/ http://example.org\\.evil.org http://[::1]@example.org/
http://?x http://#x http:// http:/// http://example.org#@127.0.0.1:x:y@/ ://example.org
"""
)
SPACED = (
    *("http://127.0.0.1 .example.org/", "http://exam\tple.org/", "http://exam\nple.org/"),
    *("http://example.org/\r\nHost: 127.0.0.1", "http://example.org/a b", "http://example.org/\0"),
    *("http://127.0.0.1\u2028.example.org/", "http://exa\u200bmple.org /", "ht\ntp://127.0.0.1/"),
    *(
        "http://example.org\u00a0/",
        "http://example.org/\ud800",
        "http:// 127.0.0.1/",
        "",
        " ",
        "\0",
    ),
)


def corpus() -> list[str]:
    hosts = [f"http://{host}/" for host in (*LITERALS, *ODD, *NAMES)]
    ports = [f"https://{host}:8443/latest/meta-data/" for host in LITERALS]
    return [*hosts, *ports, *URLS, *SPACED]


@pytest.mark.parametrize("url", corpus(), ids=ascii)
def test_what_is_not_of_the_public_web_is_refused_before_anyone_is_asked(url):
    # What is odd in a URL's fragment is never sent; this one is of the public web after all.
    fetcher = Fetcher(answers={"example.org": ["93.184.215.14"]})
    if url == "http://example.org#@127.0.0.1:x:y@/":
        assert str(parsed(url)) == "http://example.org/"
        return
    with pytest.raises(ToolError):
        fetcher.tool.preview({"url": url})
    fetcher.refusal(url)
    assert fetcher.names.asked == []
    fetcher.tool.facts({"url": url})
    fetcher.tool.scopes({"url": url})


def test_the_corpus_has_more_than_three_hundred_spellings():
    assert len(set(corpus())) > 300


@pytest.mark.parametrize(
    "address", [literal.strip("[]") for literal in LITERALS if "%" not in literal]
)
def test_a_public_name_that_means_a_private_address_is_refused(address):
    fetcher = Fetcher(answers={"innocent.example.org": [address]})
    assert "is not asked" in fetcher.refusal("https://innocent.example.org/")
    assert fetcher.names.asked == ["innocent.example.org"]


@pytest.mark.parametrize(
    "found",
    [["93.184.215.14", "10.0.0.1"], ["127.0.0.1", "93.184.215.14"], ["2a00:1450::1", "::1"]],
)
def test_one_private_answer_among_public_ones_spoils_all(found):
    fetcher = Fetcher(answers={"both.example.org": found})
    assert "is not asked" in fetcher.refusal("https://both.example.org/")


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "metadata.google.internal", "0.0.0.0", "nip.io"]
)
def test_nobody_is_told_to_open_what_must_stay_closed(host):
    refusal = Fetcher().refusal(f"http://{host}/")
    assert "is not asked" in refusal
    assert "fetch_hosts" not in refusal
    assert "fetch_hosts: ['localhost:80']" in Fetcher().refusal("http://localhost/")


def test_a_name_without_an_address_is_said():
    assert "No address was found for the host nowhere.example.org" in Fetcher().refusal(
        "https://nowhere.example.org"
    )


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "1.1.1.1", "93.184.215.14", "172.15.255.255", "172.32.0.1", "100.63.255.255"),
        *("100.128.0.1", "192.167.1.1", "11.0.0.1", "9.255.255.255", "223.255.255.255"),
        *("2606:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888", "64:ff9b::808:808"),
    ],
)
def test_public_addresses_are_public(address):
    assert reason_against(ipaddress.ip_address(address)) == ""


@given(st.ip_addresses())
def test_nothing_that_python_calls_private_is_public_here(address):
    if address.is_private or address.is_multicast or address.is_loopback or address.is_unspecified:
        assert reason_against(address)


@pytest.mark.parametrize(
    "port", [22, 25, 53, 110, 143, 389, 445, 993, 3659, 6000, 6379, 6667, 11211]
)
def test_ports_of_other_services_are_refused_on_public_hosts_too(port):
    assert f"Port {port}" in Fetcher().refusal(f"http://example.org:{port}/")


def test_usual_ports_are_taken():
    refuse_private(parsed("https://metadata.example.org/"))
    for port in (80, 443, 8080, 8443, 3000):
        refuse_private(parsed(f"http://example.org:{port}/"))


@pytest.mark.parametrize(
    ("given_url", "meant"),
    [
        ("HTTP://EXAMPLE.ORG", "http://example.org/"),
        (" https://example.org/a ", "https://example.org/a"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("https://example.org:/", "https://example.org/"),
        ("https://example.org./", "https://example.org/"),
        ("https://example.org?q=1", "https://example.org/?q=1"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org/a/%2e%2E/b", "https://example.org/b"),
        ("https://example.org/../../x", "https://example.org/x"),
        ("https://example.org/a/..", "https://example.org/"),
        ("https://example.org//a", "https://example.org//a"),
        ("https://example.org/%7euser/%41", "https://example.org/~user/A"),
        ("https://example.org/100%/x%zz", "https://example.org/100%25/x%25zz"),
        ("https://example.org/ä?ö#ü", "https://example.org/%C3%A4?%C3%B6"),
        ("https://example.org/a#b?c", "https://example.org/a"),
        ("https://example.org/?u=http://127.0.0.1/", "https://example.org/?u=http://127.0.0.1/"),
        ("https://bücher.example.org/", "https://xn--bcher-kva.example.org/"),
        ("https://ＥＸＡＭＰＬＥ。org/", "https://example.org/"),
        ("http://8.8.8.8./", "http://8.8.8.8/"),
        ("http://[2A00:1450:0:0::1]:8080/", "http://[2a00:1450::1]:8080/"),
        ('https://example.org/<>"{}|^`', "https://example.org/%3C%3E%22%7B%7D%7C%5E%60"),
    ],
)
def test_an_address_has_one_spelling(given_url, meant):
    assert str(parsed(given_url)) == meant
    assert str(parsed(meant)) == meant


@pytest.mark.parametrize("odd", ["0x7f000001", "2130706433", "127.1", "0177.0.0.1"])
def test_an_odd_spelling_of_an_ip_address_is_said_to_mean_it(odd):
    assert "It means 127.0.0.1." in Fetcher().refusal(f"http://{odd}/")


@given(st.text(max_size=60))
def test_any_text_is_an_address_in_one_spelling_or_refused(text):
    for url in (text, f"http://{text}", f"https://example.org/{text}"):
        try:
            found = parsed(url)
        except ToolError:
            continue
        assert parsed(str(found)) == found
        assert str(found).isascii()
        assert "@" not in found.authority


@given(st.text(st.sampled_from("/.%2eE\\?#a:@[]*"), max_size=25))
def test_a_path_never_climbs_and_never_changes_the_host(rest):
    try:
        found = parsed(f"https://example.org/{rest}")
    except ToolError:
        return
    assert found.host == "example.org"
    path = found.target.partition("?")[0]
    assert "/../" not in f"{path}/"
    assert "/./" not in f"{path}/"


def test_what_httpx_would_send_is_what_was_checked():
    import httpx2

    for url in ("https://example.org/a%2Fb?x=%20&y=[1]", "https://example.org//x;y=1,2/~u(1)'*"):
        assert str(httpx2.URL(str(parsed(url)))) == str(parsed(url))


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("/x", "https://example.org/x"),
        ("x", "https://example.org/a/x"),
        ("?q", "https://example.org/a/b?q"),
        ("//other.example.org/x", "https://other.example.org/x"),
        ("HTTPS://other.example.org", "https://other.example.org/"),
        ("/a b", "https://example.org/a%20b"),
    ],
)
def test_a_redirect_leads_where_browsers_would_go(location, meant):
    assert str(joined(parsed("https://example.org/a/b"), location)) == meant


@pytest.mark.parametrize(
    "location", ["\\\\evil.org/", "/\\evil.org", "///evil.org", "http://[::1", "file:///etc/passwd"]
)
def test_a_redirect_that_can_be_read_in_two_ways_is_refused(location):
    with pytest.raises(ToolError):
        joined(parsed("https://example.org/a/b"), location)


def test_a_host_that_the_person_opened_is_asked_at_that_port_alone():
    allowed = frozenset((host_entry("localhost:8000"), host_entry("[::1]:8000")))
    refuse_private(parsed("http://localhost:8000/x"), allowed)
    refuse_private(parsed("http://[::1]:8000/"), allowed)
    for url in ("http://localhost:8001/", "http://localhost/", "http://127.0.0.1:8000/"):
        with pytest.raises(ToolError, match="fetch_hosts"):
            refuse_private(parsed(url), allowed)


def test_an_opened_name_may_mean_a_private_network_but_no_metadata_service():
    url = WebUrl("http", "dev.internal", 8080)
    allowed = frozenset((("dev.internal", 8080),))
    for address in ("127.0.0.1", "10.1.2.3", "192.168.0.9", "fd12::1"):
        assert usable(url, [ipaddress.ip_address(address)], allowed)
    for address in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "224.0.0.1", "fe80::1"):
        with pytest.raises(ToolError):
            usable(url, [ipaddress.ip_address(address)], allowed)


@pytest.mark.parametrize(
    "entry", ["localhost", "", "http://x:80", "a b:80", "x:y", "u@x:80", "0x7f.1:80"]
)
def test_an_entry_that_is_no_host_and_port_is_refused(entry):
    with pytest.raises(ToolError):
        host_entry(entry)
