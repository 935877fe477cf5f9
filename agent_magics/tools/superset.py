"""A Python regular expression as one of ripgrep's that matches wherever Python's does. Pure.

ripgrep looks for bytes in linear time; Python for characters, with look-around and references to
groups. Owns the translation between the two: what Rust's expressions cannot say is left out or
widened, so that no line is missed and a few too many are found. Whoever uses it looks again.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_magics.messages import JSON

ANY = r"[^\n]"
WIDE = r"[\x80-\xff]{1,4}"
"""A character that is not ASCII, in UTF-8 or in an encoding of one byte for each."""
MOST_REPEATS = 100
"""Larger counts make automata that are too large; a smaller lower bound only finds more."""
MOST_DEPTH = 50

Node: TypeAlias = tuple[Any, JSON]
"""What Python's parser makes: an operation and what it is about."""

# Characters that are not ASCII and count as a letter that is, where case does not.
_FOLDED = {"k": r"\xe2\x84\xaa", "i": r"\xc4[\xb0\xb1]", "s": r"\xc5\xbf"}
_BLANKS = frozenset("\t\n\v\f\r \x1c\x1d\x1e\x1f")
_ASCII = tuple(map(chr, range(128)))


class _CannotSayError(Exception):
    """This expression is none that could be widened."""


def superset(pattern: str, *, ignore_case: bool) -> str:
    """An expression that matches in every line, of any encoding, in which the pattern does.

    Args:
        pattern: An expression of Python.
        ignore_case: Whether upper and lower case are the same.

    Returns:
        For Rust's `regex`, about bytes; empty where there is no (useful) one.
    """
    tree = _tree(pattern, ignore_case=ignore_case)
    if tree is None:
        return ""
    try:
        return f"(?-u){_sequence(tree, bool(tree.state.flags & re.IGNORECASE), 0)}"
    except (_CannotSayError, AttributeError, TypeError, ValueError):
        # Python's parser is no public module: where its tree looks different, ripgrep is not used.
        return ""


def harmless(pattern: str) -> bool:
    """Whether an expression surely takes no longer than its length times that of the text.

    True for texts, sets and alternatives; not where something is repeated any number of times, or
    where several choices could multiply.
    """
    endless = re.search(r"[*+{]|\\\d|\(\?[^:]", pattern)
    return not endless and pattern.count("(") <= 1 and pattern.count("?") <= 2


def needed(pattern: str, *, ignore_case: bool) -> str:
    """A text of ASCII letters that stands in every line in which the pattern matches.

    Args:
        pattern: An expression of Python.
        ignore_case: Whether upper and lower case are the same; then the text is in lower case.

    Returns:
        The longest such text that is seen without thinking; empty where none is.
    """
    tree = _tree(pattern, ignore_case=ignore_case)
    if tree is None:
        return ""
    fold = bool(tree.state.flags & re.IGNORECASE)
    if fold and not ignore_case:
        # The pattern itself says so; whoever looks for the text does not know.
        return ""
    pieces = [""]
    for op, about in tree:
        if op.name == "LITERAL" and about < 128:
            pieces[-1] += chr(about).lower() if fold else chr(about)
        elif op.name != "AT":
            pieces.append("")
    if fold:
        # Letters that count as one of ASCII's and are none.
        pieces = [part for piece in pieces for part in re.split("[iks]", piece)]
    return max(pieces, key=len)


def _tree(pattern: str, *, ignore_case: bool) -> Any:
    """The expression as Python parses it, or None where that is not possible."""
    try:
        with warnings.catch_warnings():
            # About sets that may mean something else one day; nobody can do anything about it.
            warnings.simplefilter("ignore")
            parser = importlib.import_module("re._parser")
            return parser.parse(pattern, re.IGNORECASE if ignore_case else 0)
    except (ImportError, AttributeError, re.error, RecursionError, OverflowError):
        # The search itself says what is wrong with an expression.
        return None


@dataclass(frozen=True, slots=True)
class _One:
    """What matches one character: which of ASCII, and whether any of the others."""

    ascii: frozenset[str]
    wide: bool

    def __str__(self) -> str:
        kept = _set(self.ascii)
        if not self.wide:
            return kept or _nothing()
        return f"(?:{kept}|{WIDE})" if kept else WIDE

    def repeated(self, low: int, high: int | None) -> str:
        """Several of them; one character that is not ASCII is up to four bytes."""
        bytes_of = _set(self.ascii, r"\x80-\xff") if self.wide else _set(self.ascii)
        most = None if high is None else high * 4 if self.wide else high
        return (bytes_of or _nothing()) + _count(low, most)


def _nothing() -> str:
    raise _CannotSayError


def _sequence(nodes: Sequence[Node], fold: bool, depth: int) -> str:
    if depth > MOST_DEPTH:
        raise _CannotSayError
    listed = list(nodes)
    return "".join(
        _boundary(listed, place, fold)
        if op.name == "AT" and about.name == "AT_BOUNDARY"
        else _node(op.name, about, fold, depth)
        for place, (op, about) in enumerate(listed)
    )


