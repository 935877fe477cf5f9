"""A server's question to the person, on the card of a call: fields to fill in, or a yes.

Owns what the person sees and what of their answer is sent. The question is never answered by a
model, by an option, or by silence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace

from agent_magics.coercion import coerced
from agent_magics.events import Question
from agent_magics.messages import JSON, Display, ToolCall
from agent_magics.plain import visible
from agent_magics.ports import Approver
from agent_magics.tools.checking import check
from agent_magics.tools.mcp.shapes import safe_schema
from agent_magics.tools.mcp.values import Elicit, Elicitation, Elicited

NAME = "mcp_question"
"""The name under which the question stands on the card."""
MESSAGE = 2_000
"""Characters of the server's words that are shown."""
TRIES = 5
"""How often an answer that does not fit is asked for again."""
_EMPTY: Mapping[str, JSON] = {
    "string": "",
    "boolean": False,
    "integer": 0,
    "number": 0,
    "array": [],
}


class Desk:
    """Puts questions of one call to the person, on the loop of the call's own cell.

    Args:
        server: Its name, for the card.
        approver: Asks the person; None: nobody can be asked.
    """

    def __init__(self, server: str, approver: Approver | None) -> None:
        self._server = server
        self._approver = approver
        self._loop = asyncio.get_running_loop()
        self._open: list[Future[Elicited]] = []
        self._closed = False

    @property
    def elicit(self) -> Elicit:
        """For the servers' own thread."""

        async def elicit(question: Elicitation) -> Elicited:
            asked = asyncio.run_coroutine_threadsafe(self._put(question), self._loop)
            self._open.append(asked)
            if self._closed:
                asked.cancel()  # it was closed on the other thread, which did not see this one
            try:
                return await asyncio.wrap_future(asked)
            except asyncio.CancelledError:
                if not asked.cancelled():
                    raise  # the server took its question back
                return Elicited("cancel")
            finally:
                self._open.remove(asked)

        return elicit

    def close(self) -> None:
        """Take back the questions that are still open: their call is over."""
        self._closed = True
        for asked in tuple(self._open):
            asked.cancel()

    async def _put(self, elicitation: Elicitation) -> Elicited:
        if self._approver is None or elicitation.url:
            # An address that a stranger sends somebody to is a trap as often as not.
            return Elicited("decline")
        schema = safe_schema(elicitation.schema)
        question = _question(self._server, elicitation.message, schema)
        for _ in range(TRIES):
            answer = await self._approver.ask(question)
            if not answer.allowed:
                gone = answer.by in ("nobody", "timeout", "interrupt")
                return Elicited("cancel" if gone else "decline")
            text = answer.arguments or question.call.arguments
            content = coerced(schema, json.loads(text))
            problem = check(schema, content)
            if not problem:
                return Elicited("accept", content)
            call = replace(question.call, arguments=text)
            question = replace(question, call=call, reason=f"this does not fit: {problem}")
        return Elicited("cancel")


def _question(server: str, message: str, schema: Mapping[str, JSON]) -> Question:
    fields: Mapping[str, Mapping[str, JSON]] = schema["properties"]
    required = schema.get("required", ())
    # An empty text is no e-mail address: what may be left out is, until the person adds it.
    begun = {n: _begun(p) for n, p in fields.items() if n in required or "default" in p}
    call = ToolCall("mcp", NAME, json.dumps(begun, ensure_ascii=False, indent=1))
    shown = [f"The MCP server {visible(server)} asks:", visible(message[:MESSAGE])]
    shown += [_line(name, part, name in required) for name, part in fields.items()]
    how = "Edit the values, then answer." if fields else "Yes, or no."
    shown.append(f"{how} Your answer goes to this server. Never give it a password or a key.")
    return Question(
        call,
        f"a question of the MCP server {visible(server)}",
        (Display("text", "\n".join(shown)),),
        reason="the server wants to know something from you",
        origin=f"MCP server {visible(server)}",
        # So that neither an option nor a reviewer model answers in the person's place.
        outside=True,
        heading="Answer this?",
        editable=bool(fields),
    )


def _begun(part: Mapping[str, JSON]) -> JSON:
    """What a field holds before the person fills it in."""
    if "default" in part:
        return part["default"]
    choices = part.get("enum")
    return choices[0] if choices else _EMPTY.get(str(part.get("type")), "")


def _line(name: str, part: Mapping[str, JSON], required: bool) -> str:
    kind = str(part.get("type", "anything"))
    if found := _choices(part):
        kind = f"one of {', '.join(found)}"
    elif isinstance(part.get("items"), Mapping) and (found := _choices(part["items"])):
        kind = f"a list of: {', '.join(found)}"
    said = " ".join(filter(None, (part.get("title"), part.get("description"))))
    may = "" if required else ", may be left out"
    return visible(f"  {name}: {kind}{may}{f' ({said})' if said else ''}")


def _choices(part: Mapping[str, JSON]) -> list[str]:
    """The values that a field may have, with their titles where they have some."""
    if part.get("enum"):
        return [str(value) for value in part["enum"]]
    branches = part.get("oneOf") or part.get("anyOf") or ()
    return [
        f"{b['const']} ({b['title']})" if b.get("title") else str(b["const"])
        for b in branches
        if "const" in b
    ]
