"""The profile for small models: when it is on, and what it makes of a cell's request.

Owns the decision (a setting, else the model's size) and what goes beside the prompt then: a map of
the workspace, and what an active skill declares with `metadata: {context: "listing diff"}`. With
the profile off, not a byte of a request is another one. How a turn ends early is in `finishing`,
how tools are shortened in `tools.briefing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_magics.calls import Limits
from agent_magics.context import cut_middle
from agent_magics.errors import AgentMagicsError, ToolError
from agent_magics.loop import Turn
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Attachment, Conversation, User
from agent_magics.policy import Policy
from agent_magics.providers.served import TEMPLATE
from agent_magics.providers.sizes import SMALL_BELOW
from agent_magics.skill import Skill
from agent_magics.tool import Tool
from agent_magics.tools.briefing import brief, called_for, reading_first
from agent_magics.tools.mapping import workspace_map
from agent_magics.tools.workspace import Workspace

SETTINGS: Mapping[str, str] = {
    "auto": f"for models below {SMALL_BELOW:g} billion parameters, as name or server tell",
    "on": "always",
    "off": "never",
}
MAP_TOKENS = 700
"""A map of the workspace: 225 tokens helped in the smallest case; a tenth of a small context."""
DIFF = 8_000
"""Characters of a diff that is sent ahead: a quarter of a context of 8,192 tokens."""
RESULT = 8_000
"""Characters of one result, likewise."""
THRESHOLD = 12
"""Tools beyond which foreign ones are found with `find_tools`."""
MAP = "a map of the workspace"


@dataclass(frozen=True, slots=True)
class Small:
    """The profile, as it is on for one cell.

    Args:
        why: For the person.
        window: The model's context in tokens, as the server says; 0: not known.
        warning: What is off about the server, with the remedy; empty if nothing is.
    """

    why: str
    window: int = 0
    warning: str = ""

    def told(self) -> str:
        """What the panel and the preview say."""
        on = (
            f"on, {self.why}: short instructions, tools in words, a map of the workspace, one call "
            "at a time, an answer after a repeated call; off with %config AgentMagics.small = 'off'"
        )
        return f"{on}\n{self.warning}" if self.warning else on


def small_for(setting: str, choice: ModelChoice) -> Small | None:
    """The profile for a model; None: it is off.

    Args:
        setting: One of `SETTINGS`; `auto` leaves it to what the configuration says.
        choice: The model; its server is asked, if it is on this machine.
    """
    setting = choice.small if setting == "auto" else setting
    if setting == "off" or choice.scripted:
        return None
    known = choice.served()
    if setting == "on":
        why = "as set"
    elif known.size is not None and known.size < SMALL_BELOW:
        why = f"since the model has {_billions(known.size)} parameters ({known.told})"
    else:
        return None
    return Small(why, known.window, TEMPLATE if known.calls is False else "")


def small_here(setting: str, choose: Callable[[], ModelChoice]) -> Small | None:
    """As `small_for`, where no model need be there: the turn itself says what is wrong then."""
    if setting == "off":
        return None
    try:
        return small_for(setting, choose())
    except AgentMagicsError:
        return None


def _billions(size: float) -> str:
    return f"{size:.3g} billion" if size >= 1 else f"{size * 1000:.3g} million"


def slim(
    tools: Sequence[Tool],
    builtins: Sequence[str],
    prompt: str,
    conversation: Conversation,
    workspace: Workspace,
) -> tuple[Tool, ...]:
    """The tools of a small model's turn: those that the prompt may need, each in one line."""

    def folder() -> str:
        return str(workspace.root())

    chosen = called_for(tools, builtins, prompt, conversation)
    return tuple(brief(reading_first(tool, workspace), folder) for tool in chosen)


def slimmed(turn: Turn, small: Small) -> Turn:
    """The turn as a small model gets it."""
    limits: Limits = replace(turn.limits, result=min(turn.limits.result, RESULT))
    return replace(
        turn,
        small=True,
        limits=limits,
        window=turn.window or small.window,
    )


async def pushed(
    workspace: Workspace,
    tools: Sequence[Tool],
    skills: Sequence[Skill],
    policy: Policy,
    conversation: Conversation,
) -> tuple[Attachment, ...]:
    """What is sent ahead, so that the model need not explore.

    Nothing goes that a tool of the turn could not look at without a question.

    Args:
        workspace: The folder.
        tools: Those of the turn, which lets no secret out.
        skills: The active ones.
        policy: In force.
        conversation: What came before; a map that stands there unchanged is not sent again.
    """
    found: list[Attachment] = []
    names = {tool.name for tool in tools}
    if names & {"ls", "glob", "read"} or any("listing" in declared(skill) for skill in skills):
        found += _map(workspace, conversation)
    if any("diff" in declared(skill) for skill in skills):
        found += await _diff(tools, policy)
    return tuple(found)


def declared(skill: Skill) -> frozenset[str]:
    """The words of a skill's `metadata.context`."""
    metadata = skill.metadata.get("metadata")
    value = metadata.get("context") if isinstance(metadata, Mapping) else None
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return frozenset(str(word) for word in words) if isinstance(words, list) else frozenset()


def _map(workspace: Workspace, conversation: Conversation) -> list[Attachment]:
    try:
        text = workspace_map(workspace, MAP_TOKENS)
    except (ToolError, OSError):
        return []  # the first tool call says what is wrong with the folder
    sent = [a for m in conversation if isinstance(m, User) for a in m.attachments if a.title == MAP]
    return [] if not text or (sent and sent[-1].text == text) else [Attachment(MAP, text)]


async def _diff(tools: Sequence[Tool], policy: Policy) -> list[Attachment]:
    """What the skill's own `git_diff` shows, if it may run without a question."""
    tool = next((tool for tool in tools if tool.name == "git_diff"), None)
    if tool is None or policy.judge(tool.facts({})).decision != "allow":
        return []
    try:
        output = await tool.run({}, lambda _text: None)
    except ToolError as error:
        return [Attachment("what git_diff says", str(error))]
    text = cut_middle(output.text, DIFF, "git_diff with a path shows the rest")
    return [Attachment("the uncommitted changes; git_diff was called already", text)]
