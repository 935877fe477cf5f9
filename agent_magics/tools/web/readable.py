"""A page as text for a reader: Markdown without what nobody reads. Pure, linear, never raises.

Owns how broken HTML nests, what is left out (scripts, navigation, forms, hidden text), and which
part of a page is its main part. What blocks look like is `blocks`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent_magics.plain import stripped
from agent_magics.tools.web.blocks import INLINE, MAX_WORDS, Blocks
from agent_magics.tools.web.elements import (
    BLOCKS,
    CLOSES,
    DROPPED,
    FACTS,
    NOISE,
    NOISE_ROLES,
    OUTER_NOISE,
    VOID,
)
from agent_magics.tools.web.hiding import background, is_hidden, styles
from agent_magics.tools.web.tokens import RAW, End, Start, tokens

LOOKED_THROUGH = 64
"""Open elements that are looked through for one that a tag ends implicitly."""
MAX_TOKENS = 500_000
"""Tags and texts that are read: some ten seconds of work; the longest real pages have half."""
SUBSTANCE = 200
"""Characters from which on a part is a text of its own."""
_P = frozenset(("p",))
_AROUND_P = frozenset(("table", "td", "th", "caption"))


@dataclass(frozen=True, slots=True)
class Readable:
    """A page as text.

    Args:
        text: Markdown.
        facts: Title, author and dates, as far as the page says them.
        hidden: How many parts were left out since nobody sees them.
        refresh: Where the page sends its readers by itself.
        scripts: How many scripts it has.
        cut: Whether it has more tags than are read.
    """

    text: str
    facts: Mapping[str, str] = field(default_factory=dict)
    hidden: int = 0
    refresh: str = ""
    scripts: int = 0
    cut: bool = False


def readable(
    source: str, url: str, stop: Callable[[], bool] = lambda: False, most: int = MAX_TOKENS
) -> Readable:
    """A page as a reader would want it.

    Args:
        source: The HTML, whole or cut anywhere.
        url: Where it is from; links are taken relative to it.
        stop: Says when nobody waits any more.
        most: Tags and texts that are read.
    """
    page = _read(_Page(Blocks(url)), source, stop, most)
    whole, main = page.blocks.written.text(), page.main_text()
    text = main if len(main) >= SUBSTANCE and len(main) * 10 >= len(whole) else whole
    if len(text) < SUBSTANCE and page.noise:
        # A page that is all navigation: an index, say.
        everything = _read(_Page(Blocks(url), everything=True), source, stop, most)
        links = everything.blocks.written.text()
        text = links if len(links) > 2 * len(text) else text
    return Readable(text, page.facts, page.hidden, page.refresh, page.scripts, page.cut)


def _read(page: _Page, source: str, stop: Callable[[], bool], most: int) -> _Page:
    for count, token in enumerate(tokens(source)):
        if count == most or (count % 1000 == 0 and stop()):
            page.cut = True
            break
        match token:
            case Start(name, attributes):
                page.start(name, attributes)
            case End(name):
                page.end(name)
            case str():
                page.take(token)
    page.finish()
    return page


@dataclass(frozen=True, slots=True)
class _Open:
    """An open element.

    Args:
        name: Its name.
        silent: Whether what is in it is left out.
        behind: The colour behind it, if known.
        main: Whether it is the page's main part.
    """

    name: str
    silent: bool = False
    behind: str = ""
    main: bool = False


@dataclass(slots=True)
class _Page:
    """A page that is being read.

    Args:
        blocks: Takes what is to be read.
        everything: Whether navigation is read, too.
    """

    blocks: Blocks
    everything: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    hidden: int = 0
    refresh: str = ""
    scripts: int = 0
    noise: int = 0
    cut: bool = False
    _open: list[_Open] = field(default_factory=list)
    _count: dict[str, int] = field(default_factory=dict)
    _main: tuple[int, int | None] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        self.scripts += name == "script"
        self._note(name, attributes)
        self._end_implicitly(name)
        above = self._open[-1] if self._open else _Open("")
        unseen = not above.silent and name not in VOID and _unseen(name, attributes, above.behind)
        self.hidden += unseen
        silent = above.silent or unseen or self._is_noise(name, attributes)
        main = not silent and self._main is None and _is_main(name, attributes)
        styled = not silent and not attributes.keys().isdisjoint(("style", "bgcolor", "background"))
        # Outside of what is left out, elements without meaning need not be remembered.
        known = name in BLOCKS or name in RAW or name in INLINE
        if name not in VOID and (silent or styled or main or known):
            behind = background(attributes, styles(attributes)) if styled else ""
            self._open.append(_Open(name, silent, behind or above.behind, main))
            self._count[name] = self._count.get(name, 0) + 1
        if not silent:
            self.blocks.begin(name, attributes)
        if main:
            self._main = (len(self.blocks.written), None)

    def end(self, name: str) -> None:
        """Take an end tag; one without a start is nothing."""
        while self._count.get(name):
            if self._close() == name:
                return

    def take(self, text: str) -> None:
        """Take a text."""
        top = self._open[-1] if self._open else _Open("")
        if top.name == "title":
            self.facts.setdefault("title", _words(text))
        elif not top.silent:
            self.blocks.take(text)

    def finish(self) -> None:
        """Take the end of the page."""
        while self._open:
            self._close()
        self.blocks.flush()

    def main_text(self) -> str:
        """The blocks of the page's main part, if it names one."""
        return self.blocks.written.text(*self._main) if self._main is not None else ""

    def _is_noise(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name in DROPPED or self.everything:
            return name in DROPPED
        within = self._count.get("main") or self._count.get("article")
        role = attributes.get("role", "").lower()
        noise = name in NOISE or role in NOISE_ROLES or (name in OUTER_NOISE and not within)
        self.noise += noise
        return noise

    def _end_implicitly(self, name: str) -> None:
        if name in BLOCKS:
            self._end_above(_P, _AROUND_P)
        if name in CLOSES:
            self._end_above(*CLOSES[name])

    def _end_above(self, names: frozenset[str], bounds: frozenset[str]) -> None:
        if not any(self._count.get(name) for name in names):
            return
        for element in self._open[: -LOOKED_THROUGH - 1 : -1]:
            if element.name in names:
                self.end(element.name)
                return
            if element.name in bounds:
                return

    def _close(self) -> str:
        element = self._open.pop()
        self._count[element.name] -= 1
        if not element.silent:
            self.blocks.end(element.name)
        if element.main and self._main is not None:
            self.blocks.flush()
            self._main = (self._main[0], len(self.blocks.written))
        return element.name

    def _note(self, name: str, attributes: Mapping[str, str]) -> None:
        """What a page says of itself."""
        if name == "base":
            self.blocks.url = self.blocks.address(attributes.get("href", "")) or self.blocks.url
        if name != "meta":
            return
        content = _words(attributes.get("content", ""))
        if attributes.get("http-equiv", "").lower() == "refresh":
            before, _, target = content.partition("=")
            if before.lower().rstrip().endswith("url"):
                self.refresh = self.blocks.address(target.strip("\"' "))
        fact = FACTS.get((attributes.get("property") or attributes.get("name") or "").lower())
        if fact and content:
            self.facts.setdefault(fact, content)


def _unseen(name: str, attributes: Mapping[str, str], behind: str) -> bool:
    """Whether an element is hidden against its own background, or the one around it."""
    if not attributes:
        return False
    own = background(attributes, styles(attributes))
    return is_hidden(name, attributes, own or behind)


def _is_main(name: str, attributes: Mapping[str, str]) -> bool:
    return name == "main" or attributes.get("role", "").lower() == "main"


def _words(text: str) -> str:
    return " ".join(stripped(text).split())[:MAX_WORDS]
