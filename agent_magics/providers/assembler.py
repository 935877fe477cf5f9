"""One answer from the pieces of a stream, or from a whole response. Pure.

Owns what the pieces mean: text, reasoning, refusals, calls, usage, why it ended, and which fields
must be sent back. The result satisfies the contract of `ports.Model` whatever came; whether an
answer is good enough to keep is for `answers` and `retrying` to say. Knows no bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent_magics.events import CallDelta, ReasoningDelta, TextDelta
from agent_magics.messages import JSON, Assistant, Stop, ToolCall, Usage, normalised
from agent_magics.providers.arguments import NotAnObject, read_arguments, without_surrogates
from agent_magics.providers.drafts import Draft, Drafts, tool_name
from agent_magics.providers.fields import Extras, content_text, read_usage
from agent_magics.providers.written import find_calls, find_first
from agent_magics.tool import Tool

Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta

CUT = (
    "Your message was cut at the output limit, so nothing was executed. Make the call smaller: "
    "write a short skeleton first and add the rest with further calls."
)
BROKEN = "Your message broke off before its end, so nothing was executed. Send the call again."
FILTERED = "The provider's content filter stopped your message, so nothing was executed."
NAMELESS = "This call names no tool, so nothing was executed. Send it again with the tool's name."

_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Where servers put reasoning text; when two are filled they hold the same, so one is taken."""

_STOPS: dict[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filter",
    "safety": "filter",
    "prohibited_content": "filter",
    "blocklist": "filter",
    "recitation": "filter",
    "sensitive": "filter",
    "refusal": "refusal",
    "abort": "cut",
    "aborted": "cut",
    "cancelled": "cut",
    "network_error": "cut",
    "error": "cut",
    "insufficient_system_resource": "cut",
}
"""What servers call the endings that matter; every other word is an ordinary end."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What of a request the reading of its answer depends on.

    Args:
        model: The model's name, kept with the message.
        tools: The tools that the request offers.
        names: Names as they were sent to their tools' names, where the two differ.
        cap: The limit on the answer in tokens, if one was sent.
        words: Whether the tools were described in words, so that calls come as text.
    """

    model: str
    tools: tuple[Tool, ...] = ()
    names: Mapping[str, str] | None = None
    cap: int | None = None
    words: bool = False


