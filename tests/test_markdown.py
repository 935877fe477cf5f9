"""Markdown to HTML: what it draws, and that nothing in a text can draw anything else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.frontends.markdown import link_allowed, to_html
from agent_magics.frontends.markdown_code import LIMIT, highlighted
from agent_magics.frontends.theme import text_html
from tests.hostile import HOSTILE, problems

PIECES = st.sampled_from(
    [
        *(text for _, text in HOSTILE if len(text) < 300),
        *"*_`~$\\[](){}<>|#-+!&;:'\" \n\t",
        "\n\n",
        "```",
        "$$",
        "1. ",
        "|-|-|\n",
        "\\begin{align}",
        "\\end{align}",
        "&#x202e;",
    ]
)
MIXED = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_no_hostile_text_becomes_active(text):
    assert problems(to_html(text)) == []
    assert problems(text_html(text)) == []


@settings(deadline=None)
@given(MIXED)
def test_any_text_becomes_wellformed_html_of_known_elements(text):
    assert problems(to_html(text)) == []


@settings(deadline=None)
@given(st.text())
def test_any_unicode_becomes_wellformed_html(text):
    assert problems(to_html(text)) == []
    to_html(text).encode()


def test_the_checks_of_these_tests_can_fail():
    for bad in (
        "<script>x</script>",
        '<a href="javascript:alert(1)">x</a>',
        '<p style="position:fixed">x</p>',
        '<p style="background:url(x)">x</p>',
        '<p onclick="x">x</p>',
        '<p id="x">x</p>',
        '<p class="jp-x">x</p>',
        "<p>",
        "</p>",
        "<b><p></b></p>",
        "<!-- x -->",
        "<p>a\u202eb</p>",
        "<p>$\\href{x}{y}$</p>",
        '<span href="#x">x</span>',
    ):
        assert problems(bad) != [], bad


def test_the_usual_elements_are_drawn():
    html = to_html(
        "# One\n\n## Two\n\n### Three\n\nSome *em*, **strong**, ~~gone~~ and `code`.  \nNext\n\n"
        "> quote\n\n---\n\n3. three\n4. four\n\n- a\n  - b\n\n    indented\n\n[x](https://e.org/a?b=c&d)"
    )
    assert html == (
        "<h3>One</h3>\n<h4>Two</h4>\n<h5><b>Three</b></h5>\n"
        "<p>Some <em>em</em>, <strong>strong</strong>, <s>gone</s> and <code>code</code>.<br>\n"
        "Next</p>\n"
        "<blockquote><p>quote</p>\n</blockquote>\n<hr>\n"
        '<ol start="3"><li>three\n</li>\n<li>four\n</li>\n</ol>\n'
        "<ul><li>a\n<ul><li><p>b</p>\n<p>indented</p>\n</li>\n</ul>\n</li>\n</ul>\n"
        '<p><a href="https://e.org/a?b=c&amp;d" rel="noopener noreferrer nofollow" '
        'target="_blank">x</a></p>\n'
    )


def test_the_cells_of_a_table_are_aligned_as_it_says():
    html = to_html("|a|b|c|\n|-|:-:|-:|\n|1|2|3|\n")
    assert [part.split(">")[0] for part in html.split("text-align:")[1:]] == (
        ["left", "center", "right"] * 2
    )


def test_code_is_coloured_by_classes_and_escaped():
    html = to_html('```python\nif "<b>": # x\n    pass\n```')
    assert '<div class="highlight"><pre' in html
    assert '<span class="k">if </span><span class="s">"&lt;b&gt;"</span>:' in html


def test_code_in_an_unknown_language_is_only_escaped():
    assert highlighted("if <b>", "klingon") == "if &lt;b&gt;"
    assert to_html("    if <b>\n").count("<span") == 0


def test_code_that_is_long_is_not_given_to_a_lexer():
    code = "if x:\n" * LIMIT
    assert highlighted(code, "python") == code


def test_an_image_is_named_and_not_loaded():
    assert to_html("![a <b>](https://e.org/x.png)") == (
        "<p><span>[image: a &lt;b&gt; (https://e.org/x.png)]</span></p>\n"
    )
    assert "[image: x.png]" in to_html("![](x.png)")


def test_raw_html_is_text():
    assert to_html("<b>x</b>\n\n<div>\ny\n</div>") == (
        "<p>&lt;b&gt;x&lt;/b&gt;</p>\n<p>&lt;div&gt;\ny\n&lt;/div&gt;</p>\n"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://e.org",
        "HTTP://e.org/x",
        "mailto:a@b.c",
        "#x",
        "src/a.py",
        "a.py",
        "a/b:3",
        "?x=1:2",
    ],
)
def test_links_to_the_web_to_mail_and_to_relative_paths_open(url):
    if url == "?x=1:2":
        assert not link_allowed(url)  # a query of the notebook page itself is no path
    else:
        assert link_allowed(url)
        assert f'<a href="{url}"' in to_html(f"[x]({url})")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\tscript:alert(1)",
        "\x01javascript:alert(1)",
        " javascript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "//e.org",
        "/logout",
        "http:e.org",
        "https:/e.org",
        "https:///e.org",
        "mailto://x",
        "blob:x",
        "a.py:3",
    ],
)
def test_every_other_link_stays_text(url):
    assert not link_allowed(url)
    assert "<a " not in to_html(f"[x](<{url}>) [x]({url}) <{url}>")


def test_a_backslash_never_stands_in_a_link():
    assert not link_allowed("\\\\e.org")
    assert 'href="%5C%5Ce.org"' in to_html("[x](<\\\\\\\\e.org>)")


def test_a_link_without_an_address_leads_nowhere():
    assert to_html("[x]()") == "<p><a>x</a></p>\n"


def test_hidden_characters_are_shown_also_when_they_come_as_entities():
    assert to_html("a\u202eb &#x202e; `\u200b`") == (
        "<p>a<span>\\</span>u202eb <span>\\</span>u202e <code>\\u200b</code></p>\n"
    )


def test_text_that_is_no_markdown_is_escaped_only():
    assert text_html("*a* <b> $5") == "*a* &lt;b&gt; <span>$</span>5"


def test_the_parser_and_the_highlighter_are_not_imported_before_they_are_needed():
    code = (
        "import sys, agent_magics.frontends.markdown as m\n"
        "assert not {'markdown_it', 'pygments'} & set(sys.modules)\n"
        "m.to_html('x'); assert 'markdown_it' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
