"""Fields of an answer that servers fill in different ways: content, usage, what to echo. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.messages import JSON, Usage

_NOT_ECHOED = frozenset(("annotations", "audio", "logprobs", "name", "id", "type", "tool_call_id"))
"""Fields of an answer that a request has no place for, or that say nothing."""


class Extras:
    """Unknown fields of a message, put together from deltas, to be sent back as they came.

    Gemini's `extra_content`, OpenRouter's `reasoning_details` and the like: signatures without
    which the next request is refused.
    """

    __slots__ = ("_fields",)

    def __init__(self) -> None:
        self._fields: dict[str, JSON] = {}

    def take(self, name: str, value: JSON) -> None:
        """Add what one delta says."""
        if name not in _NOT_ECHOED and value not in (None, "", [], {}):
            self._fields[name] = _merged(self._fields.get(name), value)

    def fields(self) -> Mapping[str, JSON]:
        """All of them, in the order in which they came first."""
        return dict(self._fields)


def _merged(old: JSON, new: JSON) -> JSON:
    match old, new:
        case str(), str():
            return old + new
        case list(), list():
            return _merged_list(old, new)
        case dict(), dict():
            return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
        case _:
            return new


def _merged_list(old: list[JSON], new: list[JSON]) -> list[JSON]:
    """The list with new items; pieces of the same block of text become one item."""
    result = list(old)
    for item in new:
        last = result[-1] if result else None
        if isinstance(item, dict) and isinstance(last, dict) and _same_block(last, item):
            joined = {k: last[k] + item[k] for k in ("text", "summary") if k in last and k in item}
            known = {key: value for key, value in item.items() if value is not None}
            result[-1] = {**last, **known, **joined}
        else:
            result.append(item)
    return result


def _same_block(last: Mapping[str, JSON], item: Mapping[str, JSON]) -> bool:
    same = all(last.get(key) == item.get(key) for key in ("type", "index"))
    texts = [isinstance(part.get("text", part.get("summary")), str) for part in (last, item)]
    return same and "index" in item and all(texts)


def content_text(content: JSON) -> tuple[str, str]:
    """The text and the reasoning of a `content` field: a text, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return "", ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
            thought = part.get("thinking")
            if thought:
                inner, _ = content_text(thought)
                thoughts.append(inner)
    return "".join(texts), "".join(thoughts)


def read_usage(usage: Mapping[str, JSON]) -> Usage:
    """The tokens of one request, by whichever names the server uses."""
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    spent = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    return Usage(
        input=_count(usage, "prompt_tokens", "input_tokens"),
        output=_count(usage, "completion_tokens", "output_tokens"),
        cached=_count(details, "cached_tokens")
        or _count(usage, "cached_tokens", "prompt_cache_hit_tokens"),
        reasoning=_count(spent, "reasoning_tokens"),
        requests=1,
    )


def _count(fields: JSON, *names: str) -> int:
    if not isinstance(fields, dict):
        return 0
    for name in names:
        value = fields.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12:
            return int(value)
    return 0
