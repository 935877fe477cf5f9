"""A model: an object with a name, and `stream`, which yields one `Assistant` at the end.

This one shouts what it hears, and counts the words of a file that is named in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent_magics.errors import ModelError
from agent_magics.events import TextDelta
from agent_magics.messages import Assistant, ToolCall, ToolResult, Usage, User
from agent_magics.ports import Request, Streamed


@dataclass(frozen=True)
class Shouting:
    """Answers in capitals."""

    name: str

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Answer once; raises only `ModelError`."""
        usage = Usage(input=10, output=5, requests=1)
        last = request.conversation[-1]
        named = re.search(r"\S+\.txt", last.text) if isinstance(last, User) else None
        if named and any(tool.name == "count_words" for tool in request.tools):
            arguments = json.dumps({"file": named[0]})
            yield Assistant("", (ToolCall("count", "count_words", arguments),), "calls", usage)
            return
        text = last.text.upper() if isinstance(last, User | ToolResult) else "?"
        yield TextDelta(text)
        yield Assistant(text, usage=usage)


def model(name: str) -> Shouting:
    """The model for `%agent model example:NAME`."""
    if name != "shout":
        raise ModelError(f"There is no model {name!r}; there is: shout.")
    return Shouting(name)
