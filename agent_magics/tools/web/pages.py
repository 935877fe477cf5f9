"""Pages of the web as lines of text, and the few that are kept for turning over.

Owns what an answer of a server means for the model: a page, a file that is no text, an error and
what to do about it. Kept pages are the only state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Literal, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.fencing import fenced
from agent_magics.plain import stripped
from agent_magics.tools.blocking import in_thread
from agent_magics.tools.documents import kind_of
from agent_magics.tools.plain import counted, size
from agent_magics.tools.walking import Stop
from agent_magics.tools.web.bodies import kind_by_bytes, kind_by_type, text_of
from agent_magics.tools.web.getting import Bounds, Got, Way, get
from agent_magics.tools.web.guarding import Allowed
from agent_magics.tools.web.proxies import Proxies
from agent_magics.tools.web.readable import SUBSTANCE, readable
from agent_magics.tools.web.resolving import Resolve, system_addresses
from agent_magics.tools.web.urls import WebUrl

Form: TypeAlias = Literal["readable", "source"]

KEPT = 5
"""Pages that are kept; together at most some 25 MB."""
KEPT_SECONDS = 900
MAX_LINE = 4000
"""Characters of a line; longer ones are broken, so that every page has pages."""
EXCERPT = 1000
"""Characters of an error's own page that are shown."""
TAG = "web_page"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was at some time.

    Args:
        url: Where it came from, after redirects.
        lines: Its text.
        facts: Title, author, dates, as the page says them.
        notes: What is to be known of the text, in our own words.
        at: When it was got.
    """

    url: str
    lines: tuple[str, ...]
    facts: Mapping[str, str]
    notes: tuple[str, ...]
    at: datetime


def _nothing_allowed() -> Allowed:
    return frozenset()


def _no_proxies() -> Proxies:
    return {}


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Web:
    """The web, as far as the agent may go there.

    Args:
        allowed: Hosts and ports of the person's own network that their configuration opens; read
            at each call.
        proxies: The proxies that the person's environment names.
        resolve: All addresses of a host.
        bounds: Limits of one call.
        way: How requests are made, for what no setting says.
        clock: Seconds, for how long pages are kept.
        now: The time, as pages are dated.
    """

    allowed: Callable[[], Allowed] = _nothing_allowed
    proxies: Callable[[], Proxies] = _no_proxies
    resolve: Resolve = system_addresses
    bounds: Bounds = field(default_factory=Bounds)
    way: Callable[[Way], Way] = lambda way: way
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _now
    _kept: dict[tuple[str, Form], tuple[float, Page]] = field(default_factory=dict)

    async def page(self, url: WebUrl, form: Form, *, turned: bool) -> Page:
        """A page; a kept one if its leaves are being turned.

        Args:
            url: Checked by the caller, as far as names go.
            form: Text for a reader, or the page's own source.
            turned: Whether a later part of it is wanted.

        Raises:
            ToolError: It cannot be had.
        """
        key = (str(url), form)
        when, kept = self._kept.get(key, (0.0, None))
        if turned and kept is not None and self.clock() - when < KEPT_SECONDS:
            return kept
        got = await get(url, self._way())
        page = await in_thread(lambda stop: page_of(got, url, form, self.now(), stop))
        self._kept.pop(key, None)
        self._kept[key] = (self.clock(), page)
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        return page

    def _way(self) -> Way:
        way = Way(_agent(), self.allowed(), self.proxies(), self.resolve, self.bounds)
        return self.way(way)


def page_of(got: Got, asked: WebUrl, form: Form, at: datetime, stop: Stop) -> Page:
    """What an answer means.

    Raises:
        ToolError: It is an error, or no text.
    """
    if not 200 <= got.status < 300:
        raise ToolError(_refused(got))
    if got.status in (204, 205) or not (got.body or kind_by_type(got.media_type) == "binary"):
        raise ToolError(f"{got.url} answered, but with an empty page (status {got.status}).")
    text, facts, notes = _text(got, form, stop)
    lines, broken = _lines(text)
    moved = [f"{asked} redirects to {got.url}"] if str(asked) != str(got.url) else []
    wide = [f"lines of more than {MAX_LINE:,} characters are broken"] if broken else []
    limit = [f"cut: only the first {size(len(got.body))} were read"] if got.cut else []
    dated = {"modified": got.headers.get("last-modified", ""), **facts}
    return Page(str(got.url), lines, dated, (*moved, *notes, *limit, *wide), at)


def _text(got: Got, form: Form, stop: Stop) -> tuple[str, Mapping[str, str], list[str]]:
    """The text of a body, what it says of itself, and what is to be known of it."""
    kind = kind_by_bytes(got.body, kind_by_type(got.media_type))
    if kind == "binary":
        raise ToolError(_not_text(got))
    text, _ = text_of(got.body, got.headers.get("content-type", ""), kind, cut=got.cut)
    lost = text.count("\ufffd")
    notes = [f"{counted(lost, 'character')} could not be decoded (\ufffd)"] if lost else []
    if kind != "html" or form == "source":
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = stripped(text)
        gone = len(text) - len(clean)
        if gone:
            notes.append(f"{counted(gone, 'invisible character')} left out")
        return clean, {}, notes
    page = readable(text, str(got.url), stop)
    if page.hidden:
        notes.append(f"{counted(page.hidden, 'part')} left out that a reader does not see")
    if page.refresh:
        notes.append(f"the page sends browsers on to {page.refresh}")
    if page.scripts and len(page.text) < SUBSTANCE:
        notes.append("little text: the page may need JavaScript, which fetch does not run")
    if page.cut:
        notes.append("cut: the page has more elements than are read; format=source has them all")
    return page.text, page.facts, notes


def _lines(text: str) -> tuple[tuple[str, ...], bool]:
    """Lines of bounded length, and whether some had to be broken."""
    lines: list[str] = []
    broken = False
    for line in text.strip("\n").split("\n"):
        while len(line) > MAX_LINE:
            blank = line.rfind(" ", MAX_LINE // 2, MAX_LINE)
            at = blank + 1 if blank > 0 else MAX_LINE
            lines.append(line[:at])
            line, broken = line[at:], True
        lines.append(line)
    return tuple(lines), broken


def _not_text(got: Got) -> str:
    told = kind_of(got.body) if got.body else ""
    if not got.body and got.media_type == "application/pdf":
        told = "a PDF"
    kind = got.media_type or "no type given"
    what = f"{told} ({kind})" if told and told != "binary data" else f"not text ({kind})"
    length = got.headers.get("content-length", "")
    known = length.isascii() and length.isdecimal() and len(length) < 16
    much = size(int(length)) if known else f"at least {size(len(got.body))}" if got.body else ""
    return (
        f"{got.url} is {what}, {much or 'of unknown size'}; fetch reads text only. Look for a page "
        "or a text version of it, or ask the person to have it downloaded and read with a tool "
        "that can."
    )


def _refused(got: Got) -> str:
    """An error of the server: its number, what to do, and the beginning of what it says."""
    try:
        phrase = f" {HTTPStatus(got.status).phrase}"
    except ValueError:
        phrase = ""
    text = f"{got.url} answered {got.status}{phrase}. {_advice(got)}"
    kind = kind_by_bytes(got.body, kind_by_type(got.media_type)) if got.body else "binary"
    if kind == "binary":
        return text
    said, _ = text_of(got.body[:100_000], got.headers.get("content-type", ""), kind, cut=True)
    shown = readable(said, str(got.url)).text if kind == "html" else said.strip()
    if not shown:
        return text
    excerpt = shown[:EXCERPT] + ("…" if len(shown) > EXCERPT else "")
    return f"{text} It says:\n{fenced(TAG, excerpt, {'url': str(got.url)})}"


def _advice(got: Got) -> str:
    match got.status:
        case 401 | 402 | 403 | 407 | 451:
            return "It is not open to everyone, and fetch sends no credentials: look elsewhere."
        case 404 | 410:
            return "There is no such page: check the address, or start from the site's front page."
        case 429 | 503:
            wait = got.headers.get("retry-after", "")
            after = f" after {wait} seconds" if wait.isascii() and wait.isdecimal() else " later"
            return f"It is busy: ask again{after}, once, or look elsewhere."
        case status if 300 <= status < 400:
            return "It leads on without saying where."
        case status if status >= 500:
            return "That is the server's fault: try once more later, or look elsewhere."
        case _:
            return "It does not take this request: check the address."


def _agent() -> str:
    from agent_magics import __version__

    return f"agent_magics/{__version__}"
