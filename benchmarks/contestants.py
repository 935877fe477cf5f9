"""One agent session with the tool `ping` against the rig's server: ours, and the bare client's.

Each function takes the same words and returns the final text and the numbers that `ping` was
called with. The bare one is the shortest loop that works with the `openai` package, without any
handling of errors: what it costs is the client's own cost.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field, replace

from agent_magics.calls import Limits
from agent_magics.errors import ModelError
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.providers.endpoint import Endpoint, Timeouts
from agent_magics.providers.openai import OpenAIModel
from agent_magics.session import Session
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.checking import check
from agent_magics.turn import Turn

PAD = "x" * 200
PROMPT = "Call ping until told to stop, then say DONE."
SYSTEM = "You are a test agent. " + "Be exact. " * 50
PARAMETERS = {
    "type": "object",
    "properties": {"n": {"type": "integer", "description": "number"}},
    "required": ["n"],
}


@dataclass
class Run:
    """What one session did."""

    calls: list[int] = field(default_factory=list)
    final: str = ""

    def ping(self, n: int) -> str:
        self.calls.append(n)
        return f"pong {n} {PAD}"


class Nobody:
    async def ask(self, question: object) -> Answer:
        return Answer(False, "nobody")


class Silent:
    def show(self, event: object) -> None:
        pass


def ours(base_url: str, stream: bool, timeout: float = 60, turns: int = 500) -> Run:
    """The product's own loop, session and client."""
    run = Run()

    async def ping(arguments: Arguments, report: Report) -> ToolOutput:
        return ToolOutput(run.ping(arguments["n"]))

    async def main() -> None:
        endpoint = Endpoint(base_url, "x", stream=stream)
        endpoint = replace(endpoint, timeout=Timeouts(timeout, timeout, timeout))
        model = OpenAIModel("fake", endpoint=endpoint)
        tool = Tool("ping", "Ping the host n.", PARAMETERS, "run", ping)
        policy = Policy((Rule("ping", "allow"),))
        turn = Turn(
            model, SYSTEM, (tool,), (), policy, Nobody(), check, time.monotonic, Limits(turns)
        )
        session = Session()
        try:
            result = await session.ask(PROMPT, turn, Silent())
            run.final = result.text
            if result.reason != "answered":
                raise ModelError(f"the turn ended otherwise: {result.reason}")
        finally:
            await model.aclose()

    asyncio.run(main())
    return run


def bare(base_url: str, stream: bool, timeout: float = 60, turns: int = 500) -> Run:
    """The `openai` package and the shortest loop around it."""
    from openai import OpenAI

    run = Run()
    client = OpenAI(base_url=base_url, api_key="x", timeout=timeout)
    schema = {
        "type": "function",
        "function": {"name": "ping", "description": "Ping the host n.", "parameters": PARAMETERS},
    }
    messages: list = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    for _ in range(turns):
        text, calls = (_streamed if stream else _whole)(client, messages, [schema])
        if not calls:
            run.final = text
            return run
        for call in calls:
            result = run.ping(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return run


def _whole(client, messages, tools):
    answer = client.chat.completions.create(model="fake", messages=messages, tools=tools)
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    return message.content, messages[-1].get("tool_calls") or []


def _streamed(client, messages, tools):
    text, calls = "", {}
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model="fake", messages=messages, tools=tools, stream=True, stream_options=options
    ):
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for piece in delta.tool_calls or []:
            empty = {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}}
            call = calls.setdefault(piece.index, empty)
            call["function"]["name"] += piece.function.name or ""
            call["function"]["arguments"] += piece.function.arguments or ""
    message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = list(calls.values())
    messages.append(message)
    return text, list(calls.values())


CONTESTANTS = {"agent_magics": ours, "bare client": bare}