class Assembler:
    """Takes chunks (or one whole response) and gives deltas to show, then the message."""

    __slots__ = (
        "_drafts", "_extras", "_half", "_names", "_offer", "_reasoning", "_reasoning_field",
        "_refusal", "_text", "_usage", "finish",
    )  # fmt: skip

    def __init__(self, offer: Offer) -> None:
        self.finish = ""
        self._offer = offer
        self._names = dict(offer.names or {})
        self._drafts = Drafts(frozenset((*(tool.name for tool in offer.tools), *self._names)))
        self._extras = Extras()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._reasoning_field = ""
        self._half = ""  # the first half of a surrogate pair
        self._usage = Usage()

    def feed(self, chunk: Mapping[str, JSON]) -> list[Delta]:
        """Take one chunk; gives what there is to show of it."""
        usage = chunk.get("usage")
        choices = chunk.get("choices")
        shown: list[Delta] = []
        if isinstance(choices, dict):
            choices = [choices]
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict):
                    self._take_choice(choice, shown)
                    usage = usage or choice.get("usage")
        if usage is None:
            inner = chunk.get("x_groq")
            usage = inner.get("usage") if isinstance(inner, dict) else None
        if isinstance(usage, dict):
            self._usage = read_usage(usage)
        return shown

    @property
    def usage(self) -> Usage:
        """The tokens that the server named last."""
        return self._usage

    @property
    def blank(self) -> bool:
        """Whether nothing usable came: no text, no refusal, no call."""
        return not (self._drafts.kept() or self._refusal or "".join(self._text).strip())

    def _take_choice(self, choice: Mapping[str, JSON], shown: list[Delta]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict) and delta:
            self._take_message(delta, shown, whole=False)
        elif isinstance(message := choice.get("message"), dict):
            # A whole answer; some servers repeat it at the end of a stream.
            if self.blank:
                self._take_message(message, shown, whole=True)
        elif isinstance(choice.get("text"), str):
            self._take_text(choice["text"], shown)
        finish = choice.get("finish_reason")
        if finish and _STOPS.get(self.finish) is None:
            self.finish = str(finish).strip().lower()

    def _take_message(
        self, message: Mapping[str, JSON], shown: list[Delta], *, whole: bool
    ) -> None:
        for key, value in message.items():
            if value is None or value == "":
                continue
            if key == "content":
                text, thought = content_text(value)
                self._take_reasoning("content", thought, shown)
                self._take_text(text, shown)
            elif key == "tool_calls":
                self._show_calls(self._drafts.take(value, whole=whole), shown)
            elif key == "function_call":
                self._show_calls(self._drafts.take_legacy(value), shown)
            elif key == "refusal":
                self._take_refusal(value, shown)
            elif key in _REASONING and isinstance(value, str):
                self._take_reasoning(key, value, shown)
            elif key != "role":
                self._extras.take(key, value)

    def _take_text(self, text: str, shown: list[Delta]) -> None:
        if self._half or not text.isascii():
            text, self._half = _held_back(self._half + text)
        if text:
            self._text.append(text)
            shown.append(TextDelta(text))

    def _take_refusal(self, value: JSON, shown: list[Delta]) -> None:
        text = without_surrogates(value if isinstance(value, str) else "(refused)")
        self._refusal.append(text)
        shown.append(TextDelta(text))

    def _take_reasoning(self, name: str, text: str, shown: list[Delta]) -> None:
        if not text or (self._reasoning_field and name != self._reasoning_field):
            return
        self._reasoning_field = name
        text = without_surrogates(text)
        self._reasoning.append(text)
        shown.append(ReasoningDelta(text))

    def _show_calls(self, drafts: list[Draft], shown: list[Delta]) -> None:
        for draft in drafts:
            if draft.due:
                draft.shown = draft.length
                arguments = without_surrogates(draft.arguments)
                shown.append(CallDelta(draft.key, self._tool_name(draft.name), arguments))

    # --- the message -----------------------------------------------------------------------

    def message(self, *, broken: bool = False) -> Assistant:
        """The answer as a message.

        Args:
            broken: Whether the stream ended without saying that the answer is complete.
        """
        text = "".join(self._text)
        stop = self._stop(broken)
        problem = {"length": CUT, "cut": BROKEN, "filter": FILTERED}.get(stop, "")
        calls = tuple(self._call(draft, problem) for draft in self._drafts.kept())
        if stop == "calls" and self._hit_cap() and any(c.problem for c in calls):
            # Some servers say `tool_calls` for a message that was cut at the limit.
            stop = "length"
            calls = tuple(replace(call, arguments="{}", problem=CUT) for call in calls)
        if stop == "end" and self._offer.tools:
            find = find_first if self._offer.words else find_calls
            text, calls = find(text, self._offer.tools)
            stop = "calls" if calls else "end"
        if self._refusal:
            text = f"{text}\n\n{''.join(self._refusal)}".strip()
        message = Assistant(
            text=text or _instead_of_text(stop, calls),
            calls=calls,
            stop=stop,
            usage=self._usage,
            reasoning="".join(self._reasoning),
            extra=self._extra(),
            model=self._offer.model,
        )
        return normalised(message, ())

    def _stop(self, broken: bool) -> Stop:
        stop = _STOPS.get(self.finish)
        if stop is not None:
            return stop
        if broken:
            return "cut"
        if self._drafts.kept():
            return "calls"
        return "refusal" if self._refusal else "end"

    def _hit_cap(self) -> bool:
        cap = self._offer.cap
        return cap is not None and self._usage.output >= cap

    def _tool_name(self, written: str) -> str:
        if not written:
            return ""
        name = tool_name(written, self._drafts.tools)
        return self._names.get(name, name)

    def _call(self, draft: Draft, problem: str) -> ToolCall:
        name = without_surrogates(self._tool_name(draft.name))
        tool = next((tool for tool in self._offer.tools if tool.name == name), None)
        careful = tool is None or tool.effect not in ("read", "control")
        arguments = "{}"
        if not name:
            problem = problem or NAMELESS
        if not problem:
            try:
                arguments = read_arguments(draft.arguments, careful=careful)
            except NotAnObject as wrong:
                problem = str(wrong)
        return ToolCall(without_surrogates(draft.id), name, arguments, draft.extra, problem)

    def _extra(self) -> Mapping[str, JSON]:
        extra = self._extras.fields()
        if self._reasoning and self._reasoning_field != "content":
            return {self._reasoning_field: "".join(self._reasoning), **extra}
        return extra


def _instead_of_text(stop: Stop, calls: tuple[ToolCall, ...]) -> str:
    """What stands for an answer that has neither text nor calls, since no server takes one back."""
    if calls:
        return ""
    return {
        "filter": "(The provider's content filter withheld this answer.)",
        "refusal": "(The model refused to answer.)",
        "length": "(The answer reached the output limit before any text came.)",
        "cut": "(The answer broke off before any text came.)",
    }.get(stop, "")


def _held_back(text: str) -> tuple[str, str]:
    """The text to show, and the first half of a surrogate pair whose second is still to come."""
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return without_surrogates(text[:-1] if half else text), half
