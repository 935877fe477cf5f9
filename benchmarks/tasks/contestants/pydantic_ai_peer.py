"""pydantic-ai, as its documentation uses it with another endpoint."""

from __future__ import annotations

import asyncio
from typing import Any

from child import CALLS, instructions, main
from filetools import tools
from openai import AsyncOpenAI
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def work(job: dict[str, Any]) -> str:
    client = AsyncOpenAI(base_url=job["base_url"], api_key="none", timeout=600)
    model = OpenAIChatModel(job["model"], provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, instructions=instructions(job), tools=tools(job["skill"]))
    limits = UsageLimits(request_limit=job["requests"])
    return str((await agent.run(job["prompt"], usage_limits=limits)).output)


main(lambda job: (asyncio.run(work(job)), list(CALLS)))
