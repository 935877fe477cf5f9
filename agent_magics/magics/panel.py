"""`%agent`: what is in force now, in one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import AgentMagicsError
from agent_magics.magics.recording import saved_here
from agent_magics.magics.views import View, pairs_view
from agent_magics.policy import MODES

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.policy import Policy
    from agent_magics.tool import Tool


def panel_view(magics: Controls) -> View:
    """The panel: model and how it was found, skill, tools with policy, session, approvals."""
    session = magics.session
    config = magics.services.configuration()
    policy = magics.policy()
    tools = magics.visible()
    route = magics.services.stage.route(magics.stage_settings())
    usage = session.usage
    pairs = [
        *_model(magics),
        ("skill", ", ".join(_named(a.skill) for a in session.active) or "none"),
        ("tools", "\n".join(f"{tool.name}: {_decision(policy, tool)}" for tool in tools)),
        (
            "session",
            f"{session.name}: {len(session.conversation)} messages; tokens in {usage.input} "
            f"(cached {usage.cached}), out {usage.output}, requests {usage.requests}"
            + (f"; saved as {session.id}" if session.id and magics.saves else ""),
        ),
        ("mode", f"{policy.mode}: {MODES[policy.mode]}"),
        ("reviewer", magics.judge),
        ("hooks", ", ".join(h.name for h in (*magics.hooks.all(), *config.hooks))),
        ("approvals", route.detail),
        ("sandbox", _sandbox(magics)),
        ("workspace", str(magics.services.workspace.root())),
    ]
    rules = policy.from_source("session")
    if rules:
        pairs.append(("this session", "\n".join(str(rule) for rule in rules)))
    notes = [*config.problems]
    if config.suggested_model:
        notes.append(f"The project suggests the model {config.suggested_model}.")
    if not session.conversation and (known := saved_here(magics.services)):
        notes.append(known)
    notes.append("Commands: %agent help")
    return pairs_view("agent_magics", [pair for pair in pairs if pair[1]], notes)


def _sandbox(magics: Controls) -> str:
    """The state of the shell's sandbox; asking for it may try it."""
    workspace = magics.services.workspace
    try:
        return workspace.sandbox.state(workspace.root()) or "off: shell commands are not sandboxed"
    except AgentMagicsError as error:
        return str(error)


def _model(magics: Controls) -> list[tuple[str, str]]:
    try:
        choice = magics.choice()
    except AgentMagicsError as error:
        return [("model", f"none: {error}")]
    scripted = " (scripted, not a model)" if choice.scripted else ""
    return [("model", f"{choice.name}{scripted}"), ("at", choice.where), ("found by", choice.why)]


def _named(skill: object) -> str:
    name, digest = getattr(skill, "name", ""), getattr(skill, "digest", "")
    return f"{name} ({digest[:8]})"


def _decision(policy: Policy, tool: Tool) -> str:
    from agent_magics.policy import CallFacts

    return policy.judge(CallFacts(tool.name, tool.effect, skill=tool.skill)).decision
