"""Allow, ask or deny: rules over calls, and a person's answers to the asks. Pure values.

Knows no tool and no file; it is told the facts of a call and says the verdict. One order of
precedence, for every kind of run:

1. a *deny* of any source wins, and the mode `plan` denies what changes files or runs code;
2. what the person said in this session (`%agent allow`, the "always" button), newest first;
3. an *ask* of a project's file: a repository can tighten, never loosen;
4. the user's own configuration;
5. the mode: `accept-edits` allows changes to ordinary files of the workspace, `auto` all that
   stays inside it;
6. the tool's default, from its effect;
7. everything else is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agent_magics.commandline import CommandLine, Part, command_pattern

Decision: TypeAlias = Literal["allow", "ask", "deny"]
Source: TypeAlias = Literal["default", "user", "project", "session", "cell"]
"""Where a rule comes from; those of a cell are the session's until the turn ends."""
Effect: TypeAlias = Literal["read", "write", "delete", "run", "fetch", "bundled", "mcp", "control"]
"""What a call can do: look, change files, take files away, run code, send an address into the web,
run a skill's own code, have an MCP server do something, steer the agent."""

Mode: TypeAlias = Literal["ask", "accept-edits", "plan", "auto"]
"""What happens to calls that no rule speaks about."""
MODES: dict[Mode, str] = {
    "ask": "what changes files or runs code is asked about",
    "accept-edits": "ordinary files of the workspace are changed without asking",
    "plan": "nothing is changed and no code of the model's runs",
    "auto": "nothing inside the workspace is asked about",
}

