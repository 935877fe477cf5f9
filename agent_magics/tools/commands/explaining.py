"""What a rule for commands means, in a sentence for the person who just made it."""

from __future__ import annotations

from agent_magics.commandline import command_pattern
from agent_magics.policy import Rule
from agent_magics.tools.commands.grammar import engine
from agent_magics.tools.commands.lexing import NotPlain, read_plain
from agent_magics.tools.commands.programs import limit


def rule_meaning(rule: Rule) -> str:
    """What to know about an *allow* for `run_shell`; empty for the other decisions."""
    if rule.decision != "allow":
        return ""
    if not rule.pattern:
        return "This allows every command, whatever it does, until %agent policy reset."
    pattern = command_pattern(rule.pattern)
    if not pattern.wild:
        return _exact_meaning(rule.pattern)
    program = pattern.pieces[0].split("\x1f")[0]
    if pattern.whole:
        return (
            "This allows nothing: a pattern with * is matched with one simple command at a time, "
            "and no simple command holds an operator. Make a rule for each command."
        )
    if not program:
        if rule.pattern != "*":
            return "This allows every plain command that the text fits, of any program."
        return (
            "This allows every plain command of any program, rm included. Substitutions, "
            "redirections and programs that run other ones still ask."
        )
    if "\x1f" not in pattern.pieces[0]:
        return f"This allows every command whose name begins with {program}, with any words."
    why = limit((program,))
    if why:
        return f"No pattern with * can allow this: {why}. Give the whole command."
    if len(pattern.pieces) == 2 and pattern.pieces[0] == f"{program}\x1f":
        return f"This allows {program} with any words{_wide(program)}."
    return ""


def _wide(program: str) -> str:
    """What is easily forgotten about a program's other commands."""
    if program == "git":
        return ": push, reset --hard and clean too; options that run programs still ask"
    return ""


def _exact_meaning(command: str) -> str:
    try:
        read_plain(command)
    except NotPlain as reason:
        return f"Such a command asks each time all the same: {reason}."
    return ""


def reading_note() -> str:
    """How commands are read here, for the list of rules."""
    if engine():
        return (
            "Commands of run_shell are parsed: a pattern allows a line if each simple command in "
            "it is allowed, and nothing in it is substituted or redirected."
        )
    return (
        "Commands of run_shell are not parsed here: a pattern allows single plain commands only, "
        "everything else asks. To have them parsed: %pip install 'agent_magics[shell]'"
    )
