"""Blocks of Python in a small model's answer: which one is the call that it should have been. Pure.

Owns what counts as such a call. It is judged and approved like every other one; here it is only
settled what the model meant. Runs nothing.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

from agent_magics.messages import Assistant, Conversation, Message, ToolCall, ToolResult, User
from agent_magics.tool import Tool

_BLOCK = re.compile(
    r"^```(?:python|py)[ \t]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.IGNORECASE | re.DOTALL
)
_WANTED = re.compile(
    r"\b(?:code|snippet|function|script|program|example|implement|how (?:do|can|could|would|to)|"
    r"write|show)\b",
    re.IGNORECASE,
)
"""Words of requests that code may be the answer to."""
_SHOWN = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Assign, ast.AnnAssign, ast.Pass,
)  # fmt: skip
RUNS = "python"
"""The built-in tool that a block of code is meant for."""


def run_instead(
    answer: Assistant, request: str, tools: Sequence[Tool], conversation: Conversation = ()
) -> Assistant:
    """The answer with its block of Python as the call that it should have been; else as it is.

    Small models write better code in a block than as a text in JSON, and often leave it at that.
    A block counts if it does something (definitions and assignments alone are quoted or shown), if
    nothing in the request asks for code, and if it is the model's own: code that stands in a file
    or a result is quoted, and is never run because it was.

    Args:
        answer: Without a call.
        request: The person's words.
        tools: Those that were offered.
        conversation: What the model has read.
    """
    offered = any(tool.name == RUNS and not tool.skill for tool in tools)
    if not offered or answer.calls or answer.stop != "end" or _WANTED.search(request):
        return answer
    block = _BLOCK.search(answer.text)
    if block is None or not _does_something(block.group(1)):
        return answer
    if _quoted(block.group(1), conversation):
        return answer
    call = ToolCall("", RUNS, json.dumps({"code": block.group(1).rstrip()}), written=True)
    return replace(answer, text=answer.text[: block.start()].rstrip(), calls=(call,), stop="calls")


def _does_something(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(statement, _SHOWN) for statement in statements)


def _quoted(code: str, conversation: Conversation) -> bool:
    """Whether each line of the code stands in what was attached or came back from tools."""
    texts = [text for message in conversation for text in _data(message)]
    read = {_bare(line) for text in texts for line in text.splitlines()}
    return all(_bare(line) in read for line in code.splitlines() if line.strip())


def _data(message: Message) -> Sequence[str]:
    match message:
        case User(attachments=attachments):
            return [item.text for item in attachments]
        case ToolResult(text=text):
            return [text]
        case _:
            return []


def _bare(line: str) -> str:
    """A line without what a page, a search, a diff or a prompt puts before it, and its indent."""
    return re.sub(r"^(?:[\w./-]*:?\s*\d+[|:-]|[+-])?\s*(?:>>> |\.\.\. )?", "", line).strip()
