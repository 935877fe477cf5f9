"""The rules that a person made to last with a button or `--always`; beside the configuration.

A JSON file of its own, so that no program rewrites a person's YAML. A file that is off allows
nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from agent_magics.extension.switches import write_private
from agent_magics.policy import Rule

_FIELDS = ("tool", "decision", "pattern", "skill")


@dataclass(frozen=True, slots=True)
class RulesFile:
    """A JSON list of rules, readable and removable by hand.

    Args:
        path: The file; made at the first rule, with mode 0600.
    """

    path: Path

    def rules(self) -> tuple[Rule, ...]:
        """The rules, oldest first; none of a file that is off."""
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
            return tuple(_rule(entry) for entry in entries)
        except (OSError, ValueError, TypeError, AttributeError):
            return ()

    def keep(self, rule: Rule) -> None:
        """Add a rule, in place of an older one for the same calls.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._write([*(r for r in self.rules() if not _same(r, rule)), rule])

    def drop(self, rule: Rule) -> bool:
        """Remove the rule for the same calls; whether there was one.

        Raises:
            ConfigError: The file cannot be written.
        """
        before = self.rules()
        after = [r for r in before if not _same(r, rule)]
        if len(after) == len(before):
            return False
        self._write(after)
        return True

    def _write(self, rules: list[Rule]) -> None:
        entries = [{name: getattr(rule, name) for name in _FIELDS} for rule in rules]
        write_private(self.path, json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def _same(one: Rule, other: Rule) -> bool:
    return (one.tool, one.pattern, one.skill) == (other.tool, other.pattern, other.skill)


def _rule(entry: dict[str, object]) -> Rule:
    texts = {name: entry.get(name, "") for name in _FIELDS}
    if not texts["tool"] or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a rule is made of texts")
    if set(entry) - set(_FIELDS) or texts["decision"] not in ("allow", "ask", "deny"):
        raise ValueError("a rule has a tool and a decision")
    return Rule(**texts, source="user")  # type: ignore[arg-type]  # checked just above
