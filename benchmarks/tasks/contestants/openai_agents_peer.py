"""openai-agents, as its documentation uses it with another endpoint."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from child import CALLS, instructions, main
from filetools import tools
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def work(job: dict[str, Any]) -> str:
    client = AsyncOpenAI(base_url=job["base_url"], api_key="none", timeout=600)
    model = OpenAIChatCompletionsModel(model=job["model"], openai_client=client)
    agent = Agent(
        name="worker",
        instructions=instructions(job),
        model=model,
        tools=[function_tool(tool) for tool in tools(job["skill"])],
    )
    result = await Runner.run(agent, job["prompt"], max_turns=job["requests"])
    return str(result.final_output)


main(lambda job: (asyncio.run(work(job)), list(CALLS)))
