"""What a refused request teaches about an endpoint. Pure.

Each lesson recognises one kind of refusal and names the one change that lets the same request
pass. A lesson that would change nothing is none, so that asking again always ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent_magics.providers.complaints import Complaint
from agent_magics.providers.profiles import MaxTokens, Profile

_REFUSES = re.compile(
    r"unsupported|not (currently )?support|does(n't| not) (support|allow|accept)|unknown"
    r"|unrecogni[sz]ed|unexpected|extra (inputs|fields?)|extra_forbidden"
    r"|not (permitted|allowed|accepted|valid)|invalid|cannot find field|no such"
    r"|additional properties|only supports?|must be|should be"
    r"|not implemented|unable to|deprecated|cannot be|can't|no endpoints found"
    r"|not one of"
)
_SCHEMA_WORDS = (
    "$schema", "additionalproperties", "exclusiveminimum", "exclusivemaximum", "default", "pattern",
    "format", "const", "title", "examples", "anyof", "oneof", "allof", "minlength", "maxlength",
    "minitems", "maxitems", "uniqueitems", "$ref", "$defs",
)  # fmt: skip
_NEVER_DROPPED = frozenset((
    "model", "messages", "role", "content", "tools", "tool_calls", "tool_call_id", "id", "type",
    "function", "name", "arguments", "text", "stream",
))  # fmt: skip


_ABOUT_SOMETHING_ELSE = (401, 402, 403, 408, 409, 425, 429)

_OTHER_NAME: dict[MaxTokens, MaxTokens] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing learnt.

    Args:
        profile: What the endpoint takes, as far as is known now.
        notice: What the person loses by it, in one sentence; empty if nothing.
    """

    profile: Profile
    notice: str = ""


@dataclass(frozen=True, slots=True)
class _Refused:
    """A refusal beside the request that was refused."""

    message: str
    words: str
    param: str
    profile: Profile
    sent: Collection[str]
    refuses: bool

    def names(self, *fields: str) -> bool:
        """Whether the refusal names one of these fields."""
        return any(
            self.param == name or re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", self.words)
            for name in fields
        )

    def points_at(self, field: str) -> bool:
        """Whether it names a field of a message by its place: `messages[1].reasoning_content`."""
        return bool(re.search(rf"messages\W{{1,3}}\d+\S*\W{re.escape(field)}(?!\w)", self.words))


_Rule: TypeAlias = Callable[[_Refused], Lesson | None]


def learnt(profile: Profile, complaint: Complaint, sent: Collection[str]) -> Lesson | None:
    """What a refusal teaches; None if nothing.

    Args:
        profile: What was believed of the endpoint.
        complaint: The refusal.
        sent: Names of the fields that the request had, at its top level, in its messages
            (`image_url`, `reasoning_content`) and in its schemas.
    """
    words = complaint.words
    missing = complaint.status == 404 and "no endpoints found" not in words  # OpenRouter's way
    if complaint.status in _ABOUT_SOMETHING_ELSE or complaint.page or missing:
        return None
    refused = _Refused(
        complaint.message,
        words,
        complaint.param.lower(),
        profile,
        sent,
        bool(_REFUSES.search(words)),
    )
    for rule in _RULES:
        lesson = rule(refused)
        if lesson is not None and lesson.profile != profile:
            return lesson
    return None


def _max_tokens(r: _Refused) -> Lesson | None:
    if not r.names("max_tokens", "max_completion_tokens") or not r.refuses:
        return None
    if r.profile.max_tokens not in r.sent:
        return None
    without = r.profile.without | {r.profile.max_tokens}
    other = _OTHER_NAME[r.profile.max_tokens]
    if other not in without:
        return Lesson(replace(r.profile, max_tokens=other, without=without))
    return Lesson(
        replace(r.profile, without=without),
        "The server takes no limit on the length of an answer; it is sent without one.",
    )


def _stream(r: _Refused) -> Lesson | None:
    if "stream_options" in r.sent and r.names("stream_options", "include_usage"):
        return Lesson(replace(r.profile, stream_options=False))
    streaming = r.param == "stream" or re.search(
        r"(verified|unable|not support\w*|cannot|not allowed)[^.]* stream|stream(ing)? (is|are) not"
        r"|does not support stream",
        r.words,
    )
    if "stream" in r.sent and streaming:
        return Lesson(replace(r.profile, stream=False))
    return None


def _system_role(r: _Refused) -> Lesson | None:
    role = r.profile.system_role
    if not r.refuses or role == "user":
        return None
    named = re.search(
        rf"(?<!\w){role}['\"]?\)? (role|message|prompt)|role\W+(\w+\W+){{0,4}}{role}"
        rf"|does not support ['\"]?{role}|{role}['\"]? is not one of",
        r.words,
    )
    if not named:
        return None
    return Lesson(replace(r.profile, system_role="system" if role == "developer" else "user"))


def _tool_choice(r: _Refused) -> Lesson | None:
    if "tool_choice" in r.sent and r.names("tool_choice"):
        return Lesson(replace(r.profile, tool_choice_none=False))
    return None


