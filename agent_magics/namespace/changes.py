"""What a piece of code did to the names: new, changed, deleted. Pure.

Owns the comparison of two moments and how it reads. A name counts as changed when it stands for
another object, unless both are equal simple values, or when the object's print is another.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_magics.messages import JSON, Display
from agent_magics.namespace.looking import Look, library_classes, look, shown_name
from agent_magics.namespace.prints import Print, known_bytes, print_of, same_value

SHOWN = 12
"""Names of each kind that a text lists."""
KEPT_BYTES = 500_000_000
"""Objects whose data are known to be larger are not kept alive for an undo."""
PRINTED = 5_000
"""Names whose content is looked at; of more, only which object they stand for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name stood for at one moment.

    Args:
        look: What it was.
        print: Of its content.
        held: The object; a weak reference where it is too large to be kept.
        strong: Whether `held` is the object itself.
    """

    look: Look
    print: Print
    held: object
    strong: bool = True

    def is_of(self, value: object) -> bool:
        """Whether it stood for this very object, or an equal simple one."""
        held = self.held if self.strong else self.held()  # type: ignore[operator]  # a reference
        return same_value(held, value)


Moment = dict[str, Entry]


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one name.

    Args:
        name: As it is.
        before: None: it is new.
        after: None: it was deleted.
        in_place: It stands for the same object, which is another inside.
    """

    name: str
    before: Look | None
    after: Look | None
    in_place: bool = False

    @property
    def word(self) -> str:
        """`new`, `changed` or `deleted`."""
        if self.before is None:
            return "new"
        return "deleted" if self.after is None else "changed"

    def __str__(self) -> str:
        return f"{shown_name(self.name)} ({self._what()})"

    def _what(self) -> str:
        before, after = self.before, self.after
        if before is None or after is None or before == after:
            what = str(after or before)
            return f"{what}, in place" if self.in_place else what
        if before.kind == after.kind:
            return f"{after.kind} {before.extent or '…'} → {after.extent or '…'}"
        return f"{before} → {after}"


Changes = tuple[Change, ...]


def moment(names: Mapping[str, object]) -> Moment:
    """What the names stand for now.

    Args:
        names: The person's own, see `prints.visible_names`.
    """
    classes = library_classes()
    taken: Moment = {}
    for count, (name, value) in enumerate(names.items()):
        known = classes.get(id(type(value)), "")
        printed = print_of(value, known) if count < PRINTED else ()
        held, strong = _held(value, known)
        taken[name] = Entry(look(value, classes), printed, held, strong)
    return taken


def changes(before: Moment, names: Mapping[str, object]) -> tuple[Changes, Moment]:
    """What is different now, in the order new, changed, deleted; and what the names stand for."""
    after = moment(names)
    new = [Change(name, None, entry.look) for name, entry in after.items() if name not in before]
    changed = []
    for name, entry in before.items():
        now = after.get(name)
        if now is None:
            continue
        if not entry.is_of(names[name]):
            changed.append(Change(name, entry.look, now.look))
        elif entry.print != now.print or entry.look != now.look:
            changed.append(Change(name, entry.look, now.look, in_place=True))
    deleted = [
        Change(name, entry.look, None) for name, entry in before.items() if name not in after
    ]
    return (*new, *changed, *deleted), after


def _held(value: object, known: str) -> tuple[object, bool]:
    if known and known_bytes(value, known) > KEPT_BYTES:
        try:
            return weakref.ref(value), False
        except TypeError:
            return value, True
    return value, True


def told(found: Iterable[Change]) -> str:
    """The changes in one line: `new: df (pandas.DataFrame 150×5); deleted: x (int)`."""
    listed: dict[str, list[str]] = {}
    for change in found:
        listed.setdefault(change.word, []).append(str(change))
    parts = []
    for word, names in listed.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        parts.append(f"{word}: {', '.join(names[:SHOWN])}{more}")
    return "; ".join(parts)


def folded(displays: Iterable[Display]) -> dict[str, str]:
    """What several runs did to names: each with `new`, `changed` or `deleted`, all in all.

    Args:
        displays: Of all kinds, oldest first.
    """
    words: dict[str, str] = {}
    for display in displays:
        rows = display.data if display.kind == "names" else {}
        for name, word in [(row[0], word) for word, found in rows.items() for row in found]:
            before = words.pop(name, "")
            if (before, word) == ("new", "deleted"):
                continue  # it came and went
            back = (before, word) == ("deleted", "new")
            words[name] = "changed" if back else "new" if before == "new" else word
    return words


def display_of(found: Changes) -> Display:
    """The changes for the person's eyes and for the record."""
    data: dict[str, JSON] = {}
    for change in found:
        now = change.after or change.before
        kind, extent = (now.kind, now.extent) if now else ("", "")
        data.setdefault(change.word, []).append([change.name, kind, extent])
    return Display("names", told(found), data=data)
