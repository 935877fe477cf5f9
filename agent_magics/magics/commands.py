"""The sub-commands of `%agent`, as a table: a new one is one function and one line in it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from agent_magics.errors import UsageProblem
from agent_magics.magics import session_commands
from agent_magics.magics.background import in_background
from agent_magics.magics.cell import compact_session
from agent_magics.magics.names_commands import undo_names
from agent_magics.magics.quick_actions import action
from agent_magics.magics.reporting import report
from agent_magics.magics.undo_commands import redo, undo
from agent_magics.magics.views import View, table_view
from agent_magics.policy import MODES, CallFacts, Decision, Rule
from agent_magics.tools.commands import read_command
from agent_magics.tools.commands.explaining import reading_note, rule_meaning

if TYPE_CHECKING:
    from agent_magics.findings import Findings
    from agent_magics.magics.services import Controls
    from agent_magics.session import TurnResult

Shown: TypeAlias = "View | TurnResult | Findings | str | None"
Run: TypeAlias = "Callable[[Controls, str], Shown]"


@dataclass(frozen=True, slots=True)
class Command:
    """One sub-command.

    Args:
        name: The word behind `%agent`.
        usage: Its words.
        help: One line.
        run: Does it; a text is printed, a value is returned, None was shown already.
    """

    name: str
    usage: str
    help: str
    run: Run


def help_view(_magics: Controls, _words: str) -> View:
    """The table of commands itself."""
    rows = [(f"%agent {c.usage}".strip(), c.help) for c in COMMANDS]
    return table_view("%agent and its commands", ("command", "what it does"), rows)


def model(magics: Controls, words: str) -> str:
    """Show or choose the model."""
    if words:
        if len(words.split()) > 1:
            raise UsageProblem(f"%agent model takes one name, not {words!r}.")
        magics.use_model(words)
    choice = magics.choice()
    return f"Model: {choice.name} at {choice.where} ({choice.why})"


def test(magics: Controls, words: str) -> str:
    """Make one small request."""
    _no_words("test", words)
    choice = magics.choice()
    if choice.scripted:
        return (
            "No model is configured: the scripted demonstration answers, and there is nothing to "
            "test.\nSet OPENAI_API_KEY or OPENAI_BASE_URL before Jupyter starts, or "
            "%config AgentMagics.base_url = '…' here; then %agent test again."
        )
    from agent_magics.providers.checking import test_connection

    return in_background(lambda: test_connection(choice.make()))


def _decide(decision: Decision) -> Run:
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
    _no_words("policy", words)
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


def reset(magics: Controls, words: str) -> str:
    """Forget the conversation."""
    _no_words("reset", words)
    count = len(magics.session.conversation)
    magics.forget(magics.session)
    skills = ", ".join(a.skill.name for a in magics.session.active)
    kept = f" Skill {skills} stays active (%unuse takes it out)." if skills else ""
    return f"The conversation is forgotten ({count} messages).{kept}"


def compact(magics: Controls, words: str) -> str:
    """Shorten the conversation."""
    _no_words("compact", words)
    settings = magics.stage_settings()
    before, after = compact_session(magics.session, magics.services, magics.choice(), settings)
    if after >= before:
        return f"The conversation is as it was ({before} tokens): nothing could be won."
    return f"The conversation is shorter: about {before} tokens before, {after} now."


def last(magics: Controls, words: str) -> TurnResult:
    """The newest turn's result."""
    _no_words("last", words)
    result = magics.session.last
    if result is None:
        raise UsageProblem("There is no turn yet; ask something in a %%agent cell first.")
    return result


def findings(magics: Controls, words: str) -> Findings | None:
    """What the newest turn found, with controls where the front end shows some."""
    _no_words("findings", words)
    found = last(magics, "").findings
    browsed = bool(found) and magics.services.stage.browse(found, magics.stage_settings())
    return None if browsed else found


def run_command(magics: Controls, line: str) -> Shown:
    """Run what a `%agent` line asks for.

    Raises:
        UsageProblem: There is no such command, or its words are off.
    """
    name, _, words = line.strip().partition(" ")
    for command in COMMANDS:
        if command.name == name:
            return command.run(magics, words.strip())
    near = difflib.get_close_matches(name, [c.name for c in COMMANDS], n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else " See %agent help."
    raise UsageProblem(
        f"%agent has no command {name!r}.{hint} To ask the agent, start the cell with %%agent."
    )


def command_names() -> Sequence[str]:
    """For completion."""
    return [command.name for command in COMMANDS]


def _no_words(name: str, words: str) -> None:
    if words:
        raise UsageProblem(f"%agent {name} takes no words, but got {words!r}.")


_RULE = "TOOL [PATTERN] [--always]"

COMMANDS: tuple[Command, ...] = (
    Command("help", "help", "this table", help_view),
    Command("action", "action [ID]", "the quick actions; write one into the next cell", action),
    Command("model", "model [NAME]", "which model answers and why; choose another", model),
    Command("test", "test", "make one small request and explain what is wrong", test),
    Command("allow", f"allow {_RULE}", "run such calls without asking", _decide("allow")),
    Command("ask", f"ask {_RULE}", "ask before such calls", _decide("ask")),
    Command("deny", f"deny {_RULE}", "never run such calls", _decide("deny")),
    Command(
        "mode", "mode [NAME]", "ask, accept-edits, plan or auto, for calls without a rule", mode
    ),
    Command(
        "policy",
        "policy [drop TOOL [PATTERN] | reset]",
        "the rules in force; take some back",
        policy,
    ),
    Command("report", "report [--strict]", "calls that were refused; strict: as an error", report),
    Command("last", "last", "the newest turn's result: answer, findings, calls", last),
    Command("findings", "findings", "what the newest turn found, to sort and filter", findings),
    Command("compact", "compact", "shorten the conversation, keeping what matters", compact),
    Command("undo", "undo [list|N] [--yes] [--force]", "take back a cell's file changes", undo),
    Command("redo", "redo [--yes] [--force]", "take the last undo back", redo),
    Command(
        "undo-names",
        "undo-names [forget]",
        "give variables that a cell's code rebound their objects back",
        undo_names,
    ),
    Command("reset", "reset", "forget the conversation", reset),
    Command(
        "sessions",
        "sessions [WORDS]",
        "the saved sessions; search in them",
        session_commands.sessions,
    ),
    Command(
        "resume",
        "resume [ID|NAME]",
        "go on with a saved session; the newest of this folder",
        session_commands.resume,
    ),
    Command("fork", "fork [NAME]", "go on in a copy of this session", session_commands.fork),
    Command("rename", "rename NAME", "give this session a name", session_commands.rename),
    Command(
        "export",
        "export FILE [ID] [--force]",
        "write a session as .md, .html, .ipynb or .json",
        session_commands.export,
    ),
    Command("delete", "delete ID…", "remove saved sessions for good", session_commands.delete),
    Command("log", "log", "where this session is saved, and how large it is", session_commands.log),
)
