"""What a server says when it refuses, read into one value. Pure.

Owns the many shapes of error bodies and the recognition of the two refusals that need their own
answer: a request larger than the model's context, and a quota that is used up. Deliberately does
not decide what is done about them (`retrying`) nor what the person reads (`advice`).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_magics.messages import JSON

_LONGEST = 400
"""Characters of a server's message that are shown."""

_OVERFLOW = re.compile(
    r"""context_length_exceeded | context_window_exceeded | exceed_context_size
    | maximum\ context\ length | exceeds?\ the\ (available\ )?context | context\ overflow
    | context\ (window|length)\ (exceed|limit|is\ too\ small)
    | (exceed\w*|larger\ than|greater\ than|over)\ (the\ )?(model'?s?\ )?(context|maximum\ context)
    | (prompt|input|request|message|conversation)s?\ (is|are)\ too\ (long|large)
    | (prompt|input)\ exceeds\ max
    | exceeds\ the\ max(imum)?\ (number\ of\ )?(input\ )?(tokens|length)
    | input\ token\ count\b.*\bexceeds | maximum\ prompt\ length
    | token\b.*\bexceeds?\ the\ (prompt\ )?limit\ of | exceed\w*\ (the\ )?(model\ )?token\ limit
    | reduce\ the\ length\ of\ (the\ |your\ )?(messages|prompt|input)
    | too\ many\ tokens | too\ large\ for\ model\b.*\bcontext
    | tokens\ to\ keep\ from\ the\ initial\ prompt
    | inputs?\b.*max_(new_)?tokens\b.*(must\ be|exceed)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""The overflow texts of OpenAI, Azure, Anthropic, Gemini, Bedrock, xAI, Groq, OpenRouter, Mistral,
Cohere, Kimi, z.ai, MiniMax, Copilot, llama.cpp, vLLM, LM Studio, Ollama and TGI."""

_QUOTA = re.compile(
    r"insufficient[_ ](user[_ ])?(quota|balance|credits?|funds) | billing_(hard_limit|not_active)"
    r" | credit\ balance\ is\ too\ low | out\ of\ credits | quota_exceeded | arrearage",
    re.VERBOSE | re.IGNORECASE,
)
_RESETS_SOON = re.compile(r"retry(ing)? (in|after) \d|try again in \d|retryDelay", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A server's refusal.

    Args:
        message: One line, cut at 400 characters; not yet free of keys.
        status: The HTTP status, or the number inside an error object of a running stream.
        code: The server's word for it (`context_length_exceeded`), if any.
        kind: The server's `type`, if any.
        param: The field of the request that it names, if any.
        page: Whether a web page came in place of JSON.
    """

    message: str = ""
    status: int | None = None
    code: str = ""
    kind: str = ""
    param: str = ""
    page: bool = False

    @property
    def words(self) -> str:
        """All that was said, for recognition; lower case."""
        return f"{self.message} {self.code} {self.kind} {self.param}".lower()

    @property
    def overflows(self) -> bool:
        """Whether the request is larger than the model's context."""
        if self.status == 413:
            return True
        if self.status == 429:  # "tokens per minute" is a rate, except for one request above it
            return "request too large" in self.words and "token" in self.words
        return self.status not in (401, 403, 404) and bool(_OVERFLOW.search(self.words))

    @property
    def exhausted(self) -> bool:
        """Whether the account has nothing left, so that asking again cannot help."""
        if self.status == 402 or _QUOTA.search(self.words):
            return True
        return "exceeded your current quota" in self.words and not _RESETS_SOON.search(self.words)


def read_complaint(body: JSON | bytes, status: int | None = None) -> Complaint:
    """The refusal that an error body holds, whatever its shape.

    Args:
        body: The raw body, or the JSON value of it.
        status: The HTTP status, if there was one.
    """
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        text = body.strip()
        if text[:1] in ("{", "["):
            try:
                body = json.loads(text, strict=False)
            except (ValueError, RecursionError):
                return Complaint(_line(text), status)
        elif text.startswith("<"):
            return Complaint(_page_title(text), status, page=True)
        else:
            return Complaint(_line(text), status)
    return _from_json(body, status)


def is_error(value: Mapping[str, JSON]) -> bool:
    """Whether a JSON object in place of an answer, or inside a stream, is an error."""
    if value.get("error"):
        return True
    if value.get("choices"):
        return False
    return bool(
        value.get("object") == "error"
        or value.get("type") == "error"
        or value.get("detail")
        or value.get("errors")
        or ("choices" not in value and "message" in value and ("code" in value or "type" in value))
    )


def _from_json(body: JSON, status: int | None) -> Complaint:
    outer = body
    if isinstance(outer, Sequence) and not isinstance(outer, str) and outer:
        outer = outer[0]
    if not isinstance(outer, Mapping):
        return Complaint(_line(_text(outer)), status)
    inner = outer.get("error") or outer.get("errors") or outer.get("detail") or outer
    if isinstance(inner, list) and inner:
        places = [_text(p.get("loc")) for p in inner if isinstance(p, Mapping) and p.get("loc")]
        first = inner[0]
        inner = {**first, "param": ", ".join(places)} if isinstance(first, Mapping) else first
    if not isinstance(inner, Mapping):
        kind = outer.get("type") if inner is not outer else ""
        return Complaint(_line(_text(inner)), status, kind=_word(kind))
    code = inner.get("code") or outer.get("code")
    message = (
        inner.get("message") or inner.get("msg") or inner.get("detail") or inner.get("description")
    )
    raw = inner.get("metadata")
    if isinstance(raw, Mapping) and isinstance(raw.get("raw"), str):  # a router's upstream
        message = f"{_text(message)}: {raw['raw']}"
    if message is None and not code:
        message = json.dumps(inner, ensure_ascii=False, default=str)
    return Complaint(
        _line(_text(message)),
        _status(code, inner.get("status"), status),
        _word(code),
        _word(inner.get("type") or inner.get("status")),
        _word(inner.get("param")),
    )


def _status(code: JSON, named: JSON, status: int | None) -> int | None:
    """The HTTP status; inside a 200 the number that the error object names."""
    if status is not None and status >= 400:
        return status
    for value in (code, named):
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
        if re.fullmatch(r"[45]\d\d", text):
            return int(text)
    return None


def _word(value: JSON) -> str:
    text = _text(value)
    return text[:200]


def _text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _line(text: str) -> str:
    """One printable line of bounded length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST]).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _page_title(text: str) -> str:
    """What a web page says first: its title or heading."""
    found = re.search(r"<(title|h1)[^>]*>([^<]{1,300})<", text[:20_000], re.IGNORECASE)
    return _line(html.unescape(found.group(2))) if found else ""
