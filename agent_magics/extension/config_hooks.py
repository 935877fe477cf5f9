"""The key `hooks` of the user's configuration: commands that are told of calls and turns.

    hooks:
      before_call:
        - command: [python3, no_secrets.py]  # run in the folder of this file
          tools: write edit                  # default: all
          timeout: 10                        # seconds
          name: no secrets                   # default: the program's name
      turn_end:
        - command: [notify-send, agent, done]
          folder: workspace                  # run there instead
          variables: [SLACK_TOKEN]           # pass on although it looks like a secret

A project's file cannot have it: it would run a stranger's program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.extension.config_reader import Reader
from agent_magics.hooks.hook import POINTS, SECONDS, Hook, HookCommand, checked_hook

if TYPE_CHECKING:
    import yaml

_KEYS = ("command", "tools", "timeout", "name", "folder", "variables")


def read_hooks(reader: Reader, node: yaml.Node, folder: Path) -> tuple[Hook, ...]:
    """The hooks; what is off is noted with its line, and left out.

    Args:
        reader: Of the user's file.
        node: What stands behind `hooks`.
        folder: The file's own, where commands run unless they say.
    """
    found: list[Hook] = []
    for point, value in reader.mapping(node, "hooks").items():
        if point not in POINTS:
            reader.wrong(value, f"there is no hook point {point!r}; there are: {', '.join(POINTS)}")
            continue
        for item in reader.items(value, f"hooks.{point}"):
            hook = _hook(reader, item, point, folder, {(h.point, h.name) for h in found})
            if hook is not None:
                found.append(hook)
    return tuple(found)


def _hook(
    reader: Reader, node: yaml.Node, point: str, folder: Path, taken: set[tuple[str, str]]
) -> Hook | None:
    before = len(reader.problems)
    entries = reader.mapping(node, f"a hook of {point}")
    for name, value in entries.items():
        if name not in _KEYS:
            reader.wrong(value, f"unknown key {name!r} of a hook; there are: {', '.join(_KEYS)}")
    if "command" not in entries:
        reader.wrong(node, "a hook needs command: [PROGRAM, ARGUMENT …]")
    if len(reader.problems) > before:
        return None
    words = _words(reader, entries["command"])
    command = HookCommand(
        words,
        _folder(reader, entries.get("folder"), folder),
        reader.texts(entries["variables"], "variables") if "variables" in entries else (),
    )
    program = Path(words[0]).name if words else ""
    name = reader.text(entries["name"], "name") if "name" in entries else program
    tools = _tools(reader, entries["tools"]) if "tools" in entries else ()
    timeout = _seconds(reader, entries["timeout"]) if "timeout" in entries else SECONDS
    if len(reader.problems) > before:
        return None
    while (point, name) in taken:
        head, _, number = name.rpartition(" #")
        name = f"{head} #{int(number) + 1}" if head and number.isdecimal() else f"{name} #2"
    try:
        return checked_hook(point, name, command, tools, timeout)
    except UsageProblem as problem:
        reader.wrong(node, str(problem))
        return None


def _words(reader: Reader, node: yaml.Node) -> tuple[str, ...]:
    """The program and its arguments; `~/` at the beginning of one is the home folder."""
    words = tuple(
        str(Path(word).expanduser()) if word.startswith("~/") else word
        for word in reader.texts(node, "command")
    )
    if not words or not words[0]:
        reader.wrong(node, "a hook's command is a list of the program and its arguments")
    elif "/" in words[0] and not Path(words[0]).is_absolute():
        reader.wrong(
            node, f"{words[0]!r}: name the program by its whole path, or by a name on PATH"
        )
    elif any("\0" in word for word in words):
        reader.wrong(node, "a hook's command cannot hold a NUL character")
    return words


def _folder(reader: Reader, node: yaml.Node | None, folder: Path) -> Path | None:
    if node is None:
        return folder
    word = reader.text(node, "folder")
    if word == "workspace":
        return None
    path = Path(word).expanduser()
    if not path.is_absolute():
        reader.wrong(node, "folder is `workspace` or a whole path")
    return path


def _tools(reader: Reader, node: yaml.Node) -> tuple[str, ...]:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return reader.texts(node, "tools")
    return tuple(reader.text(node, "tools").split())


def _seconds(reader: Reader, node: yaml.Node) -> float:
    try:
        return float(reader.text(node, "timeout"))
    except ValueError:
        reader.wrong(node, "timeout must be a number of seconds")
        return SECONDS
