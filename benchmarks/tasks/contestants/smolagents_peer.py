"""smolagents' ToolCallingAgent, as its documentation uses it with another endpoint."""

from __future__ import annotations

from typing import Any

from child import CALLS, instructions, main
from filetools import tools
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool


def work(job: dict[str, Any]) -> str:
    model = OpenAIModel(
        model_id=job["model"],
        api_base=job["base_url"],
        api_key="none",
        client_kwargs={"timeout": 600},
    )
    agent = ToolCallingAgent(
        tools=[tool(each) for each in tools(job["skill"])],
        model=model,
        instructions=instructions(job),
        max_steps=job["requests"],
        verbosity_level=LogLevel.OFF,
    )
    return str(agent.run(job["prompt"]))


main(lambda job: (work(job), list(CALLS)))
