"""The hooks that a person registered in one shell, in the order of their registration."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from agent_magics.hooks.hook import Hook


@dataclass(slots=True)
class HookRegistry:
    """Holds the functions of one shell; a cell that is run again replaces its own."""

    _hooks: tuple[Hook, ...] = ()
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def add(self, hook: Hook) -> None:
        """Register one, in place of the one of this name at this point."""
        with self._changing:
            known = [(each.point, each.name) for each in self._hooks]
            if (hook.point, hook.name) in known:
                at = known.index((hook.point, hook.name))
                self._hooks = (*self._hooks[:at], hook, *self._hooks[at + 1 :])
            else:
                self._hooks = (*self._hooks, hook)

    def remove(self, name: str) -> tuple[Hook, ...]:
        """Take those of this name out, at whichever points; gives what was taken out."""
        with self._changing:
            gone = tuple(hook for hook in self._hooks if hook.name == name)
            self._hooks = tuple(hook for hook in self._hooks if hook.name != name)
        return gone

    def all(self) -> tuple[Hook, ...]:
        """Those that are in force."""
        return self._hooks
