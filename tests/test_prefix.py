"""What is sent stays a byte-identical prefix of what is sent next, over a whole session."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from pathlib import Path

from agent_magics.calls import Limits
from agent_magics.context import ActiveSkill, system_prompt
from agent_magics.messages import Image
from agent_magics.policy import Policy
from agent_magics.providers.openai import Endpoint, OpenAIModel
from agent_magics.session import Session
from agent_magics.skill import Skill
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.checking import check
from agent_magics.turn import Turn
from tests.fake import FakeServer
from tests.turns import NUMBER, Log, Person

PIXEL = Image("image/png", "iVBORw0KGgo=")


def rendered(body: bytes) -> str:
    """A prompt in the order in which providers render it: tools, then messages."""
    request = json.loads(body)
    parts = [json.dumps(request.get("tools"))]
    parts.extend(json.dumps(message) for message in request["messages"])
    return "\n".join(parts)


def test_a_session_with_a_skill_instructions_and_images_keeps_its_prefix():
    async def look(arguments: Arguments, report: Report) -> ToolOutput:
        return ToolOutput(f"seen {arguments['n']}", images=(PIXEL,))

    tool = Tool("look", "Look at a number.", NUMBER, "read", look)
    skill = ActiveSkill(Skill("explore", "d", "Look first.", Path("/skills/explore")))
    system = system_prompt("<file>Money is in cents.</file>", [skill])

    async def session(url: str) -> None:
        model = OpenAIModel("fake", endpoint=Endpoint(url, "x"))
        talk = Session()
        turn = Turn(model, system, (tool,), (), Policy(), Person(), check, time.monotonic, Limits())
        try:
            for prompt in ("One.", "Two.", "Three."):
                await talk.ask(prompt, turn, Log())
        finally:
            await model.aclose()

    with FakeServer() as server:
        scenario = server.scenario(turns=4, tool="look", final=10)
        asyncio.run(session(scenario.url))
        bodies = [rendered(body) for body in scenario.bodies]
        assert scenario.protocol_errors == []
    assert len(bodies) >= 6
    for before, after in itertools.pairwise(bodies):
        assert after.startswith(before)
    assert any("image_url" in body for body in bodies)
