"""Which environment variables hold secrets, and texts without them. Pure.

Owns the name patterns, and the search for known values in a text however they are written there.
Deliberately reads no environment: it is given the variables.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from agent_magics.tools.secret_forms import written_forms
from agent_magics.tools.secret_keys import Span
from agent_magics.tools.secret_tokens import MARKS, token_spans

MIN_LENGTH = 8
"""Shorter values occur in ordinary text, and hiding them would spoil it."""
SPLIT_LENGTH = 12
"""From this length on a value is also found with line ends and blanks inside."""
MIN_CUT = 8
"""Characters of a value that are hidden where a tool cut a text in the midst of it."""

_SECRET_NAME = re.compile(
    r"SECRET|PASSWO?R?D|PASSPHRASE|CREDENTIAL|(TOKEN|KEY)S?(?=[_\d]|$)|(^|_)(PAT|PASS)(?=_|$)|_PWD$"
    r"|(^|_)(JWT|BEARER|COOKIE|DSN)(?=_|$)|CONN(ECTION)?_?STR(ING)?(?=_|$)|(^|_)AUTH$|WEBHOOK",
    re.IGNORECASE,
)
_COMMON = frozenset(
    (
        *("password", "changeme", "localhost", "postgres", "postgresql", "production", "username"),
        *("development", "disabled", "required", "optional", "undefined", "anonymous", "keychain"),
        *("not-needed", "no-key-required", "sk-no-key-required", "lm-studio", "xxxxxxxx"),
        *("00000000", "11111111", "12345678", "123456789", "1234567890"),
        *(
            "test-key",
            "testing",
            "dummy-key",
            "fake-key",
            "local-key",
            "your-api-key",
            "no-api-key",
        ),
        *(
            "placeholder",
            "notneeded",
            "not-required",
            "not_needed",
            "default",
            "standard",
            "keyring",
        ),
        *("container", "filesystem", "interactive", "administrator", "passw0rd", "password1"),
    )
)
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:|/(?:home|Users|root|run|etc|var|opt|mnt|tmp|srv|usr|workspace|app))"
    r"(?:[/\\][\w .@~+-]+)+[/\\]?"
)
_ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[\w.-]{0,20})*")
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^\s/:@]{0,200}:([^\s/@]{1,500})@", re.IGNORECASE)
# Colours, invisible characters and line numbers of `read`, which can stand inside a value.
_UNSEEN = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|[\u200b-\u200f\u2060\ufeff\xad]")
_BLANKS = re.compile(r"\s+")
_GAPS = re.compile(r"\s+(?:\d{1,7}\|)?")
_NUMBERED = re.compile(r"\n[ ]*\d{1,7}\|")


def says_secret(name: str) -> bool:
    """Whether a variable's name says that its value must not be passed on."""
    return _SECRET_NAME.search(name) is not None


