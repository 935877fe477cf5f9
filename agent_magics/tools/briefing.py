"""Tools as a small model gets them: one line each, few of them, and paths that stay relative.

One-line descriptions save a third of the prompt at the same success; a result that names the
absolute path of the workspace makes small models use absolute paths from then on. Changes what is
said, never what a call may do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from agent_magics.codeblocks import RUNS
from agent_magics.errors import ToolError
from agent_magics.messages import JSON, Assistant, Conversation, Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.documents import MAX_WHOLE, opened
from agent_magics.tools.workspace import Workspace

CORE = frozenset(("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python"))
"""What is always offered, where it is there at all."""

CALLED_FOR: Mapping[str, str] = {
    "delete": r"delet|remov|löschen|supprim|elimin",
    "move": r"\bmov(e|ing)|renam|umbenenn|renomm|renombr",
    "fetch": r"https?://|\bweb\b|\burl\b|internet|download",
    "variables": r"variabl|data ?frame|\bdf\b|namespace|kernel",
    "notebook_outline": r"notebook|\.ipynb|\bcells?\b",
    "notebook_read": r"notebook|\.ipynb|\bcells?\b",
    "notebook_edit": r"notebook|\.ipynb",
    "propose_cell": r"propose|next cell|new cell|write (me )?a cell",
    "memory_read": r"remember|memor|\bnotes?\b",
    "memory_write": r"remember|memor",
    "todo": r"\bplan\b|step by step",
    "delegate": r"delegat|sub-?agent",
}
"""Words of a prompt for which further built-in tools are offered."""

_LONGEST_HINT = 60
NOTHING = "(no output)"
NOTHING_PRINTED = (
    "(it ran without an error and printed nothing; a value that is asked for must be printed)"
)
"""What small models take for a failure, and how it is told to them."""
BLOCK = "Instead of JSON, end your message with a ```python block of code that prints the result."


def called_for(
    tools: Sequence[Tool], builtins: Collection[str], prompt: str, conversation: Conversation
) -> tuple[Tool, ...]:
    """The tools that a request to a small model offers.

    Skills' and foreign tools all stay, and so do built-in ones that were used before.

    Args:
        tools: The effective tools of the turn.
        builtins: Names of the built-in ones.
        prompt: The person's words.
        conversation: What came before.
    """
    used = {call.name for m in conversation if isinstance(m, Assistant) for call in m.calls}

    def wanted(name: str) -> bool:
        if name in CORE or name in used or name not in builtins:
            return True
        words = CALLED_FOR.get(name, "")
        return bool(words) and re.search(words, prompt, re.IGNORECASE) is not None

    return tuple(tool for tool in tools if wanted(tool.name))


def brief(tool: Tool, folder: Callable[[], str]) -> Tool:
    """The tool with one line of description, and results that name paths relative to the folder.

    Args:
        tool: Any.
        folder: Gives the workspace's real path.
    """

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        try:
            output = await tool.run(arguments, report)
        except ToolError as error:
            raise ToolError(relative(str(error), folder())) from None
        text = relative(output.text, folder())
        if output.ok and text.startswith(NOTHING):
            text = NOTHING_PRINTED + text.removeprefix(NOTHING)
        return replace(output, text=text)

    first = tool.description.strip().partition("\n")[0]
    if tool.name == RUNS and not tool.skill:
        first = f"{first} {BLOCK}"
    return replace(tool, description=first, parameters=_short(tool.parameters), run=run)


def reading_first(tool: Tool, workspace: Workspace) -> Tool:
    """`edit` as a tool that reads a file by itself which the model has not read.

    Small models edit what they know from the prompt. The old text must still be there, exactly
    and once, so nothing is changed that the model has not named.
    """
    if tool.name != "edit" or tool.skill:
        return tool

    def look(arguments: Arguments) -> None:
        with suppress(OSError, ToolError):
            path = workspace.resolve(arguments["path"])
            if not workspace.was_read(path) and not workspace.guarded(path, write=False):
                with opened(path, workspace.shown(path)) as file:
                    workspace.note(path, file.read(MAX_WHOLE))

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        look(arguments)
        return tool.preview(arguments)

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        await asyncio.to_thread(look, arguments)
        return await tool.run(arguments, report)

    return replace(tool, preview=preview, run=run)


def relative(text: str, folder: str) -> str:
    """The text with paths in the folder as relative ones, and the folder itself as a dot."""
    if len(folder) < 2:
        return text
    inside = re.sub(rf"(?<![\w./-]){re.escape(folder)}/(?=[\w.])", "", text)
    return re.sub(rf"(?<![\w./-]){re.escape(folder)}(?![\w.-])/?", ".", inside)


def _short(parameters: Mapping[str, JSON]) -> dict[str, JSON]:
    """The schema without the long texts; what is allowed stays the same."""
    required = parameters.get("required") or ()
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return dict(parameters)
    short = {name: _property(schema, name in required) for name, schema in properties.items()}
    return {**parameters, "properties": short}


def _property(schema: JSON, needed: bool) -> JSON:
    if not isinstance(schema, Mapping):
        return schema
    hint = schema.get("description")
    if needed and isinstance(hint, str) and len(hint) <= _LONGEST_HINT:
        return dict(schema)
    return {key: value for key, value in schema.items() if key != "description"}
