"""The sub-commands of `%agent`, as a table: a new one is one function and one line in it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from agent_magics.errors import UsageProblem
from agent_magics.magics import session_commands
from agent_magics.magics.arguments import no_words
from agent_magics.magics.auditing import audit
from agent_magics.magics.cell import compact_session
from agent_magics.magics.hooks_commands import hooks
from agent_magics.magics.mcp_commands import mcp
from agent_magics.magics.model_commands import model, models, test
from agent_magics.magics.names_commands import undo_names
from agent_magics.magics.permission_commands import decide, mode, policy
from agent_magics.magics.plugins_commands import plugins
from agent_magics.magics.quick_actions import action
from agent_magics.magics.record_commands import record
from agent_magics.magics.reporting import report
from agent_magics.magics.request_log_commands import log
from agent_magics.magics.running import run
from agent_magics.magics.undo_commands import redo, undo
from agent_magics.magics.views import View, table_view

if TYPE_CHECKING:
    from agent_magics.findings import Findings
    from agent_magics.magics.auditing import Audit
    from agent_magics.magics.services import Controls
    from agent_magics.result import TurnResult

Shown: TypeAlias = "View | TurnResult | Findings | Audit | str | None"
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


def reset(magics: Controls, words: str) -> str:
    """Forget the conversation."""
    no_words("reset", words)
    count = len(magics.session.conversation)
    magics.forget(magics.session)
    skills = ", ".join(a.skill.name for a in magics.session.active)
    kept = f" Skill {skills} stays active (%unuse takes it out)." if skills else ""
    return f"The conversation is forgotten ({count} messages).{kept}"


def compact(magics: Controls, words: str) -> str:
    """Shorten the conversation."""
    no_words("compact", words)
    settings = magics.stage_settings()
    before, after = compact_session(magics.session, magics.services, magics.choice(), settings)
    if after >= before:
        return f"The conversation is as it was ({before} tokens): nothing could be won."
    return "The conversation is shorter; the next cell goes on from there."


def last(magics: Controls, words: str) -> TurnResult:
    """The newest turn's result."""
    no_words("last", words)
    result = magics.session.last
    if result is None:
        raise UsageProblem("There is no turn yet; ask something in a %%agent cell first.")
    return result


def findings(magics: Controls, words: str) -> Findings | None:
    """What the newest turn found, with controls where the front end shows some."""
    no_words("findings", words)
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


_RULE = "TOOL [PATTERN] [--always]"

COMMANDS: tuple[Command, ...] = (
    Command("help", "help", "this table", help_view),
    Command("action", "action [ID]", "the quick actions; write one into the next cell", action),
    Command(
        "model",
        "model [NAME|ENDPOINT|ENDPOINT/NAME]",
        "which model answers and why; choose another",
        model,
    ),
    Command("models", "models [ENDPOINT]", "the models that the server lists", models),
    Command("test", "test", "make one small request and explain what is wrong", test),
    Command("allow", f"allow {_RULE}", "run such calls without asking", decide("allow")),
    Command("ask", f"ask {_RULE}", "ask before such calls", decide("ask")),
    Command("deny", f"deny {_RULE}", "never run such calls", decide("deny")),
    Command(
        "mode", "mode [NAME]", "ask, accept-edits, plan or auto, for calls without a rule", mode
    ),
    Command(
        "policy",
        "policy [drop TOOL [PATTERN] | reset]",
        "the rules in force; take some back",
        policy,
    ),
    Command(
        "report",
        "report [--strict]",
        "what was refused or not answered, and what was used; strict: as an error",
        report,
    ),
    Command("audit", "audit FILE.ipynb", "who decided what, from a saved notebook alone", audit),
    Command("last", "last", "the newest turn's result: answer, findings, calls", last),
    Command("run", "run [N]", "run a block of Python of the last answer, shown first", run),
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
    Command(
        "record", "record [FILE | stop]", "record what the model says, to play it again", record
    ),
    Command("delete", "delete ID…", "remove saved sessions for good", session_commands.delete),
    Command(
        "mcp",
        "mcp [start|restart|enable|disable|tools|log|trust …]",
        "MCP servers: what runs and what they offer",
        mcp,
    ),
    Command("hooks", "hooks [remove NAME]", "your checks around calls and turns", hooks),
    Command("plugins", "plugins [check]", "what installed packages bring", plugins),
    Command(
        "log",
        "log [--requests FILE|off]",
        "where this session is saved; write each request and its answer, without keys",
        log,
    ),
)
