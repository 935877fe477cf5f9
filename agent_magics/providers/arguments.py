"""The arguments of a call: from whatever a model wrote to the text of one JSON object.

Owns the ladder of readings (strict JSON, JSON with raw control characters, a few repairs that
cannot change the meaning) and the line where it stops: text that was cut is never completed, and
calls that can change something get no repair at all. Knows no provider and runs no tool;
checking against the schema is the loop's work. `coerced` is here for whoever needs both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from agent_magics.coercion import coerced
from agent_magics.messages import JSON

__all__ = ["NotAnObject", "coerced", "is_object", "parsed", "read_arguments", "without_surrogates"]

_DEEPEST = 100
"""Levels of nesting that are still taken; no tool's schema comes near it."""

_FENCE = re.compile(r"\A```[\w-]*\s*\n?(.*?)\n?\s*```\Z", re.DOTALL)
_TRAILING_TAGS = re.compile(r"(?:\s*(?:</?[\w|:=-]+>|<\|\w+\|>|```))+\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(
    r"""\s+
    | "(?:[^"\\]|\\.)*"
    | '(?:[^'\\]|\\.)*'
    | -?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])
    | (?:true|false|null|True|False|None)(?!\w)
    | [{}\[\]:,]
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


class NotAnObject(ValueError):
    """The text is no JSON object; the message is for the model."""


def read_arguments(written: JSON, *, careful: bool) -> str:
    """The text of the JSON object that a model wrote as the arguments of a call.

    A text that is a JSON object comes back unchanged, byte for byte, so that the next request
    repeats it exactly; only what had to be repaired is written anew.

    Args:
        written: Text, or an object where the server had parsed it already. Nothing counts as
            an object without keys.
        careful: For calls that write or run something: no repair beyond raw control characters
            in strings (a repaired text looks whole and can be half of what was meant).

    Raises:
        NotAnObject: It is something else, or cut.
    """
    if written is None:
        return "{}"
    if not isinstance(written, str):
        return _object_text(written)
    text = without_surrogates(written).strip("\ufeff \t\r\n")
    if text in ("", "null", "None"):
        return "{}"
    try:
        return _strict(text)
    except ValueError as problem:
        if isinstance(problem, NotAnObject):
            raise
        strict_problem = problem
    try:
        return _object_text(parsed(text))
    except NotAnObject:
        raise
    except ValueError:
        if not careful and (repaired := _repaired(text)) is not None:
            return _object_text(repaired)
    raise NotAnObject(_complaint(text, strict_problem))


def parsed(text: str) -> JSON:
    """The JSON value of a text; raw control characters in strings are taken, NaN is not.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    return _loaded(text, strict=False)


def is_object(text: str) -> bool:
    """Whether a text is one whole JSON object already."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(parsed(text), dict)
    except ValueError:
        return False


def without_surrogates(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced.

    JSON can carry half a pair; no encoding for files or requests can.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _loaded(text: str, *, strict: bool) -> JSON:
    try:
        return json.loads(text, strict=strict, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _strict(text: str) -> str:
    """The text itself if it is a JSON object for the strictest reader."""
    value = _loaded(text, strict=True)
    if isinstance(value, str):  # an object that was encoded twice
        try:
            value = parsed(value)
        except ValueError:
            value = ""
        return _object_text(value)
    anew = _object_text(value)
    return anew if _SURROGATE_ESCAPE.search(text) else text


def _object_text(value: JSON) -> str:
    if not isinstance(value, Mapping):
        raise NotAnObject(
            f"The arguments are {_kind(value)}, not a JSON object with named arguments; "
            "nothing was executed."
        )
    if _depth(value) > _DEEPEST:
        raise NotAnObject(f"The arguments are nested deeper than {_DEEPEST} levels.")
    try:
        return without_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError):
        raise NotAnObject("The arguments hold a value that JSON has no form for.") from None


def _kind(value: JSON) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case _:
            return "null"


def _depth(value: JSON) -> int:
    """Levels of nesting, without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting and deepest <= _DEEPEST:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(part, Mapping):
            waiting += [(inner, level + 1) for inner in part.values()]
        elif isinstance(part, list | tuple):
            waiting += [(inner, level + 1) for inner in part]
    return deepest


def _complaint(text: str, problem: ValueError) -> str:
    if text.startswith("{") and not _begins_whole(text):
        return (
            "The arguments end or break in the middle of the JSON object, so nothing was "
            f"executed ({problem}). Send the whole call again; if it is long, in smaller parts."
        )
    return f"The arguments are not one JSON object ({problem}); nothing was executed."


def _begins_whole(text: str) -> bool:
    try:
        json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _repaired(text: str) -> JSON | None:
    """The value of a text with harmless slips: fences, single quotes, trailing commas, True."""
    fenced = _FENCE.match(text)
    body = fenced.group(1) if fenced else text
    body = _TRAILING_TAGS.sub("", body.strip())
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        return parsed("".join(_json_tokens(body)))
    except ValueError:
        return None


def _json_tokens(text: str) -> Iterator[str]:
    """The tokens of a JSON-like text as JSON; raises ValueError where it is not even like it."""
    position, comma = 0, False
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(f"unexpected character at {position}")
        piece, position = found.group(), found.end()
        if piece.isspace():
            continue
        if comma and piece not in ("]", "}"):
            yield ","
        comma = piece == ","
        if not comma:
            yield _as_json(piece)


def _as_json(piece: str) -> str:
    if piece[0] != "'":
        return _PYTHON_WORDS.get(piece, piece)
    inner = re.sub(r'\\.|"', _escape_for_json, piece[1:-1], flags=re.DOTALL)
    return f'"{inner}"'


def _escape_for_json(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found.group(), found.group())