def _node(name: str, about: JSON, fold: bool, depth: int) -> str:
    match name:
        case "LITERAL":
            return _literal(chr(about), fold)
        case "ANY" | "IN" | "NOT_LITERAL":
            return str(_one(name, about, fold))
        case "AT":
            return _anchor(about.name)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = about
            return _repeat(low, high, inner, fold, depth)
        case "BRANCH":
            choices = (_sequence(choice, fold, depth + 1) for choice in about[1])
            return f"(?:{'|'.join(choices)})"
        case "SUBPATTERN":
            _, added, removed, inner = about
            inside = (fold or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            return f"(?:{_sequence(inner, inside, depth + 1)})"
        case "ATOMIC_GROUP":
            return f"(?:{_sequence(about, fold, depth + 1)})"
        case "GROUPREF":
            return f"{ANY}*"
        case "GROUPREF_EXISTS":
            _, yes, no = about
            choices = (_sequence(part, fold, depth + 1) if part else "" for part in (yes, no))
            return f"(?:{'|'.join(choices)})"
        case "ASSERT" | "ASSERT_NOT":
            return ""
        case _:
            raise _CannotSayError


def _literal(character: str, fold: bool) -> str:
    if character == "\n":
        # No line holds its own end.
        raise _CannotSayError
    if character.isascii():
        if not fold or not character.isalpha():
            return _set(frozenset(character))
        both = _set(frozenset((character.lower(), character.upper())))
        other = _FOLDED.get(character.lower())
        return f"(?:{both}|{other})" if other else both
    if fold or character == "\ufffd" or "\ud800" <= character <= "\udfff":
        # The replacement character stands for any byte that cannot be read.
        return f"(?:{WIDE}|[iksIKS])" if fold else WIDE
    spelt = [_bytes(character.encode())]
    for encoding in ("cp1252", "latin-1"):
        with suppress(UnicodeEncodeError):
            spelt.append(_bytes(character.encode(encoding)))
    return f"(?:{'|'.join(dict.fromkeys(spelt))})"


def _bytes(data: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in data)


def _one(name: str, about: JSON, fold: bool) -> _One:
    """The characters that a node for one character matches, or a few more."""
    match name:
        case "ANY":
            return _One(frozenset(_ASCII) - {"\n"}, wide=True)
        case "NOT_LITERAL":
            return _One(frozenset(_ASCII) - {"\n", chr(about)}, wide=True)
        case _:
            return _members(about, fold)


def _members(items: Sequence[Node], fold: bool) -> _One:
    negated = items[0][0].name == "NEGATE"
    found: set[str] = set()
    wide = negated
    for op, about in items[1:] if negated else items:
        members, beyond = _item(op.name, about)
        found |= members
        wide = wide or beyond
    if negated:
        return _One(frozenset(_ASCII) - found - {"\n"}, wide=True)
    if fold:
        wide = wide or not found.isdisjoint("iksIKS")
        if wide:
            # Some of the others count as these.
            found |= set("iksIKS")
        found |= {other for c in found for other in (c.lower(), c.upper())}
    return _One(frozenset(found) - {"\n"}, wide)


def _item(name: str, about: JSON) -> tuple[set[str], bool]:
    """The ASCII characters of one part of a set, and whether there are others in it."""
    match name:
        case "LITERAL":
            return {chr(about)} & set(_ASCII), about > 127
        case "RANGE":
            low, high = about
            return {c for c in _ASCII if low <= ord(c) <= high}, high > 127
        case "CATEGORY":
            return _category(about.name), True
        case _:
            raise _CannotSayError


def _category(name: str) -> set[str]:
    kind = name.removeprefix("CATEGORY_")
    match kind.removeprefix("NOT_"):
        case "DIGIT":
            members = {c for c in _ASCII if c.isdigit()}
        case "SPACE":
            members = set(_BLANKS)
        case "WORD":
            members = {c for c in _ASCII if c.isalnum() or c == "_"}
        case _:
            raise _CannotSayError
    return set(_ASCII) - members if kind.startswith("NOT_") else members


def _set(characters: frozenset[str], more: str = "") -> str:
    """A set of ASCII characters, as short as it goes; empty for none."""
    if len(characters) == 1 and not more:
        (only,) = characters
        return only if only.isalnum() or only == "_" else f"\\x{ord(only):02x}"
    inside = "".join(_ranges(sorted(map(ord, characters)))) + more
    return f"[{inside}]" if inside else ""


def _ranges(codes: Sequence[int]) -> Iterator[str]:
    first = 0
    for place, code in enumerate(codes):
        if place + 1 == len(codes) or codes[place + 1] != code + 1:
            start = codes[first]
            yield f"\\x{start:02x}" if start == code else f"\\x{start:02x}-\\x{code:02x}"
            first = place + 1


def _anchor(name: str) -> str:
    match name:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return r"^(?:\xef\xbb\xbf)?"
        case "AT_END" | "AT_END_STRING":
            return r"\r?$"
        case _:
            return ""


def _boundary(nodes: Sequence[Node], place: int, fold: bool) -> str:
    r"""`\b`, where ripgrep cannot miss one: beside a character that is one of ASCII's words."""
    for beside in (place - 1, place + 1):
        if 0 <= beside < len(nodes):
            op, about = nodes[beside]
            if op.name == "LITERAL" and about < 128:
                character = chr(about)
                folded = fold and character.lower() in _FOLDED
                if (character.isalnum() or character == "_") and not folded:
                    return r"\b"
    return ""


def _repeat(low: JSON, high: JSON, inner: Sequence[Node], fold: bool, depth: int) -> str:
    least, most = int(low), int(high)
    # The parser's word for "any number" is its largest one.
    endless = str(high) == "MAXREPEAT"
    nodes = list(inner)
    if len(nodes) == 1 and nodes[0][0].name in ("ANY", "IN", "NOT_LITERAL"):
        one = _one(nodes[0][0].name, nodes[0][1], fold)
        return one.repeated(least, None if endless else most)
    return f"(?:{_sequence(nodes, fold, depth + 1)})" + _count(least, None if endless else most)


def _count(low: int, high: int | None) -> str:
    least = min(low, MOST_REPEATS)
    if high is None or high > MOST_REPEATS:
        return "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"
    return f"{{{least},{high}}}"