DEFAULTS: dict[Effect, Decision] = {
    "read": "allow",
    "write": "ask",
    "delete": "ask",
    "run": "ask",
    "fetch": "ask",  # an address can carry data out
    "bundled": "ask",
    "mcp": "ask",  # what a server does, only the server knows
    "control": "allow",
}
_CHANGING: frozenset[Effect] = frozenset(("write", "delete", "run"))
_ACCEPTED: dict[Mode, frozenset[Effect]] = {
    "ask": frozenset(),
    "plan": frozenset(),
    "accept-edits": frozenset(("write",)),
    "auto": frozenset(("write", "delete", "run", "bundled")),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of policy.

    Args:
        tool: A tool's name; `*` stands for any run of characters (`mcp__git__*`).
        decision: What happens to a call that matches.
        pattern: What the call's operand must match, whole; `*` as above. Empty: any operand. For
            shell commands see `commandline`; of tools that ask the web it is read as an address,
            see `_fits_url`.
        source: Where the rule comes from, which decides its precedence.
        skill: Only while this skill is active; empty: always.
    """

    tool: str
    decision: Decision
    pattern: str = ""
    source: Source = "session"
    skill: str = ""

    def matches(self, facts: CallFacts, part: Part | None = None) -> bool:
        """Whether the rule speaks about this call.

        Args:
            facts: The call.
            part: For a shell command, the one simple command that is judged; None: all of them.
        """
        if not self._about(facts):
            return False
        if not self.pattern:
            return True
        line = facts.commands
        if line is None:
            return self._fits(facts)
        pattern = command_pattern(self.pattern)
        if self.decision == "deny":
            return pattern.concerns(facts.operand, line) == "yes"
        if self.decision == "ask":
            return pattern.concerns(facts.operand, line) != "no"
        parts = line.parts if part is None else (part,)
        return bool(parts) and all(pattern.permits(facts.operand, line, p) for p in parts)

    def may_deny(self, facts: CallFacts) -> bool:
        """Whether the rule denies what a shell command may turn out to run."""
        if self.decision != "deny" or facts.commands is None or not self.pattern:
            return False
        concerns = command_pattern(self.pattern).concerns
        return self._about(facts) and concerns(facts.operand, facts.commands) == "maybe"

    def _about(self, facts: CallFacts) -> bool:
        """Whether it is about this tool and skill."""
        return _glob(self.tool, facts.tool) and (not self.skill or self.skill == facts.skill)

    def _fits(self, facts: CallFacts) -> bool:
        if facts.effect != "fetch":
            return _glob(self.pattern, facts.operand)
        if self.decision == "allow":
            return _fits_url(self.pattern, facts.operand, narrow=True)
        # What forbids is read as wide as it can be.
        return _glob(self.pattern, facts.operand) or _fits_url(self.pattern, facts.operand)

    def reaches(self, facts: CallFacts) -> bool:
        """Whether the rule may decide about this call's place.

        Outside the workspace, and on protected files, a permission counts only for the one operand
        that it names in full: "edit files in the workspace" must never mean a shell profile.
        """
        return not facts.outside or self.decision != "allow" or self.pattern == facts.operand

    def __str__(self) -> str:
        operand = f" {self.pattern}" if self.pattern else ""
        skill = f" (skill {self.skill})" if self.skill else ""
        return f"{self.decision} {self.tool}{operand}{skill}"


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a policy may know of a call.

    Args:
        tool: The tool's name.
        effect: What it can do.
        operand: The one text that patterns are matched on: a path relative to the workspace,
            a command, the code.
        skill: The skill that brought the tool, for bundled tools.
        outside: Whether the call reaches outside the workspace.
        commands: What was read of the operand, if it is a shell command.
    """

    tool: str
    effect: Effect
    operand: str = ""
    skill: str = ""
    outside: bool = False
    commands: CommandLine | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says of one call, and why.

    Args:
        decision: What happens to it.
        reason: In a few words.
        by: Who decided: `policy`, or the hook that made it stricter.
    """

    decision: Decision
    reason: str
    by: str = "policy"


@dataclass(frozen=True, slots=True)
class Scope:
    """What an "always" button would allow, shown on the button.

    Args:
        label: "this command, this session"
        rule: The rule that is added when the person chooses it.
    """

    label: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's (or the front end's) answer to an ask.

    Args:
        allowed: Whether the call may run.
        by: Who answered: `click`, `typed`, `timeout`, `nobody`, `interrupt`, `option`, or `judge`.
        reason: What the person wrote, or why nobody could be asked; goes to the model.
        arguments: The text of a JSON object, when the person edited the arguments.
        scope: The "always" that the person chose, if any.
        rest: With a no: it is meant for the calls that wait behind this one, too.
    """

    allowed: bool
    by: str = "click"
    reason: str = ""
    arguments: str | None = None
    scope: Scope | None = None
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules from every source; a value, so a change is a new policy.

    Args:
        rules: See the module's text for their order.
        mode: What happens to calls that no rule speaks about.
    """

    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"

    def judge(self, facts: CallFacts) -> Verdict:
        """The verdict on one call; see the module's text for the order.

        A shell command is judged by its simple commands, each by itself; the strictest counts.
        """
        # What forbids speaks about the whole call; only a permission is about a part of it.
        rules = [rule for rule in self.rules if rule.decision == "allow" or rule.matches(facts)]
        if self.mode == "plan" and facts.effect == "mcp":
            # Nobody can tell which of a server's tools change something: each call asks.
            rules = [rule for rule in rules if rule.decision != "allow"]
        parts = facts.commands.parts if facts.commands else ()
        verdicts = [self._judged(facts, rules, part) for part in parts or (None,)]
        strictest = min(verdicts, key=lambda verdict: _STRICTEST.index(verdict.decision))
        if strictest.decision == "allow":
            for rule in self.rules:
                if rule.may_deny(facts):
                    return Verdict("ask", f"it may run what is denied ({_of(rule.source)}: {rule})")
        return strictest

    def _judged(self, facts: CallFacts, rules: Sequence[Rule], part: Part | None) -> Verdict:
        matching = [r for r in rules if r.decision != "allow" or r.matches(facts, part)]
        for rule in matching:
            if rule.decision == "deny":
                return Verdict("deny", f"{_of(rule.source)}: {rule}")
        if self.mode == "plan" and facts.effect in _CHANGING:
            return Verdict("deny", "the mode is plan: nothing is changed or run")
        for rule in reversed(matching):
            if rule.source in ("session", "cell") and rule.reaches(facts):
                return Verdict(rule.decision, f"{_of(rule.source)}: {rule}")
        for rule in matching:
            if rule.source == "project" and rule.decision == "ask":
                return Verdict("ask", f"{_of(rule.source)}: {rule}")
        if facts.outside:
            return Verdict("ask", "it reaches outside the workspace")
        user = [rule for rule in matching if rule.source == "user"]
        if user:
            strict = next((rule for rule in user if rule.decision == "ask"), user[0])
            return Verdict(strict.decision, f"{_of('user')}: {strict}")
        if facts.effect in _ACCEPTED[self.mode]:
            reach = facts.commands.reach if facts.commands else ""
            return Verdict("ask" if reach else "allow", reach or f"the mode is {self.mode}")
        if facts.effect in DEFAULTS:
            return Verdict(DEFAULTS[facts.effect], self._uncovered(facts, part))
        return Verdict("deny", "no rule allows it")

    def _uncovered(self, facts: CallFacts, part: Part | None) -> str:
        """Why the default counts; with patterns for commands, why none of them did."""
        line = facts.commands
        if line is not None and any(
            rule.decision == "allow" and rule.pattern and rule._about(facts) for rule in self.rules
        ):
            if line.opaque:
                return f"no pattern can allow it: {line.opaque}"
            if part is not None:
                only = f" ({part.exact}: only the exact command can be allowed)"
                words = " ".join(part.words)
                shown = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
                return f"no rule allows {shown!r}{only if part.exact else ''}"
        return f"the default for {facts.effect} tools"

    def denies_tool(self, tool: str, skill: str = "", effect: Effect = "control") -> bool:
        """Whether no call of the tool can ever pass, so that it need not be offered at all."""
        if self.mode == "plan" and effect in _CHANGING:
            return True
        facts = CallFacts(tool, "control", skill=skill)
        return any(r.decision == "deny" and not r.pattern and r.matches(facts) for r in self.rules)

    def with_rule(self, rule: Rule) -> Policy:
        """The policy with this rule in force; it replaces one for the same calls and source."""
        same = (rule.tool, rule.pattern, rule.source, rule.skill)
        kept = (r for r in self.rules if (r.tool, r.pattern, r.source, r.skill) != same)
        return replace(self, rules=(*kept, rule))

    def from_source(self, source: Source) -> tuple[Rule, ...]:
        """The rules of one source, oldest first."""
        return tuple(rule for rule in self.rules if rule.source == source)

    def replacing(self, source: Source, rules: Iterable[Rule]) -> Policy:
        """The policy with all rules of one source exchanged for these."""
        return replace(self, rules=(*(r for r in self.rules if r.source != source), *tuple(rules)))


_SHOWN = 80
"""Characters of a command in a reason."""
_STRICTEST: tuple[Decision, ...] = ("deny", "ask", "allow")


def _of(source: Source) -> str:
    return {
        "default": "default",
        "user": "your configuration",
        "project": "the project's configuration",
        "session": "this session",
        "cell": "this cell",
    }[source]


def _glob(pattern: str, text: str) -> bool:
    """Whole-text match where only `*` is special; `[` and `?` occur in real paths and commands."""
    if "*" not in pattern:
        return pattern == text
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, text, re.DOTALL) is not None


def _fits_url(pattern: str, url: str, *, narrow: bool = False) -> bool:
    """Whether a pattern for addresses means this one; `*` in its host never leaves the host.

    `https://host/*`, `https://*.host/docs/*`, or without a scheme, `host` and `*.host`. So
    `https://*.python.org/*` is not fooled by `https://evil.org/x.python.org/`.

    Args:
        pattern: Of a rule.
        url: Normalised: `scheme://host[:port]/…`, without user names.
        narrow: Let `*` in the host stand only for whole labels in front, as permissions need it.
    """
    scheme, mark, rest = pattern.partition("://")
    if not mark:
        scheme, rest = "*", pattern
    host, slash, path = rest.partition("/")
    host = host.lower()
    if narrow and host != "*":
        # `https://host*` must not mean `https://host.evil.org/`.
        host = host.rstrip("*")
        if "*" in host.removeprefix("*."):
            return False
    its_scheme, _, its_rest = url.partition("://")
    its_host, _, its_path = its_rest.partition("/")
    return (
        _glob(scheme, its_scheme) and _glob(host, its_host) and (not slash or _glob(path, its_path))
    )
