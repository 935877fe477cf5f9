"""The calls of one answer, put together from deltas that name them in every way but one. Pure.

The standard says: an `index` in each delta, an `id` and a name in the first. Servers leave out
ids, or indexes, or both; give every call index 0; change the id in each delta; repeat the name;
send calls whole, interleaved, twice, or as objects. Which call a delta belongs to is decided here
by id, index, name and by whether a call's arguments are complete already: JSON that is whole
cannot go on. Knows no tool but its name, and judges no arguments (`arguments` does).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from agent_magics.messages import JSON
from agent_magics.providers.arguments import is_object

_FIELDS = frozenset(("id", "index", "type", "function", "name", "arguments"))
_LEGACY_INDEX = -1
"""Of the one call that the `function_call` field of older servers can hold."""


@dataclass(slots=True)
class Draft:
    """One call as far as it is known."""

    key: str
    id: str = ""
    index: int | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    shown: int = 0
    extra: dict[str, JSON] = field(default_factory=dict)

    @property
    def arguments(self) -> str:
        """The text of the arguments so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole object, so that nothing more can belong to them."""
        return bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and self._whole()

    @property
    def due(self) -> bool:
        """Whether enough has come since it was shown last; keeps the cost of showing linear."""
        return self.length >= self.shown + max(16, self.shown // 64) or self.shown == 0

    def write(self, text: str, *, anew: bool = False) -> None:
        """Add a piece of the arguments, or put it in place of all there is."""
        if anew:
            self.pieces.clear()
            self.length = self.shown = 0
        if text:
            self.pieces.append(text)
            self.length += len(text)

    def _whole(self) -> bool:
        return is_object(self.arguments)


@dataclass(frozen=True, slots=True)
class _Delta:
    """What one entry of `tool_calls` says."""

    id: str
    index: int | None
    name: str
    text: str
    extra: Mapping[str, JSON]

    @property
    def opens(self) -> bool:
        """Whether its text begins an object of its own."""
        return self.text.lstrip().startswith("{")


class Drafts:
    """All calls of one answer, in the order in which they were begun.

    Args:
        tools: Names that the request offers; they tell a name in pieces from two names.
    """

    __slots__ = ("all", "tools")

    def __init__(self, tools: frozenset[str]) -> None:
        self.all: list[Draft] = []
        self.tools = tools

    def take(self, entries: JSON, *, whole: bool = False) -> list[Draft]:
        """Take the value of a `tool_calls` field; gives the calls that it added to.

        Args:
            entries: A list of deltas, or one.
            whole: Whether each entry is a call of its own, as in an answer without streaming.
        """
        if isinstance(entries, dict):
            entries = [entries]
        if not isinstance(entries, list):
            return []
        deltas = (_delta(entry) for entry in entries if isinstance(entry, dict))
        return [draft for delta in deltas if (draft := self._add(delta, whole)) is not None]

    def take_legacy(self, entry: JSON) -> list[Draft]:
        """Take the value of a `function_call` field."""
        if not isinstance(entry, dict):
            return []
        return self.take([{"index": _LEGACY_INDEX, "function": entry}])

    def kept(self) -> list[Draft]:
        """The calls without the noise: empty ones, and empty heads that were sent again."""
        named = [draft for draft in self.all if draft.name or draft.arguments.strip()]
        return [
            draft
            for draft, following in zip_longest(named, named[1:])
            if draft.length or following is None or not _is_sent_again(draft, following)
        ]

    def _add(self, delta: _Delta, whole: bool) -> Draft | None:
        if not (delta.id or delta.name or delta.text or delta.extra):
            return None
        draft = (None if whole else self._target(delta)) or self._new(delta)
        if draft.name != delta.name:
            draft.name = self._joined_name(draft.name, delta.name)
        draft.id = draft.id or delta.id
        draft.extra.update(delta.extra)
        if not draft.complete or not delta.text.strip():
            # Arguments that are sent from the start again each time, with the name again.
            again = bool(delta.name) and draft.length > 0 and delta.text.startswith(draft.arguments)
            draft.write(delta.text, anew=again)
        elif draft.arguments.strip() == "{}" and delta.opens:
            draft.write(delta.text, anew=True)  # an empty placeholder came first
        elif draft.arguments.strip() != delta.text.strip():
            draft.write(delta.text)  # no JSON any more, which `read_arguments` will say
        return draft

    def _new(self, delta: _Delta) -> Draft:
        draft = Draft(str(len(self.all)), delta.id, delta.index)
        self.all.append(draft)
        return draft

    def _target(self, delta: _Delta) -> Draft | None:
        """The call that a delta goes on with; None: it begins one."""
        if not self.all:
            return None
        if delta.id:
            return self._by_id(delta)
        if delta.index is not None:
            return self._by_index(delta, delta.index)
        return self._going_on(self.all[-1], delta)

    def _by_id(self, delta: _Delta) -> Draft | None:
        known = [draft for draft in self.all if draft.id == delta.id]
        here = self._latest(delta.index) if delta.index is not None else self.all[-1]
        if not known:
            goes_on = here is not None and self._only_the_id_is_new(here, delta)
            return here if goes_on else None
        draft = here if here in known else known[-1]
        assert draft is not None
        moved = delta.index is not None and draft.index not in (None, delta.index)
        if not delta.name:
            return draft if not draft.complete or not delta.opens else self._second(draft, delta)
        if not draft.complete:
            begins = draft.length == 0 or delta.opens or delta.name != draft.name
            return None if moved and begins else draft
        same = draft.arguments.strip() == delta.text.strip()
        return draft if not moved and (same or not delta.text.strip()) else None

    def _only_the_id_is_new(self, here: Draft, delta: _Delta) -> bool:
        """Whether an unseen id is noise: some servers make up a new one for each delta."""
        if here.complete:
            return not (delta.name or delta.text.strip())
        if not delta.name:
            return True
        if not here.id and not here.name:
            return True
        return delta.index is not None and here.name == delta.name and here.length > 0

    def _by_index(self, delta: _Delta, index: int) -> Draft | None:
        here, last = self._latest(index), self.all[-1]
        if here is None:
            # A continuation with the wrong index, or the first word of a new call.
            return last if not delta.name and not last.complete else None
        return self._going_on(here, delta)

    def _going_on(self, draft: Draft, delta: _Delta) -> Draft | None:
        """The call that a delta without an id goes on with, this one or a new one."""
        if not delta.name:
            return self._second(draft, delta) if draft.complete and delta.opens else draft
        if draft.complete:
            return None
        if not draft.name:
            return draft
        if draft.length == 0:
            same = delta.name == draft.name
            return draft if same or self._is_one_name(draft.name, delta.name) else None
        # A name that comes again while arguments are incomplete goes on: if that is wrong, the
        # whole is no JSON and the model is told; a new call could run with a part of an object.
        return draft if delta.name == draft.name else None

    def _second(self, draft: Draft, delta: _Delta) -> Draft | None:
        """Where a second whole object goes that came without a name."""
        placeholder = draft.arguments.strip() == "{}"
        repeated = draft.arguments.strip() == delta.text.strip()
        return draft if placeholder or repeated else None

    def _latest(self, index: int | None) -> Draft | None:
        return next((d for d in reversed(self.all) if d.index == index), None)

    def _is_one_name(self, first: str, second: str) -> bool:
        """Whether two names are pieces of one."""
        if second.startswith(first) and second in self.tools and first not in self.tools:
            return True
        if second in self.tools:
            return False
        return first + second in self.tools or first not in self.tools

    def _joined_name(self, name: str, more: str) -> str:
        if not name or not more:
            return name or more
        if name + more in self.tools:
            return name + more
        if name in self.tools:
            return name
        return more if more.startswith(name) or more in self.tools else name + more


def _is_sent_again(empty: Draft, following: Draft) -> bool:
    """Whether a call without arguments is the head of the next one, under another id or index."""
    same_index = empty.index is not None and empty.index == following.index
    same_id = empty.id != "" and empty.id == following.id
    return empty.name == following.name and following.length > 0 and (same_index or same_id)


def _delta(entry: Mapping[str, JSON]) -> _Delta:
    function = entry.get("function")
    if isinstance(function, str):
        function = {"name": function}
    if not isinstance(function, dict):
        function = entry
    extra = {k: v for k, v in entry.items() if k not in _FIELDS and v not in (None, "", {}, [])}
    if function is not entry:
        inner = {k: v for k, v in function.items() if k not in _FIELDS and v not in (None, "")}
        if inner:
            extra["function"] = inner
    arguments = function.get("arguments", entry.get("arguments"))
    return _Delta(
        _text(entry.get("id")),
        _index(entry.get("index")),
        _text(function.get("name") or entry.get("name")),
        _argument_text(arguments),
        extra,
    )


def _argument_text(arguments: JSON) -> str:
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply)"


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _index(value: JSON) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tool_name(written: str, tools: frozenset[str]) -> str:
    """The visible tool that a model meant, or the name as it was written.

    Models write `functions.read`, `Read`, `read<|channel|>commentary`, `read </parameter`.
    """
    name = written.strip()
    if name in tools:
        return name
    start = re.match(r"(?:functions?[.:])?([\w.-]*)", name)
    candidates = [start.group(1).rstrip(".-") if start else "", name.rpartition(".")[2]]
    for candidate in candidates:
        if candidate in tools:
            return candidate
        alike = [tool for tool in tools if tool.casefold() == candidate.casefold()]
        if len(alike) == 1:
            return alike[0]
    return name
