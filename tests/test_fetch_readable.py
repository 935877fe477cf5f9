"""Pages as text: what a reader gets, what is left out, and that no page can break it."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.tools.web.readable import readable
from agent_magics.tools.web.tokens import End, Start, tokens
from tests.fetch_pages import APP, ARTICLE, CARDS, PAGES, WIKI

URL = "https://pages.example.org/a/"


def text(source: str) -> str:
    return readable(source, URL).text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_each_common_kind_reads_well(name):
    source, url, expected = PAGES[name]
    assert readable(source, url).text == expected


def test_a_page_tells_title_author_and_date():
    facts = readable(ARTICLE, URL).facts
    assert facts == {
        "title": "Rivers are warming — The Daily Example",
        "author": "Ada Writer",
        "published": "2026-10-02T08:00:00Z",
    }


def test_a_page_that_is_a_program_says_so():
    page = readable(APP, URL)
    assert (page.text, page.scripts) == ("", 1)


def test_a_page_that_sends_its_readers_on_says_where():
    source = '<meta http-equiv="Refresh" content="0; URL=\'/new\'">'
    assert readable(source, URL).refresh == "https://pages.example.org/new"
    assert readable('<meta http-equiv=refresh content="5">', URL).refresh == ""
    assert readable('<meta http-equiv=refresh content="0;url=javascript:x">', URL).refresh == ""


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>EVIL</p>",
        "<p hidden=''>EVIL</p>",
        "<p style='display:none'>EVIL</p>",
        "<p style='DISPLAY : NONE !important'>EVIL</p>",
        "<p style='color:red;display:/**/none'>EVIL</p>",
        "<p style='display&#58;none'>EVIL</p>",
        "<p style=display:none>EVIL</p>",
        "<div style='display:none'><p>EVIL<p>EVIL</div>",
        "<span style='visibility:hidden'>EVIL</span>",
        "<span style='opacity:0'>EVIL</span>",
        "<span style='opacity: 0.0'>EVIL</span>",
        "<span style='font-size:0'>EVIL</span>",
        "<span style='font-size:1px'>EVIL</span>",
        "<span style='color:white'>EVIL</span>",
        "<span style='color:#FFF'>EVIL</span>",
        "<span style='color: rgb(255, 255, 255)'>EVIL</span>",
        "<span style='color:transparent'>EVIL</span>",
        "<span style='color:rgba(0,0,0,0)'>EVIL</span>",
        "<font color=white>EVIL</font>",
        "<p style='color:#123456;background-color:#123456'>EVIL</p>",
        "<div style='background:#000'><span style='color:#000'>EVIL</span></div>",
        "<table bgcolor=red><tr><td><font color=red>EVIL</font></table>",
        "<div style='position:absolute;left:-9999px'>EVIL</div>",
        "<div style='text-indent:-9999px'>EVIL</div>",
        "<div style='height:0;overflow:hidden'>EVIL</div>",
        "<div style='transform:scale(0)'>EVIL</div>",
        "<div aria-hidden=true>EVIL</div>",
        "<span hidden>a<span>b</span>EVIL</span>",
        "<!-- EVIL -->",
        "<!-- > EVIL --!>",
        "<!EVIL>",
        "<?php EVIL ?>",
        "<template><p>EVIL</template>",
        "<script>EVIL</script>",
        "<script type=text/plain>EVIL <b>EVIL</b></script>",
        "<style>EVIL</style>",
        "<noscript>EVIL</noscript>",
        "<textarea>EVIL</textarea>",
        "<title>EVIL</title>",
        "<svg><text>EVIL</text></svg>",
        "<iframe>EVIL</iframe>",
        "<object>EVIL</object>",
        "<select><option>EVIL</select>",
        "<button>EVIL</button>",
        "<img src=x title=EVIL>",
        "<p title='EVIL' data-x=EVIL>x</p>",
        "<input value=EVIL type=hidden>",
        "<meta name=description content=EVIL>",
        "<nav>EVIL</nav>",
        "<div role=navigation>EVIL</div>",
        "<style><!-- </style> --> EVIL </style>".replace(" --> EVIL ", ""),
    ],
)
def test_what_nobody_sees_is_left_out(hidden):
    body = "Visible words of a page. " * 20
    result = text(f"<p>{body}</p>{hidden}<p>After it.</p>")
    assert "EVIL" not in result
    assert result.startswith("Visible words")
    assert result.endswith("After it.")


@pytest.mark.parametrize(
    "seen",
    [
        "<p style='display:block'>GOOD</p>",
        "<p style='opacity:0.5'>GOOD</p>",
        "<p style='font-size:10px'>GOOD</p>",
        "<p style='color:#333'>GOOD</p>",
        "<div style='background:#000'><p style='color:white'>GOOD</p></div>",
        "<p style='color:white;background:navy'>GOOD</p>",
        "<div style='background-image:url(x.png)'><h1 style='color:#fff'>GOOD</h1></div>",
        "<p style='left:-10px'>GOOD</p>",
        "<p style='overflow:hidden;height:10em'>GOOD</p>",
        "<p aria-hidden=false>GOOD</p>",
        "<p hidden=until-found>GOOD</p>",
        "<p style='display:none'>x<p>GOOD",
        "<p style='display:none'>x</p>GOOD",
        "<ul><li hidden>x<li>GOOD</ul>",
        "<table><tr><td hidden>x<td>GOOD</table>",
        "<details><summary>s</summary>GOOD</details>",
        "<p style='transform:scale(0.9)'>GOOD</p>",
        "<p style=';;:;x'>GOOD</p>",
        "<img alt='GOOD'>",
        "<x-card>GOOD</x-card>",
        "</div></p></table>GOOD",
        "<b><p>GOOD</b>",
        "<p>1 < 2 GOOD",
        "<p>a &lt;script> GOOD",
    ],
)
def test_what_everyone_sees_stays(seen):
    assert "GOOD" in text(seen)


def test_characters_that_hide_or_turn_the_line_are_dropped():
    hidden = "\u200b\u202e\u2066\ufeff\x1b\x00\x9b\u00ad\U000e0041"
    assert text(f"<p>a{hidden}b</p>") == "ab"
    assert text(f"<pre>a{hidden}b</pre>") == "```\nab\n```"
    assert text("<p>a\u2028b\u2029c\x1fd</p>") == "a b c d"
    assert text("<p>a&#x202e;b&#8203;c&ZeroWidthSpace;d&#0;e&#x1b;f</p>") == "abcd\ufffdef"
    assert text(f"<a href='/x{hidden}'>t{hidden}</a>") == "[t](https://pages.example.org/x)"


def test_references_with_endless_numbers_are_one_odd_character():
    assert text(f"<p>&#{'9' * 10_000};&#x{'f' * 10_000};x") == "\ufffd\ufffdx"


def test_code_keeps_its_blanks_and_cannot_end_its_own_fence():
    assert text("<pre>  a\n\n\tb  \n```\nc</pre>") == "````\n  a\n\n\tb  \n```\nc\n````"
    assert text("<pre>a<br>b<div>c</div>d</pre>").split("\n") == ["```", "a", "b", "cd", "```"]


def test_a_list_goes_on_in_its_own_numbers():
    assert text("<ol start=7><li>a<li>b</ol><ol><li>c</ol>") == "7. a\n8. b\n\n1. c"
    assert text("<ol start=x><li>a</ol>") == "1. a"


def test_a_table_that_arranges_the_page_becomes_paragraphs():
    long = "Words that fill a column. " * 40
    assert text(f"<table><tr><td>{long}<td>side</table>") == f"{long.strip()}\n\nside"
    assert text("<table><tr><td>a<tr><td>b</table>") == "a\n\nb"
    assert text("<table>loose<tr><td>a<td>b</table>") == "loose\n\n| a | b |\n| --- | --- |"
    assert text("<td>no table</td>") == "no table"


def test_a_colspan_of_any_size_is_bounded():
    for span in ("1000000000", "-5", "x", "0", "9" * 5000):
        assert len(text(f"<table><tr><td colspan={span}>a<td>b</table>")) < 300


def test_a_link_is_whole_or_none():
    assert text("<a href='?x=1'>t</a>") == "[t](https://pages.example.org/a/?x=1)"
    assert text("<a href='/a b(c)'>t</a>") == "[t](https://pages.example.org/a%20b%28c%29)"
    for link in ("http://[", "#x", "", " ", "javascript:x", "mailto:x", "vbscript:x"):
        assert text(f"<a href='{link}'>t</a>") == "t"
    assert text("<a href=/x><img src=i></a>") == ""
    assert text("<a href=/x>one<a href=/y>two") == (
        "[one](https://pages.example.org/x)[two](https://pages.example.org/y)"
    )


def test_the_base_of_links_can_be_set_but_not_off_the_web():
    assert "https://wiki.example.org/wiki/Steam" in text(WIKI)
    assert text("<base href='javascript:x'><a href=y>t</a>").endswith("example.org/a/y)")


def test_a_page_cut_anywhere_is_read_to_the_cut():
    for source in (ARTICLE, CARDS, WIKI):
        for end in range(0, len(source), 7):
            readable(source[:end], URL)


def test_a_page_with_more_tags_than_anyone_reads_is_cut_and_says_so():
    page = readable("<p>x" * 10, URL, most=10)
    assert (page.text, page.cut) == ("x\n\nx\n\nx\n\nx\n\nx", True)
    assert not readable("<p>x" * 10, URL).cut


def test_reading_stops_when_nobody_waits():
    assert readable("<p>x" * 10_000, URL, lambda: True).cut


def test_tags_are_cut_as_browsers_cut_them():
    def cut(source: str) -> list:
        return list(tokens(source))

    assert cut("<A HREF='x>y' b=\"1\" c=2 d>t</A >") == [
        Start("a", {"href": "x>y", "b": "1", "c": "2", "d": ""}),
        "t",
        End("a"),
    ]
    assert cut("<p title=it's>x") == [Start("p", {"title": "it's"}), "x"]
    assert cut("<p a=1 a=2>") == [Start("p", {"a": "1"})]
    assert cut("<br/>") == [Start("br")]
    assert cut("<script>a<b</SCRIPT x>") == [Start("script"), "a<b", End("script")]
    assert cut("a <3 b < c <") == ["a <3 b < c <"]
    assert cut("<!-->x<!--->y<!---->z<!-- a -- b -->w") == ["x", "y", "z", "w"]
    assert cut("<!-- never closed <p>x") == []
    assert cut("<p unclosed") == [Start("p", {"unclosed": ""})]
    assert cut('<p a="unclosed>x') == [Start("p", {"a": '"unclosed'}), "x"]
    assert cut("</>x</ >y</p") == ["x", "y", End("p")]
    assert cut("<![CDATA[x]]>y") == ["y"]


MARKUP = st.sampled_from(
    [
        *("<", ">", "</", "/>", "<!--", "-->", "--!>", "<!", "<?", "&", "&#", "&#x", ";", "=", '"'),
        *(
            "'",
            " ",
            "\n",
            "\t",
            "\0",
            "\r\n",
            "a",
            "0",
            "`",
            "```",
            "|",
            "[",
            "](",
            "\u202e",
            "\x1b",
        ),
        *("\u200b", "\ud800", "é", "<p>", "</p>", "<table>", "<tr>", "<td>", "</table>", "<ul>"),
        *("<li>", "</ul>", "<ol start=3>", "<pre>", "</pre>", "<code>", "</code>", "<a href=x>"),
        *("</a>", "<a href='http://[x'>", "<h1>", "</h1>", "<blockquote>", "<main>", "</main>"),
        *("<script>", "</script>", "<title>", "</title>", "<nav>", "</nav>", "<p hidden>", "<br>"),
        *(
            "<span style='color:#fff'>",
            "<div style=';:;;display:none'>",
            "</div>",
            "<base href=//x>",
        ),
        *("<article>", "<header>", "</header>", "<dl><dt>", "<dd>", "<img alt=x>", "<hr>", "<sup>"),
        *(
            "<meta http-equiv=refresh content=0;url=x>",
            "<plaintext>",
            "<textarea>",
            "<svg>",
            "</svg>",
        ),
        *("<td colspan=9>", "&lt;", "&nbsp;", "&#8238;", "&#xD800;", "&#1114112;", "&bogus;"),
    ]
)
HIDES = {"Cc", "Cs", "Zl", "Zp"}


@settings(max_examples=400, deadline=None)
@given(st.lists(MARKUP | st.text(max_size=5), max_size=60).map("".join))
def test_no_page_raises_or_lets_a_hiding_character_through(source):
    page = readable(source, URL)
    for shown in (page.text, page.refresh, *page.facts.values()):
        odd = [c for c in shown if unicodedata.category(c) in HIDES and c not in "\n\t"]
        assert not odd
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]", shown)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="<&", exclude_categories=["Cc", "Cf"])))
def test_the_words_of_a_plain_page_are_all_there_in_order(words):
    def letters(shown: str) -> str:
        return "".join(re.findall(r"[a-zA-Z0-9]", shown))

    assert letters(text(f"<p>{words}</p>")) == letters(words)


BAD = {
    "brackets": "<",
    "open comments": "<!--",
    "closed comments": "<!-- x -->",
    "divisions": "<div>",
    "hidden parts": "<span hidden>",
    "tables": "<table><tr><td>",
    "paragraphs": "<p>",
    "links": "<a href=x>",
    "quotes": '<a b="',
    "styles": "<p style='" + "a:" * 400 + "'>",
    "rgb": "<p style='color:rgb(" + "255, " * 30 + "'>",
    "numbers": "&#9",
    "blanks": "<b> </b>",
    "lists": "<ul><li>",
    "strangers": "</x>",
    "scripts": "<script></script>",
    "raw": "<title>",
    "spaces in tags": "<p " + " " * 200 + ">",
    "cells": "<td><p>x",
    "preformatted": "<pre><div>",
}


def steps(source: str) -> int:
    """How many lines of our own code run for a page: a measure of work that no clock disturbs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if "agent_magics" not in frame.f_code.co_filename:
            return None
        count += 1
        return trace

    sys.settrace(trace)
    try:
        readable(source, URL)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("name", BAD)
def test_the_work_grows_no_faster_than_the_page(name):
    once, twice = steps(BAD[name] * 300), steps(BAD[name] * 600)
    assert twice <= 2.2 * once + 500


class Watched(str):
    """A page that counts how many of its characters are searched for a text."""

    searched = 0

    def find(self, wanted, start=0, end=None):
        found = super().find(wanted, start, end)
        Watched.searched += (found if found >= 0 else len(self) if end is None else end) - start
        return found


@pytest.mark.parametrize(
    "source",
    [
        "<!-- x -->" * 500 + "--!>",
        "<!-- x --!>" * 500 + "-->",
        "<p>" * 500,
        "<p a='" * 500,
        "<p a=\"x' " * 500 + ">",
        "</x" * 500,
    ],
)
def test_no_part_of_a_page_is_searched_again_and_again(source):
    Watched.searched = 0
    list(tokens(Watched(source)))
    assert Watched.searched <= 8 * len(source)


@pytest.mark.parametrize("name", BAD)
def test_a_long_page_of_one_broken_thing_is_read(name):
    readable(BAD[name] * (200_000 // len(BAD[name])), URL)
