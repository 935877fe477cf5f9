"""What elements look like in Markdown: paragraphs, headings, links, code, tables. Pure.

Knows nothing of how HTML nests or what is left out.
Emphasis is not marked, so that a quotation is the page's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import quote, urljoin

from agent_magics.plain import stripped
from agent_magics.tools.web.elements import BLOCKS, HEADINGS
from agent_magics.tools.web.tables import Table
from agent_magics.tools.web.writing import Written

Attributes: TypeAlias = Mapping[str, str]

BREAK = "\n\n"
"""Between the paragraphs of a text that is held back, as that of a cell is."""
MAX_LINK = 500
"""Characters of a link's address; longer ones are for tracking, and are left out."""
MAX_WORDS = 300
"""Characters of a picture's description, a title, an author."""

_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?|highlight-source|brush)[-:]\s?([\w+#.-]{1,20})")


@dataclass(slots=True)
class Blocks:
    """Takes what is to be read, in order.

    Args:
        url: What links are relative to.
        written: The blocks that are done.
    """

    url: str
    written: Written = field(default_factory=Written)
    _inline: list[str] = field(default_factory=list)
    _tables: list[Table] = field(default_factory=list)
    _heading: int = 0
    _link: tuple[int, str] | None = None
    _pre: list[str] | None = None
    _language: str = ""

    def begin(self, name: str, attributes: Attributes) -> None:
        """An element begins."""
        if self._pre is not None:
            self._begin_within_pre(name, attributes)
            return
        if name in BLOCKS:
            self.flush()
        if name in _BEGINS:
            _BEGINS[name](self, name, attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._pre is not None and name != "pre":
            return
        if name in BLOCKS:
            self.flush()
        if name in _ENDS:
            _ENDS[name](self)

    def take(self, text: str) -> None:
        """A text comes."""
        if self._pre is None:
            self._inline.append(re.sub(r"\s+", " ", text))
        else:
            self._pre.append(text)

    def flush(self) -> None:
        """What was gathered of a paragraph becomes a block."""
        if self._cell is not None:
            self._inline.append(BREAK)
            return
        if self._link is not None:
            # A link around several blocks is a link in each of them.
            self._wrap_link()
            self._link = (0, self._link[1])
        text = _joined(self._inline) if self._inline else ""
        self._inline = []
        if not text:
            return
        if self._heading:
            line = " ".join(text.split("\n")).rstrip("¶#§🔗 ")
            self.written.add(f"{'#' * self._heading} {line}")
            return
        for paragraph in text.split(BREAK):
            self.written.add(paragraph)

    def address(self, link: str) -> str:
        """The whole address of a link; empty for what leads nowhere on the web."""
        link = link.strip()
        if not link or link.startswith("#"):
            return ""
        try:
            whole = urljoin(self.url, link)
        except ValueError:
            return ""
        if not whole.lower().startswith(("http://", "https://")) or len(whole) > MAX_LINK:
            return ""
        return quote(stripped(whole), safe="%/:?#[]@!$&'*+,;=-._~", errors="replace")

    # -- parts ------------------------------------------------------------------------------

    @property
    def _cell(self) -> Table | None:
        """The table whose cell is being filled, unless it only arranges the page."""
        table = self._tables[-1] if self._tables else None
        return table if table is not None and table.filling else None

    def _wrap_link(self) -> None:
        assert self._link is not None
        start, address = self._link
        text = " ".join(_joined(self._inline[start:]).split("\n"))
        if text and address:
            self._inline[start:] = [f"[{text}]({address})"]

    def _begin_within_pre(self, name: str, attributes: Attributes) -> None:
        assert self._pre is not None
        if name == "br" or (name in BLOCKS and self._pre and not self._pre[-1].endswith("\n")):
            self._pre.append("\n")
        if name == "code":
            self._language = self._language or _language(attributes)

    def _begin_link(self, _name: str, attributes: Attributes) -> None:
        self._end_link()
        self._link = (len(self._inline), self.address(attributes.get("href", "")))

    def _end_link(self) -> None:
        if self._link is not None:
            self._wrap_link()
            self._link = None

    def _begin_heading(self, name: str, _attributes: Attributes) -> None:
        self._heading = int(name[1])

    def _end_heading(self) -> None:
        self._heading = 0

    def _begin_pre(self, _name: str, attributes: Attributes) -> None:
        if self._cell is None:
            self._pre, self._language = [], _language(attributes)

    def _end_pre(self) -> None:
        text = "".join(self._pre or ()).replace("\r\n", "\n").replace("\r", "\n")
        text = stripped(text).strip("\n")
        self._pre = None
        if text.strip():
            ticks = max((len(run) for run in re.findall("`{3,}", text)), default=2) + 1
            self.written.add(f"{'`' * ticks}{self._language}\n{text}\n{'`' * ticks}")

    def _rule(self, _name: str, _attributes: Attributes) -> None:
        if self._cell is None:
            self.written.add("---")

    def _picture(self, _name: str, attributes: Attributes) -> None:
        words = " ".join(attributes.get("alt", "").split())
        if words:
            self._inline.append(f"[image: {words[:MAX_WORDS]}]")

    def _begin_table(self, _name: str, _attributes: Attributes) -> None:
        if self._tables:
            # A table inside a cell: the outer one only arranges the page.
            for paragraph in self._tables[-1].arranged():
                self.written.add(paragraph)
            self.flush()
        self._tables.append(Table())

    def _end_table(self) -> None:
        if self._tables:
            self._end_cell()
            for block in self._tables.pop().blocks():
                self.written.add(block)

    def _begin_row(self, _name: str, _attributes: Attributes) -> None:
        if self._tables:
            self._end_cell()
            self._tables[-1].begin_row()

    def _begin_cell(self, _name: str, attributes: Attributes) -> None:
        if self._tables:
            self._end_cell()
            self._tables[-1].begin_cell(attributes.get("colspan", ""))

    def _end_cell(self) -> None:
        table = self._cell
        if table is not None:
            self._end_link()
            table.end_cell(_joined(self._inline))
            self._inline = []

    def mark(self, mark: str) -> None:
        """A character that stands for an element: a backtick, a line end."""
        self._inline.append(mark)


Begin: TypeAlias = Callable[[Blocks, str, Attributes], None]
End: TypeAlias = Callable[[Blocks], None]


def _begin_with(mark: str) -> Begin:
    return lambda blocks, _name, _attributes: blocks.mark(mark)


def _end_with(mark: str) -> End:
    return lambda blocks: blocks.mark(mark)


_BEGINS: Mapping[str, Begin] = MappingProxyType(
    {
        **dict.fromkeys(HEADINGS, Blocks._begin_heading),
        **dict.fromkeys(("code", "kbd", "samp", "tt"), _begin_with("`")),
        **dict.fromkeys(("del", "s", "strike"), _begin_with("~~")),
        **dict.fromkeys(("td", "th"), Blocks._begin_cell),
        "ul": lambda blocks, _name, _attributes: blocks.written.begin_list(),
        "ol": lambda blocks, _name, attributes: blocks.written.begin_list(_first(attributes)),
        "li": lambda blocks, _name, _attributes: blocks.written.begin_item(),
        "dd": lambda blocks, _name, _attributes: blocks.written.begin_meaning(),
        "blockquote": lambda blocks, _name, _attributes: blocks.written.begin_quote(),
        **{"a": Blocks._begin_link, "pre": Blocks._begin_pre, "hr": Blocks._rule},
        **{"img": Blocks._picture, "table": Blocks._begin_table, "tr": Blocks._begin_row},
        # 10<sup>6</sup> is not 106.
        **{"br": _begin_with("\n"), "sup": _begin_with("^"), "sub": _begin_with("_")},
        "q": _begin_with("“"),
    }
)
_ENDS: Mapping[str, End] = MappingProxyType(
    {
        **dict.fromkeys(HEADINGS, Blocks._end_heading),
        **dict.fromkeys(("code", "kbd", "samp", "tt"), _end_with("`")),
        **dict.fromkeys(("del", "s", "strike"), _end_with("~~")),
        **dict.fromkeys(("td", "th"), Blocks._end_cell),
        **dict.fromkeys(("ul", "ol"), lambda blocks: blocks.written.end_list()),
        "blockquote": lambda blocks: blocks.written.end_quote(),
        **{"a": Blocks._end_link, "pre": Blocks._end_pre},
        **{"table": Blocks._end_table, "q": _end_with("”")},
    }
)
INLINE = frozenset(_ENDS) - BLOCKS
"""Inline elements whose end matters."""


def _joined(pieces: list[str]) -> str:
    """Pieces of a paragraph as one text, with single blanks and the line ends of `br`."""
    text = re.sub(" +", " ", stripped("".join(pieces)))
    text = text.replace(" \n", "\n").replace("\n ", "\n").replace("^[", "[")
    return re.sub("\n{3,}", BREAK, text).replace("``", "").strip()


def _first(attributes: Attributes) -> int:
    """The first number of a list."""
    first = attributes.get("start", "1").strip()
    return int(first) if first.isascii() and first.isdecimal() and len(first) < 7 else 1


def _language(attributes: Attributes) -> str:
    found = _LANGUAGE.search(attributes.get("class", "")[:MAX_LINK])
    return found[1] if found else ""
