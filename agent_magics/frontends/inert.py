"""What a stranger's code wants to show, as far as it cannot act: pictures, text, tables, lists.

A page does not sanitise what a kernel displays. A person's own code may show what it likes, as in
any cell; a skill's tool is somebody else's code, and what it shows often holds what others wrote.
Owns which MIME types and which elements stay. Whatever is not named here is left out.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser

from agent_magics.findings import MIME
from agent_magics.frontends import theme
from agent_magics.frontends.markdown import link_html
from agent_magics.frontends.summary import safe_line
from agent_magics.messages import JSON, Display
from agent_magics.plain import visible

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
HTML, SVG, TEXT = "text/html", "image/svg+xml", "text/plain"
LONGEST = 300_000
"""Characters of HTML, or of a drawing, that are looked through; a longer one is left out."""
DEEPEST = 100
"""Elements within each other; what is further in keeps its text alone."""

_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_KEPT = re.compile(
    r"p|div|span|h[1-6]|[uod]l|li|d[td]|b|strong|i|em|u|s|code|pre|blockquote"
    r"|table|thead|tbody|tfoot|tr|t[hd]|caption|small|su[bp]"
)
_VOID = frozenset({"br", "hr"})
_SUNK = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h5", "h6": "h5"}
"""As in an answer: nothing outranks the notebook's own headings."""
_SILENT = re.compile(
    r"script|style|template|svg|math|iframe|object|noscript|noembed|noframes|textarea|title|head"
    r"|select|option|xmp|plaintext|canvas|audio|video|frameset|applet|button"
)
"""Elements that go with all that stands in them."""
_TAG, _ROW_END = re.compile(r"<[^>]*>"), re.compile(r"</(?:tr|p|li|h\d|div|pre)>|<br>")
_SPANS = re.compile(r"[1-9]\d{0,2}")


def inert(display: Display, whose: str) -> Display:
    """The display with what cannot act alone.

    Args:
        display: Of any kind; only bundles can hold more than text.
        whose: Who made it, to be said above what is left of its HTML.
    """
    if display.kind != "bundle":
        return display
    return replace(display, data=inert_bundle(display.data, whose))


def inert_bundle(bundle: Mapping[str, JSON], whose: str) -> dict[str, JSON]:
    """The types of a bundle that cannot act; its HTML and its drawing in a form that cannot.

    Args:
        bundle: MIME type to content.
        whose: As for `inert`.
    """
    kept: dict[str, JSON] = {}
    for kind, content in bundle.items():
        text = _text(content)
        if kind == MIME:
            kept[kind] = content  # drawn from its data
        elif kind == TEXT:
            kept[kind] = visible(text)
        elif kind in PICTURES and _BASE64.fullmatch(text):
            kept[kind] = text
    html = _text(bundle.get(HTML))
    drawing = _text(bundle.get(SVG))
    shown = [inert_html(html)] if html and len(html) <= LONGEST else []
    shown += [_picture(drawing)] if drawing and len(drawing) <= LONGEST else []
    if any(shown) and not any(kind in kept for kind in PICTURES):
        kept[HTML] = theme.framed(f"shown by {safe_line(whose, 64)}", "".join(shown))
    if set(bundle) - {MIME} and not kept.get(TEXT):
        kept[TEXT] = _words(shown[0]) if html and shown else ""
        kept[TEXT] = kept[TEXT] or f"({', '.join(safe_line(kind, 60) for kind in bundle)})"
    return kept


def inert_html(html: str) -> str:
    """The text and the plain elements of HTML from anywhere, as safe HTML.

    Args:
        html: Anything. Scripts, styles, frames, forms, pictures, every attribute but the extent of
            a table's cell and an address that an answer may link to are left out.
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join([*reader.written, *(f"</{tag}>" for _, tag in reversed(reader.open))])


def _text(content: JSON) -> str:
    """A type's content as text; notebooks may hold it in lines."""
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        return "".join(content)
    return content if isinstance(content, str) else ""


def _words(html: str) -> str:
    """The text of safe HTML, its rows in lines."""
    rows = _TAG.sub(" ", _ROW_END.sub("\n", html)).split("\n")
    return "\n".join(line for row in rows if (line := " ".join(unescape(row).split())))


def _picture(drawing: str) -> str:
    """As a picture nothing in a drawing runs, and it loads nothing."""
    data = base64.b64encode(drawing.encode(errors="replace")).decode()
    return f'<img alt="figure" src="data:{SVG};base64,{data}">'


class _Reader(HTMLParser):
    """Writes the elements that stay anew; `open` holds names as they came and as they are written.

    The base class is the standard library's way to be told of tags.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self.open: list[tuple[str, str]] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent or _SILENT.fullmatch(tag):
            if _SILENT.fullmatch(tag):
                self._silent.append(tag)
        elif tag in _VOID:
            self.written.append(f"<{tag}>")
        elif tag == "a":
            self._opened(tag, tag, link_html(dict(attrs).get("href") or ""))
        elif _KEPT.fullmatch(tag):
            new = _SUNK.get(tag, tag)
            self._opened(tag, new, f"<{new}{_extent(tag, attrs)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # In HTML a slash closes nothing, but that which it could close is left out anyway.
        if not self._silent and (tag in _VOID or not _SILENT.fullmatch(tag)):
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
            return
        if tag not in (name for name, _ in self.open):
            return
        while self.open:
            name, new = self.open.pop()
            self.written.append(f"</{new}>")
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.written.append(theme.text_html(data))

    def _opened(self, tag: str, new: str, html: str) -> None:
        if len(self.open) < DEEPEST:
            self.open.append((tag, new))
            self.written.append(html)


def _extent(tag: str, attrs: list[tuple[str, str | None]]) -> str:
    """How many columns and rows a cell of a table takes."""
    if tag not in ("td", "th"):
        return ""
    given = dict(attrs)
    spans = ((name, given.get(name) or "") for name in ("colspan", "rowspan"))
    return "".join(f' {name}="{escape(n)}"' for name, n in spans if _SPANS.fullmatch(n))
