"""`%agent allow`, `ask`, `deny`, `policy` and `mode`: what a person permits, and takes back."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.magics.arguments import no_words
from agent_magics.magics.views import View, table_view
from agent_magics.policy import MODES, CallFacts, Decision, Rule
from agent_magics.tools.commands import read_command
from agent_magics.tools.commands.explaining import reading_note, rule_meaning

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls


def decide(decision: Decision) -> Callable[[Controls, str], str]:
    """The command that makes a rule with this decision."""

    def run(magics: Controls, words: str) -> str:
        words, lasting = _without_flag(words, "--always")
        tool, _, pattern = words.partition(" ")
        if not tool:
            raise UsageProblem(f"%agent {decision} needs a tool's name; see %agent for the tools.")
        names = sorted(t.name for t in magics.all_tools())
        if "*" not in tool and tool not in names:
            near = difflib.get_close_matches(tool, names, n=2)
            hint = (
                f" Did you mean {' or '.join(near)}?"
                if near
                else f" There are: {', '.join(names)}."
            )
            raise UsageProblem(f"There is no tool {tool!r}.{hint}")
        rule = Rule(tool, decision, pattern.strip())
        if lasting:
            magics.services.keep(replace(rule, source="user"))
            where = "From now on, in every session"
        else:
            magics.session.policy = magics.session.policy.with_rule(rule)
            where = "In this session"
        meaning = rule_meaning(rule) if tool == "run_shell" else ""
        return f"{where}: {rule}{_overruled(magics, rule)}\n{meaning}".rstrip()

    return run


def _without_flag(words: str, flag: str) -> tuple[str, bool]:
    """The words without a flag at their beginning or end, and whether it was there."""
    parts = words.split(" ")
    if parts[0] == flag:
        return " ".join(parts[1:]).strip(), True
    if parts[-1] == flag:
        return " ".join(parts[:-1]).strip(), True
    return words, False


def _drop(magics: Controls, words: str) -> str:
    tool, _, pattern = words.partition(" ")
    if not tool:
        raise UsageProblem("%agent policy drop needs a tool's name; see %agent policy.")
    pattern = pattern.strip()
    mine = [
        r
        for r in magics.session.policy.from_source("session")
        if (r.tool, r.pattern) == (tool, pattern)
    ]
    kept = tuple(r for r in magics.session.policy.from_source("session") if r not in mine)
    magics.session.policy = magics.session.policy.replacing("session", kept)
    lasting = magics.services.drop(Rule(tool, "ask", pattern))
    shown = f"{tool} {pattern}".strip()
    if not mine and not lasting:
        raise UsageProblem(
            f"There is no rule for {shown!r} to drop; those of config.yaml are changed there."
        )
    where = " and ".join(
        name for name, there in (("this session", mine), ("your lasting rules", lasting)) if there
    )
    return f"Dropped from {where}: {shown}"


def _overruled(magics: Controls, rule: Rule) -> str:
    """What to add when a stricter rule makes the new one idle."""
    if rule.decision == "deny":
        return ""
    commands = (
        read_command(rule.pattern, magics.services.workspace)
        if rule.tool == "run_shell" and rule.pattern
        else None
    )
    facts = CallFacts(rule.tool, "control", rule.pattern, commands=commands)
    verdict = magics.policy().judge(facts)
    return f" (but it stays denied: {verdict.reason})" if verdict.decision == "deny" else ""


def policy(magics: Controls, words: str) -> View | str:
    """Show the rules, or drop the session's own."""
    if words == "reset":
        magics.session.policy = magics.session.policy.replacing("session", ())
        return "The rules of this session are gone; defaults and configuration files are in force."
    if words.partition(" ")[0] == "drop":
        return _drop(magics, words.partition(" ")[2].strip())
    no_words("policy", words)
    rules = magics.policy().rules
    rows = [(r.decision, r.tool, r.pattern or "(any)", r.skill, r.source) for r in rules]
    notes = [
        "A deny wins; then this session, then a project's ask, then your configuration, then the "
        f"mode ({magics.policy().mode}), then the default of the tool's effect (read: allow; "
        "write, run, fetch, bundled: ask).",
        reading_note(),
        "Change: %agent allow|ask|deny TOOL [PATTERN] [--always]; take back: %agent policy drop "
        "TOOL [PATTERN]; all of this session's: %agent policy reset",
    ]
    heads = ("decision", "tool", "pattern", "skill", "from")
    return table_view(
        "Rules beyond the defaults" if rows else "No rules beyond the defaults", heads, rows, notes
    )


def mode(magics: Controls, words: str) -> str:
    """Show or choose the mode."""
    if words:
        if words not in MODES:
            raise UsageProblem(f"There is no mode {words!r}; there are: {', '.join(MODES)}.")
        magics.use_mode(words)
    now = magics.policy().mode
    others = "\n".join(f"  {name}: {text}" for name, text in MODES.items() if name != now)
    return f"Mode {now}: {MODES[now]}.\nOthers, with %agent mode NAME:\n{others}"