def _tools_field(r: _Refused) -> Lesson | None:
    if "tools" not in r.sent and re.search(r"tools\W{0,3}\s*param|requires? .*\btools\b", r.words):
        return Lesson(replace(r.profile, tools_needed=True))
    if "tools" in r.sent and r.profile.tools_needed and "too short" in r.words:
        return Lesson(replace(r.profile, tools_needed=False))
    return None


def _images(r: _Refused) -> Lesson | None:
    if "image_url" not in r.sent:
        return None
    named = re.search(r"image|vision|multimodal|multi-modal", r.words) and r.refuses
    text_only = re.search(r"content.*(must|should) be (a )?(valid )?str|expected a string", r.words)
    if named or text_only:
        return Lesson(
            replace(r.profile, images=False),
            "This model takes no images; they are left out, and it is told so.",
        )
    return None


def _ids(r: _Refused) -> Lesson | None:
    if re.search(r"length of 9|exactly 9|9 (alphanumeric )?characters", r.words):
        return Lesson(replace(r.profile, call_ids="nine"))
    if r.profile.call_ids == "any" and re.search(r"\bid\b.*(pattern|match|too long)", r.words):
        return Lesson(replace(r.profile, call_ids="plain"))
    return None


def _name_length(r: _Refused) -> Lesson | None:
    found = re.search(
        r"name.*(?:maximum length|at most|no longer than|max\w* of)\D{0,4}(\d+)", r.words
    )
    if found and 8 <= int(found.group(1)) < r.profile.name_length:
        return Lesson(replace(r.profile, name_length=int(found.group(1))))
    return None


def _order(r: _Refused) -> Lesson | None:
    if re.search(r"role 'user' after role 'tool'|after (the )?tool (message|role)", r.words):
        return Lesson(replace(r.profile, answer_after_results=True))
    if re.search(r"roles? must alternate|alternate (between )?user", r.words):
        if r.profile.alternate:
            return Lesson(replace(r.profile, answer_after_results=True))
        return Lesson(replace(r.profile, alternate=True))
    return None


def _content(r: _Refused) -> Lesson | None:
    null = re.search(r"content\W.*(null|none|string|required|missing)|invalid type.*null", r.words)
    if null and not r.names("image_url") and "null content" in r.sent:
        return Lesson(replace(r.profile, empty_content=True))
    if r.profile.empty_content and re.search(r"content.*(empty|non-empty)", r.words):
        return Lesson(replace(r.profile, empty_content=False))
    return None


def _strict(r: _Refused) -> Lesson | None:
    if r.profile.strict and r.names("strict"):
        return Lesson(replace(r.profile, strict=False))
    return None


def _schema(r: _Refused) -> Lesson | None:
    if not r.refuses or not re.search(r"schema|parameters|function_declarations|tools\W", r.words):
        return None
    for word in _SCHEMA_WORDS:
        quoted = re.search(rf"(?<![\w$]){re.escape(word)}(?!\w)", r.words)
        if quoted and word in r.sent and word not in r.profile.without_schema:
            return Lesson(replace(r.profile, without_schema=r.profile.without_schema | {word}))
    return None


def _reasoning_needed(r: _Refused) -> Lesson | None:
    """DeepSeek's and Kimi's words for a history with answers of other models."""
    wanted = re.search(
        r"(?<!\w)(reasoning_content|reasoning)(?!\w)[^.]*"
        r"(must be passed back|is missing|is required)"
        r"|missing\W+(?:the )?\W*(reasoning_content|reasoning)(?!\w)",
        r.words,
    )
    if wanted is None:
        return None
    name = wanted[1] or wanted[3]
    back = r.profile.echoes | {name}
    kept = r.profile.without - {name}
    return Lesson(replace(r.profile, reasoning_needed=name, echoes=back, without=kept))


def _signatures(r: _Refused) -> Lesson | None:
    if "missing a thought_signature" in r.words or "missing a `thought_signature`" in r.words:
        back = r.profile.echoes | {"extra_content"}
        return Lesson(replace(r.profile, signed_calls=True, echoes=back))
    return None


def _any_field(r: _Refused) -> Lesson | None:
    """A field that the refusal names and that can be left out."""
    if not r.refuses:
        return None
    known = _NEVER_DROPPED | r.profile.without
    for name in sorted(set(r.sent) - known, key=len, reverse=True):
        if name.isidentifier() and (r.names(name.lower()) or r.points_at(name.lower())):
            return Lesson(
                replace(r.profile, without=r.profile.without | {name}),
                f"The server refuses the field {name!r}; it is left out from now on.",
            )
    return None


def _no_tools(r: _Refused) -> Lesson | None:
    """Comes last: it takes the most away."""
    refused = re.search(
        r"(does not|doesn't|not) support\w* (tool|function)|tools? (use|calling) is not"
        r"|(tools?|functions?)\W{1,3}(is|are) not supported|tool choice requires"
        r"|no endpoints found that support tool",
        r.words,
    )
    if not refused or "tools" not in r.sent:
        return None
    return Lesson(
        replace(r.profile, tools=False),
        f"The server takes no tools for this model ({r.message}). They are described to it in "
        "words from now on, which works less well.",
    )


_RULES: tuple[_Rule, ...] = (
    _max_tokens, _stream, _reasoning_needed, _signatures, _order, _ids, _tool_choice, _tools_field,
    _images, _name_length, _strict, _content, _system_role, _schema, _no_tools, _any_field,
)  # fmt: skip
