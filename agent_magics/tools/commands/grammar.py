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
_OWN_INPUT = frozenset(("command_substitution", "process_substitution"))
_REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
MOST_COMMANDS = 400
"""Commands that are read of one text; with more of them, nobody can say what runs."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command as the grammar sees it.

    Args:
        words: With `ANY` for what only the shell will know; without assignments.
        assigned: The values of assignments before it.
        input: The text that a here-document or a here-string gives it.
        targets: The files of its redirections.
        fed: Whether something but the terminal is its input: a pipe, a file, a here-document.
    """

    words: tuple[str, ...]
    assigned: tuple[str, ...] = ()
    input: str = ""
    targets: tuple[str, ...] = ()
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
    for place in _places(root):
        if place.node.type in _COMMANDS and place.node.is_named:
            command = _command(place, source)
            if command.words:
                commands.append(command)
            if len(commands) > MOST_COMMANDS:
                return Reading(tuple(commands), broken=True)
    return Reading(tuple(commands), broken=root.has_error)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node, and what of its surroundings concerns a command in it.

    Args:
        node: The node.
        fed: Whether it reads from a pipe.
        redirects: Redirections written around it.
    """

    node: Node
    fed: bool = False
    redirects: tuple[Node, ...] = ()


def _places(root: Node) -> Iterator[_Place]:
    """All nodes in the order of the text, without recursion: nesting may be deep."""
    waiting = [_Place(root)]
    while waiting:
        place = waiting.pop()
        yield place
        waiting.extend(reversed([*_inside(place)]))


def _inside(place: _Place) -> Iterator[_Place]:
    kind, children = place.node.type, place.node.children
    if kind == "redirected_statement":
        redirects = tuple(child for child in children if child.type in _REDIRECTS)
        for child in children:
            yield _Place(child, place.fed, () if child.type in _REDIRECTS else redirects)
        return
    fed = place.fed and kind not in _OWN_INPUT
    for number, child in enumerate(children):
        yield _Place(child, fed or (kind == "pipeline" and number > 0))


def _command(place: _Place, source: bytes) -> Command:
    words: list[str] = []
    assigned: list[str] = []
    given: list[str] = []
    targets: list[str] = []
    fed = place.fed
    for child in (*place.node.children, *place.redirects):
        if child.type == "variable_assignment" and place.node.type == "command":
            assigned.append(_word(child, source))
        elif child.type in _REDIRECTS:
            words.extend(_redirected(child, source, given))
            targets.extend(
                _word(n, source) for n in child.children_by_field_name("destination")[:1]
            )
            fed = fed or any(inner.type.startswith("<") for inner in child.children)
        elif child.type != "comment":
            words.append(_word(child, source))
    return Command(tuple(words), tuple(assigned), "\n".join(given), tuple(targets), fed)


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


def _word(node: Node, source: bytes) -> str:
    return loose_word(_text(node, source))


def _text(node: Node, source: bytes) -> str:
    """The node's text with `ANY` in the place of each expansion."""
    if not node.child_count and node.type not in _EXPANSIONS:
        return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
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
