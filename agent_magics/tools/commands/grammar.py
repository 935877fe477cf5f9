"""The grammar of bash: the one module that knows tree-sitter.

Owns the way from a command's text to the words of every simple command in it, wherever it stands.
It is an optional extra (`shell`); without it, nothing is read here and whoever asks is told so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_magics.commandline import ANY
from agent_magics.tools.commands.words import loose_word

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMANDS = frozenset(("command", "declaration_command", "unset_command"))
_EXPANSIONS = frozenset(
    (
        *("simple_expansion", "expansion", "command_substitution", "process_substitution"),
        *("arithmetic_expansion", "ansi_c_string", "translated_string", "brace_expression"),
    )
)
_REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command as the grammar sees it.

    Args:
        words: With `ANY` for what only the shell will know; without assignments.
        assigned: The values of assignments before it.
        input: The text that a here-document or a here-string gives it.
        fed: Whether it stands in a pipe behind another one.
    """

    words: tuple[str, ...]
    assigned: tuple[str, ...] = ()
    input: str = ""
    fed: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """All commands of a text, in its order.

    Args:
        commands: Also those in substitutions, functions and blocks.
        broken: Whether some of the text could not be read.
    """

    commands: tuple[Command, ...]
    broken: bool


def engine() -> str:
    """The name of what reads commands, or the empty text when the extra is not installed."""
    return "" if read_tree("true") is None else "tree-sitter-bash"


def read_tree(text: str) -> Reading | None:
    """Every command in a text; None when the extra is not installed."""
    try:
        import tree_sitter
        import tree_sitter_bash

        language = tree_sitter.Language(tree_sitter_bash.language())
    except (ImportError, ValueError):
        # Not installed, or two versions that do not fit together.
        return None
    source = text.encode("utf-8", "replace")
    root = tree_sitter.Parser(language).parse(source).root_node
    commands: list[Command] = []
    for node in _nodes(root):
        if node.type in _COMMANDS and node.is_named:
            command = _command(node, source)
            if command.words:
                commands.append(command)
    return Reading(tuple(commands), broken=root.has_error)


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text, without recursion: nesting may be deep."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _command(node: Node, source: bytes) -> Command:
    words: list[str] = []
    assigned: list[str] = []
    given: list[str] = []
    for child in _parts(node):
        if child.type == "variable_assignment" and node.type == "command":
            assigned.append(_word(child, source))
        elif child.type in _REDIRECTS:
            further = _redirected(child, source, given)
            words.extend(further)
        elif child.type != "comment":
            words.append(_word(child, source))
    return Command(tuple(words), tuple(assigned), "\n".join(given), _fed(node))


def _parts(node: Node) -> Iterator[Node]:
    """What belongs to a command: its children, and redirections written around it."""
    yield from node.children
    outer = node.parent
    if outer is not None and outer.type == "redirected_statement":
        yield from (child for child in outer.children if child.type in _REDIRECTS)


def _redirected(node: Node, source: bytes, given: list[str]) -> list[str]:
    """Words that the grammar counts to a redirection although they follow its target."""
    if node.type == "herestring_redirect":
        given.extend(_word(child, source) for child in node.named_children[:1])
        return []
    if node.type == "heredoc_redirect":
        bodies = [child for child in node.children if child.type == "heredoc_body"]
        given.extend(_text(body, source) for body in bodies)
        return [_word(child, source) for child in node.children_by_field_name("argument")]
    targets = node.children_by_field_name("destination")
    return [_word(child, source) for child in targets[1:]]


def _fed(node: Node) -> bool:
    """Whether the command, or a block it is in, reads from a pipe."""
    depth = 0
    while (outer := node.parent) is not None and depth < 100:
        if outer.type == "pipeline" and outer.children[0] != node:
            return True
        if outer.type in ("program", "command_substitution", "process_substitution"):
            return False
        node, depth = outer, depth + 1
    return depth >= 100


def _word(node: Node, source: bytes) -> str:
    return loose_word(_text(node, source))


def _text(node: Node, source: bytes) -> str:
    """The node's text with `ANY` in the place of each expansion."""
    pieces, at = [], node.start_byte
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in _EXPANSIONS:
            pieces.append(source[at : inner.start_byte].decode("utf-8", "replace"))
            pieces.append(ANY)
            at = inner.end_byte
        else:
            waiting.extend(reversed(inner.children))
    pieces.append(source[at : node.end_byte].decode("utf-8", "replace"))
    return "".join(pieces)
