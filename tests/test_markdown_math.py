"""Math in an answer: what a page's MathJax gets, and what it is kept from."""

from __future__ import annotations

import pytest

from agent_magics.frontends.markdown import to_html
from agent_magics.frontends.markdown_math import DEPTH, LIMIT, typesettable
from agent_magics.plain import visible


@pytest.mark.parametrize(
    "tex",
    [
        "$x$",
        "$a_1 * b_2 * c_3$",
        r"$\frac{1}{2}$",
        r"$E[X] = \sum_i p_i x_i$",
        "$$\nx = y\n$$",
        r"\(x < y\)",
        r"\[x_1\]",
        "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}",
        r"$\{a\}, \%$",
    ],
)
def test_math_reaches_the_page_as_it_was_written(tex):
    shown = tex.replace("&", "&amp;").replace("<", "&lt;")
    assert shown in to_html(tex)
    assert "<code>" not in to_html(tex)


def test_math_in_the_text_of_a_link_is_math():
    assert "<span>$x_1$</span></a>" in to_html("[a $x_1$](b.md)")


def test_block_math_ends_a_paragraph_and_stays_in_its_list():
    html = to_html("text\n$$\n- x\n$$\nmore\n\n- item\n  $$\n  y\n  $$\n")
    assert "<p>$$\n- x\n$$</p>" in html
    assert "<p>more</p>" in html
    assert "<p>$$\ny\n$$</p>" in html


@pytest.mark.parametrize("tex", ["$$\nx\n\ny\n$$", "$$\nnever closed", "    $$\n    x\n    $$"])
def test_what_is_no_block_of_math_is_text(tex):
    assert "<p>$$\n" not in to_html(tex)


def test_block_math_ends_with_the_list_that_it_stands_in():
    assert "<p>$$" not in to_html("- $$\n  x\nouter\n$$")


@pytest.mark.parametrize("text", ["costs $5 and $6", "$ x $", "a$", r"\$x\$", "$5"])
def test_dollars_that_are_no_math_are_kept_from_mathjax(text):
    html = to_html(text)
    assert "$" in html
    assert "$" not in html.replace("<span>$</span>", "")


@pytest.mark.parametrize(
    "tex",
    [
        r"$\href{javascript:alert(1)}{x}$",
        r"$\style{color:red}{x}$",
        r"$\class{a}{x}$",
        r"$\cssId{a}{x}$",
        r"$\require{html}$",
        r"$\unicode{x41}$",
        r"$\def\a{b}$",
        r"$\color{red}x$",
        r"$\begin{foo}x\end{foo}$",
        r"$\begin x$",
        r"$x \\[-9em] y$",
        r"$\é$",
        "$a\u200bb$",
        "$x" + r"\!" * 9 + "y$",
        "$" + "{" * (DEPTH + 1) + "}" * (DEPTH + 1) + "$",
    ],
)
def test_math_that_could_do_more_than_typeset_is_shown_as_code(tex):
    assert not typesettable(tex)
    assert to_html(tex) == f"<p><code>{visible(tex)}</code></p>\n"


def test_a_block_of_math_that_could_do_more_is_shown_as_code():
    assert ">\n$$\n\\href{a}{b}\n$$</pre>" in to_html("$$\n\\href{a}{b}\n$$")


def test_a_formula_without_end_is_not_typeset():
    assert not typesettable("x" * (LIMIT + 1))
    for long in ("$" + "x" * LIMIT + "y$", "$$\n" + "x\n" * LIMIT + "$$"):
        assert "<span>$</span>" in to_html(long)


def test_a_backslash_at_the_end_is_text():
    assert to_html("x \\") == "<p>x <span>\\</span></p>\n"
    assert not typesettable("\\")
