"""The profile for small models: when it is on, and what it makes of a cell's request.

Owns the decision (a setting, else the model's size) and what goes beside the prompt then: a map of
the workspace, the files that the prompt names, and what an active skill declares with
`metadata: {context: "listing diff"}`. With the profile off, not a byte of a request is another one.
How a turn ends early is in `finishing`, how tools are shortened in `tools.briefing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agent_magics.calls import Limits
from agent_magics.context import cut_middle
from agent_magics.errors import AgentMagicsError, ToolError
from agent_magics.magics.services import ModelChoice
from agent_magics.messages import Attachment, Conversation, User
from agent_magics.policy import Policy
from agent_magics.providers.served import TEMPLATE
from agent_magics.providers.sizes import SMALL_BELOW
from agent_magics.skill import Skill
from agent_magics.tool import Arguments, Tool
from agent_magics.tools.briefing import brief, called_for, reading_first
from agent_magics.tools.mapping import workspace_map
from agent_magics.tools.mentioned import mentioned
from agent_magics.tools.notebooks import SUFFIX as NOTEBOOK
from agent_magics.tools.numbering import stripped
from agent_magics.tools.workspace import Workspace
from agent_magics.turn import Turn

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
FILE, FILES = 4_000, 8_000
"""Characters of one file that the prompt names, and of all of them."""
ROWS = 6
"""Lines of a table that the prompt names: its columns and what their values look like."""
THRESHOLD = 12
"""Tools beyond which foreign ones are found with `find_tools`."""
MAP = "a map of the workspace"
_TABLES = frozenset((".csv", ".tsv"))


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


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is there to be sent ahead, and what decides about it.

    Args:
        workspace: The folder.
        tools: Those of the turn, which let no secret out.
        skills: The active ones.
        policy: In force.
        conversation: What came before; what stands there unchanged is not sent again.
        hooked: Whether hooks watch the calls. They see no call here, so no tool is used then.
    """

    workspace: Workspace
    tools: Sequence[Tool]
    skills: Sequence[Skill]
    policy: Policy
    conversation: Conversation
    hooked: bool = False

    def free(self, name: str, arguments: Arguments) -> Tool | None:
        """The tool of this name, if it is there and such a call would run without a question."""
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None or self.hooked:
            return None
        return tool if self.policy.judge(tool.facts(arguments)).decision == "allow" else None


async def pushed(prompt: str, around: Surroundings) -> tuple[Attachment, ...]:
    """What is sent ahead, so that the model need not explore.

    Nothing goes that a tool of the turn could not look at without a question.

    Args:
        prompt: The person's words.
        around: What there is.
    """
    found: list[Attachment] = []
    names = {tool.name for tool in around.tools}
    skills = around.skills
    if names & {"ls", "glob", "read"} or any("listing" in declared(skill) for skill in skills):
        found += _map(around.workspace)
    if "read" in names:
        found += await _named(prompt, around)
    if any("diff" in declared(skill) for skill in skills):
        found += await _diff(around)
    sent = {
        a.title: a.text for m in around.conversation if isinstance(m, User) for a in m.attachments
    }
    return tuple(item for item in found if sent.get(item.title) != item.text)


def declared(skill: Skill) -> frozenset[str]:
    """The words of a skill's `metadata.context`."""
    metadata = skill.metadata.get("metadata")
    value = metadata.get("context") if isinstance(metadata, Mapping) else None
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return frozenset(str(word) for word in words) if isinstance(words, list) else frozenset()


def _map(workspace: Workspace) -> list[Attachment]:
    try:
        text = workspace_map(workspace, MAP_TOKENS)
    except (ToolError, OSError):
        return []  # the first tool call says what is wrong with the folder
    return [Attachment(MAP, text)] if text else []


async def _named(prompt: str, around: Surroundings) -> list[Attachment]:
    """The files that the prompt names, as `read` shows them but without line numbers."""
    found: list[Attachment] = []
    room = FILES
    for path in mentioned(prompt, around.workspace):
        suffix = PurePosixPath(path).suffix.lower()
        table = suffix in _TABLES
        arguments: Arguments = {"path": path, **({"limit": ROWS} if table else {})}
        tool = around.free("read", arguments)
        if tool is None or room <= 0:
            continue
        try:
            output = await tool.run(arguments, lambda _text: None)
        except (ToolError, OSError):
            continue  # the model's own call says why
        text = output.text if suffix == NOTEBOOK else stripped(output.text)
        text = cut_middle(text, min(FILE, room), "read shows the rest")
        room -= len(text)
        title = f"the first lines of {path}; python has the rest" if table else f"the file {path}"
        found.append(Attachment(title, text))
    return found


async def _diff(around: Surroundings) -> list[Attachment]:
    """What the skill's own `git_diff` shows, if it may run without a question."""
    tool = around.free("git_diff", {})
    if tool is None:
        return []
    try:
        output = await tool.run({}, lambda _text: None)
    except ToolError as error:
        return [Attachment("what git_diff says", str(error))]
    text = cut_middle(output.text, DIFF, "git_diff with a path shows the rest")
    return [Attachment("the uncommitted changes; git_diff was called already", text)]
