"""A model's Markdown as HTML that cannot carry markup, scripts, styles or remote loads of its own.

Owns the one way from Markdown to HTML. The parser's tokens are written out by this module from a
closed list of tags and attributes, so that nothing in the text can name another; the text itself
is escaped, and what hides or steers in it is made visible. Notebook front ends do not sanitise
live output, which is why this happens here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from agent_magics.frontends import markdown_math
from agent_magics.frontends.markdown_code import highlighted
from agent_magics.frontends.summary import safe_line
from agent_magics.frontends.theme import FONT, WRAPPED, styled, text_html
from agent_magics.importing import installed_only
from agent_magics.plain import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ELEMENTS = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "em": "em",
    "strong": "strong",
    "s": "s",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
}
_HEADINGS = {"h1": ("h3", "", ""), "h2": ("h4", "", "")}
_ONE_LINE = frozenset({"em", "strong", "s"})
_LINK = re.compile(r"(?:https?://[^/]|mailto:[^/]|#)|[^:/?#]+(?:[/?#]|\Z)", re.IGNORECASE)
_UNFIT = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_LINK_RULES = 'rel="noopener noreferrer nofollow" target="_blank"'


def to_html(text: str) -> str:
    """The text's Markdown as safe HTML.

    Headings sink, so that an answer never outranks the notebook's own headings.

    Args:
        text: What a model wrote. Raw HTML in it is shown as text, images are named and not
            loaded, links open only `http`, `https`, `mailto`, relative paths and `#`.
    """
    return _written(_parser().parse(text))


def fences(text: str) -> tuple[tuple[int, int, str], ...]:
    """Where fenced code stands in a text whose HTML is taken as text.

    Args:
        text: Markdown.

    Returns:
        For each, its first line, the line behind its last, and the marker of a fence that stands
        outside of lists and quotations.
    """
    with installed_only():
        from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"html": False}).parse(text)
    return tuple(
        (token.map[0], token.map[1], token.markup if token.level == 0 else "")
        for token in tokens
        if token.type == "fence" and token.map
    )


def code_blocks(text: str) -> tuple[tuple[str, str], ...]:
    """The fenced code of a text in its order: for each, its language in small letters, and itself.

    Args:
        text: Markdown.
    """
    with installed_only():
        from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"html": False}).parse(text)
    return tuple(
        ((token.info.split() or [""])[0].lower(), token.content)
        for token in tokens
        if token.type == "fence"
    )


def link_allowed(url: str) -> bool:
    """Whether an answer may link there.

    A path that starts with a slash is not allowed: it would reach the notebook server's own
    addresses (`/logout`), and `//host` is another site.

    Args:
        url: With its entities decoded.
    """
    return _UNFIT.search(url) is None and _LINK.match(url) is not None


@cache
def _parser() -> MarkdownIt:
    with installed_only():
        from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"html": False, "maxNesting": 100})
    md.disable(["html_block", "html_inline"]).enable(["table", "strikethrough"])
    # The parser asks this of its own instance; there is no option for it in version 3.
    md.validateLink = link_allowed  # type: ignore[method-assign]  # as above
    markdown_math.install(md)
    return md


def _written(tokens: Sequence[Token]) -> str:
    return "".join(_token(token) for token in tokens)


def _token(token: Token) -> str:
    if token.nesting:
        return _tag(token)
    match token.type:
        case "inline":
            return _written(token.children or ())
        case "softbreak":
            return "\n"
        case "hardbreak":
            return "<br>\n"
        case "hr":
            return "<hr>\n"
        case "code_inline":
            return f"<code>{escape(visible(token.content), quote=False)}</code>"
        case "code_block" | "fence":
            return _fence(token)
        case "math" | "math_block":
            return _math(token)
        case "image":
            return f"<span>{text_html(_image(token))}</span>"
        case _:
            return text_html(token.content)


def _tag(token: Token) -> str:
    name, opening = token.type.rsplit("_", 1)[0], token.nesting > 0
    if name == "paragraph" and token.hidden:
        # In a tight list; what follows on the same level needs a line of its own.
        return "" if opening else "\n"
    if name == "link":
        return link_html(str(token.attrs.get("href", ""))) if opening else "</a>"
    if name == "heading":
        return _heading(token.tag, opening)
    if name in ("th", "td"):
        tag = f"{name}{_alignment(token)}" if opening else name
    else:
        tag = _ELEMENTS[name]
    if not opening:
        return f"</{tag}>" if name in _ONE_LINE else f"</{tag}>\n"
    start = token.attrs.get("start") if name == "ordered_list" else None
    return f'<{tag} start="{int(start)}">' if start is not None else f"<{tag}>"


def link_html(href: str) -> str:
    """The opening tag of a link; one that is not allowed, or has no address, leads nowhere."""
    if not href or not link_allowed(href):
        return "<a>"
    return f'<a href="{escape(visible(href))}" {_LINK_RULES}>'


def _heading(tag: str, opening: bool) -> str:
    """Below the notebook's own headings; the small ones, as large as text, are bold."""
    sunk, open_bold, close_bold = _HEADINGS.get(tag, ("h5", "<b>", "</b>"))
    return f"<{sunk}>{open_bold}" if opening else f"{close_bold}</{sunk}>\n"


def _alignment(token: Token) -> str:
    """Always said: notebooks align the cells of HTML tables to the right."""
    wanted = str(token.attrs.get("style", "")).removeprefix("text-align:")
    return styled(f"text-align:{wanted if wanted in ('center', 'right') else 'left'}")


def _fence(token: Token) -> str:
    language = (token.info.split() or [""])[0]
    code = highlighted(visible(token.content), language)
    # JupyterLab leaves no space below a block of code.
    style = styled(f"{FONT}{WRAPPED};margin:0 0 1em")
    return f'<div class="highlight"><pre{style}>\n{code}</pre></div>\n'


def _math(token: Token) -> str:
    block = token.type == "math_block"
    text = escape(visible(token.content), quote=False)
    if markdown_math.typesettable(token.content):
        # In an element of its own, so that it cannot join the dollar signs of its neighbours.
        return f"<p>{text}</p>\n" if block else f"<span>{text}</span>"
    return f"<pre{styled(FONT + WRAPPED)}>\n{text}</pre>\n" if block else f"<code>{text}</code>"


def _image(token: Token) -> str:
    where = safe_line(str(token.attrs.get("src", "")), 120)
    return f"[image: {token.content} ({where})]" if token.content else f"[image: {where}]"