def secret_pairs(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets of an environment, each as `NAME=value`.

    These are the variables whose names say so, those whose values have the form of a token, and
    the passwords in values that are URLs.
    """
    pairs: list[str] = []
    for name, value in environment.items():
        if says_secret(name) or (len(value) > SPLIT_LENGTH and _is_token(value)):
            pairs.append(f"{name}={value}")
        pairs += (f"{name}={password}" for password in _USERINFO.findall(value))
    return tuple(pairs)


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret exchanged for `[redacted NAME]`; see `Redactor`.

    Args:
        text: Anything on its way to a model, a screen or a log.
        secrets: Each `NAME=value`, or a bare value. Short and common values are left alone.
    """
    return Redactor.of(secrets)(text)


def marks(secrets: Iterable[str]) -> dict[str, str]:
    """Each value to look for, and what stands in its place.

    Args:
        secrets: As for `redacted`.
    """
    found: dict[str, str] = {}
    for secret in secrets:
        pair = _PAIR.fullmatch(secret)
        name, value = (pair[1], pair[2]) if pair and _telling(pair[2]) else ("", secret)
        mark = f"[redacted {name}]" if name else "[redacted]"
        # A key of several lines must not pass one line at a time.
        for line in (value.strip(), *value.splitlines()):
            if _telling(line.strip()):
                found.setdefault(line.strip(), mark)
    return found


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes known values, in every written form, and tokens of known forms out of texts.

    Args:
        values: Each value and its mark.
        exact: Short written forms and their marks, looked for as they are.
        split: Long ones without blanks, looked for whatever blanks are inside.
    """

    values: tuple[tuple[str, str], ...] = ()
    exact: tuple[tuple[str, str], ...] = ()
    split: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Redactor:
        """The redactor of these secrets, each `NAME=value` or a bare value."""
        values = marks(secrets)
        exact: dict[str, str] = {}
        split: dict[str, str] = {}
        for value, mark in values.items():
            for form in written_forms(value):
                whole = "".join(form.split())
                if len(whole) >= SPLIT_LENGTH:
                    split.setdefault(whole, mark)
                else:
                    exact.setdefault(form, mark)
        return cls(tuple(values.items()), tuple(exact.items()), tuple(split.items()))

    def __repr__(self) -> str:
        return f"Redactor(of {len(self.values)} values)"

    def __call__(self, text: str) -> str:
        """The text with a mark in the place of each secret.

        Takes about 0.1 s for 1 MB, measured on a slow machine with three secrets in the
        environment; the time grows with the text and the number of secrets, whatever they hold.
        """
        if len(text) < MIN_LENGTH:
            return text
        spans = sorted(self._spans(text), key=lambda span: (span[0], -span[1]))
        if not spans:
            return text
        pieces: list[str] = []
        done = 0
        for start, end, mark in spans:
            if start >= done:
                pieces += (text[done:start], mark)
            done = max(done, end)
        return "".join((*pieces, text[done:]))

    @property
    def marks(self) -> frozenset[str]:
        """All that can stand in the place of secrets."""
        return MARKS | {mark for _, mark in self.values}

    def _spans(self, text: str) -> Iterator[Span]:
        odd = ("\x1b" in text or not text.isascii()) and _UNSEEN.search(text) is not None
        view = _View(text, _UNSEEN) if odd else None
        seen = text if view is None else view.text
        for start, end, mark in (*token_spans(seen), *self._values(seen)):
            yield (start, end, mark) if view is None else (*view.back(start, end), mark)

    def _values(self, text: str) -> Iterator[Span]:
        for form, mark in self.exact:
            yield from _occurrences(text, form, mark)
        if not self.split:
            return
        yield from self._split(text)
        if "…" in text:
            yield from self._cut(text)

    def _split(self, text: str) -> Iterator[Span]:
        """Long forms, whatever line ends, blanks and line numbers are inside."""
        whole = "".join(text.split())
        found = [pair for pair in self.split if pair[0] in whole]
        if found:
            yield from _in_view(_View(text, _BLANKS), found)
        if _NUMBERED.search(text):
            yield from _in_view(_View(text, _GAPS), self.split)

    def _cut(self, text: str) -> Iterator[Span]:
        """Beginnings and ends of values where a tool cut a text."""
        longest = max((len(value) for value, _ in self.values), default=0)
        for at, after, _ in _occurrences(text, "…", ""):
            before = text[max(0, at - longest - 2) : at].rstrip(" [")
            start = text[after : after + longest + 2].lstrip(" ]")
            stop = max(0, at - longest - 2) + len(before)
            begin = after + len(text[after : after + longest + 2]) - len(start)
            for value, mark in self.values:
                if count := _overlap(before, value):
                    yield stop - count, stop, mark
                if count := _overlap(value, start):
                    yield begin, begin + count, mark


class _View:
    """A text without some of its parts, and the way back."""

    def __init__(self, text: str, left_out: re.Pattern[str]) -> None:
        gaps = [match.span() for match in left_out.finditer(text)]
        starts = [0, *(end for _, end in gaps)]
        ends = [*(start for start, _ in gaps), len(text)]
        pieces = [text[start:end] for start, end in zip(starts, ends, strict=True)]
        self.text = "".join(pieces)
        self._starts = starts
        self._offsets = [0, *accumulate(map(len, pieces))][:-1]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the view lies in the text."""
        return self._at(start), self._at(end - 1) + 1

    def _at(self, position: int) -> int:
        piece = bisect_right(self._offsets, position) - 1
        return self._starts[piece] + position - self._offsets[piece]


def _occurrences(text: str, form: str, mark: str) -> Iterator[Span]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form), mark
        at = text.find(form, at + len(form))


def _in_view(view: _View, pairs: Iterable[tuple[str, str]]) -> Iterator[Span]:
    for form, mark in pairs:
        for start, end, _ in _occurrences(view.text, form, mark):
            yield *view.back(start, end), mark


def _overlap(first: str, second: str) -> int:
    """How many characters at the end of one text begin the other; 0 for a few."""
    most = min(len(first), len(second))
    if second[:MIN_CUT] not in first:
        return 0
    return next((n for n in range(most, MIN_CUT - 1, -1) if first.endswith(second[:n])), 0)


def _is_token(value: str) -> bool:
    return any(end - start > len(value) // 2 for start, end, _ in token_spans(value))


def _telling(value: str) -> bool:
    """Whether a value is long and odd enough to be looked for in any text."""
    return (
        len(value) >= MIN_LENGTH
        and len(set(value)) > 2
        and value.casefold() not in _COMMON
        and _PATH.fullmatch(value) is None
        and _ADDRESS.fullmatch(value) is None
    )
