"""Which HTML elements are what to a reader. Tables only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DROPPED = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "head"),
        *("audio", "video", "map", "button", "select", "textarea", "datalist", "dialog", "xmp"),
        *("noembed", "noframes", "plaintext", "frameset"),
    )
)
"""Never read."""
NOISE = frozenset(("nav", "menu"))
OUTER_NOISE = frozenset(("header", "footer", "aside"))
"""Noise outside of the main part; inside of it, they hold its title and its notes."""
NOISE_ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "menu", "menubar"))
VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    )
)
"""Never hold anything."""
BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
        *("h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "nav"),
        *("ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
        *("tr", "ul", "caption", "menu", "search"),
    )
)
"""Begin and end a line."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
CLOSES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = MappingProxyType(
    {
        "li": (frozenset(("li",)), frozenset(("ul", "ol"))),
        "dt": (frozenset(("dt", "dd")), frozenset(("dl",))),
        "dd": (frozenset(("dt", "dd")), frozenset(("dl",))),
        "tr": (frozenset(("tr",)), frozenset(("table",))),
        "td": (frozenset(("td", "th")), frozenset(("tr", "table"))),
        "th": (frozenset(("td", "th")), frozenset(("tr", "table"))),
    }
)
"""The elements that a start tag ends, and those beyond which it ends none."""
FACTS: Mapping[str, str] = MappingProxyType(
    {
        "author": "author",
        "article:published_time": "published",
        "date": "published",
        "dc.date": "published",
        "citation_publication_date": "published",
        "article:modified_time": "modified",
        "last-modified": "modified",
    }
)
"""What `meta` elements say that someone who cites a page wants to know."""
