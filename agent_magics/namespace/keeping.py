"""The objects that the agent's code took names away from, for as long as they can be given back.

Owns which turn a change belongs to and when a name may be given back: only while it still stands
for what that code left. Objects are kept by reference, not copied: what was changed inside one
cannot be undone here, and what is kept takes memory until later turns push it out.
"""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from agent_magics.namespace.changes import Changes, Entry, Moment
from agent_magics.namespace.prints import same_value, simple

TURNS = 3
"""Turns with changes to names that are kept."""
_GONE = object()


@dataclass(slots=True)
class _After:
    """How a turn left a name: enough to know the object again, without keeping it alive."""

    gone: bool = False
    value: object = None
    ident: int = 0
    weak: bool = False

    @classmethod
    def of(cls, entry: Entry | None) -> _After:
        if entry is None:
            return cls(gone=True)
        value = entry.held if entry.strong else entry.held()  # type: ignore[operator]
        if simple(value):
            return cls(value=value)
        try:
            return cls(value=weakref.ref(value), weak=True, ident=id(value))
        except TypeError:
            # Lists and dicts take no reference that does not keep them.
            return cls(value=None, ident=id(value))

    def is_of(self, value: object) -> bool:
        if self.gone or value is _GONE:
            return self.gone and value is _GONE
        if self.weak:
            return self.value() is value  # type: ignore[operator]
        return id(value) == self.ident if self.ident else same_value(self.value, value)


@dataclass(slots=True)
class _Turn:
    token: object
    before: dict[str, Entry | None] = field(default_factory=dict)
    after: dict[str, _After] = field(default_factory=dict)
    in_place: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of giving names back.

    Args:
        restored: Stand again for what they did.
        rebound: Stand for something else since, and were left alone.
        too_large: Stood for objects that were not kept.
        in_place: Stand for the same object, which was changed inside.
        new: Did not exist before, and were left alone.
    """

    restored: tuple[str, ...] = ()
    rebound: tuple[str, ...] = ()
    too_large: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


class KeptNames:
    """What the newest turns took names away from. One per shell."""

    def __init__(self) -> None:
        self._turns: list[_Turn] = []

    def note(self, token: object, before: Moment, after: Moment, found: Changes) -> None:
        """Keep what a run changed.

        Args:
            token: Which turn it belongs to.
            before: Before the run.
            after: After it.
            found: The difference.
        """
        if not found:
            return
        if not self._turns or self._turns[-1].token is not token:
            self._turns = [*self._turns, _Turn(token)][-TURNS:]
        turn = self._turns[-1]
        for change in found:
            if change.in_place:
                turn.in_place.setdefault(change.name)
                continue
            turn.before.setdefault(change.name, before.get(change.name))
            turn.after[change.name] = _After.of(after.get(change.name))

    def undo(self, names: MutableMapping[str, object]) -> Undone | None:
        """Give the names of the newest turn back; None if there is none.

        Args:
            names: IPython's `user_ns`.
        """
        if not self._turns:
            return None
        turn = self._turns.pop()
        restored, rebound, too_large, new = [], [], [], []
        for name, entry in turn.before.items():
            if not turn.after[name].is_of(names.get(name, _GONE)):
                rebound.append(name)
            elif entry is None:
                new += [name] if name in names else []
            else:
                value = entry.held if entry.strong else entry.held()  # type: ignore[operator]
                if value is None and not entry.strong:
                    too_large.append(name)
                    continue
                names[name] = value
                restored.append(name)
        in_place = [name for name in turn.in_place if turn.before.get(name, _GONE) is not None]
        return Undone(
            tuple(restored), tuple(rebound), tuple(too_large), tuple(in_place), tuple(new)
        )

    def forget(self) -> None:
        """Let go of everything."""
        self._turns.clear()
