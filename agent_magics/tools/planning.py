"""The tool `todo`: a plan of the work that the person sees and the model keeps current.

Owns the form of a plan. It holds no state: each call gives the whole plan.
"""

from __future__ import annotations

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.plain import printable
from agent_magics.tools.schemas import record, string
from agent_magics.tools.workspace import Workspace

MAX_STEPS = 50
"""Steps of one plan: what is longer is no plan that a person reads."""
MAX_STEP = 300
"""Characters of one step."""
MARKS = {"pending": "[ ]", "active": "[~]", "done": "[x]", "dropped": "[-]"}
"""How each state stands in the text, as in Markdown's task lists."""


def todo_tool(_workspace: Workspace) -> Tool:
    """`todo`: the plan."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        steps = [(_step(item["step"]), item.get("state", "pending")) for item in arguments["plan"]]
        rows = [f"{MARKS[state]} {step}" for step, state in steps]
        states = [state for _, state in steps]
        left = states.count("pending") + states.count("active")
        text = f"The person sees the plan: {states.count('done')} done, {left} to do."
        if states.count("active") > 1:
            text += " More than one step is active; work on one at a time."
        return ToolOutput(text, (Display("plan", "\n".join(rows)),))

    return Tool(
        "todo",
        "Show the person a plan of the work, and keep it current.\n"
        "For work of three steps or more. Give the whole plan each time; mark a step active when "
        "you begin it and done as soon as it is.",
        record(
            ("plan",),
            plan={
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_STEPS,
                "items": record(
                    ("step",),
                    step=string("What is to be done, in a few words."),
                    state={
                        "type": "string",
                        "enum": list(MARKS),
                        "default": "pending",
                        "description": "How far it is.",
                    },
                ),
            },
        ),
        "control",
        run,
        operand=_operand,
    )


def _step(text: str) -> str:
    step = printable(" ".join(text.split()))
    if not step:
        raise ToolError("A step of the plan is empty.")
    return step if len(step) <= MAX_STEP else step[: MAX_STEP - 1] + "…"


def _operand(arguments: Arguments) -> str:
    plan = arguments["plan"]
    return f"{sum(item.get('state') == 'done' for item in plan)} of {len(plan)} done"
