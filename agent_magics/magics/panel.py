"""`%agent`: what is in force now, in one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import AgentMagicsError
from agent_magics.frontends.summary import money
from agent_magics.magics.mcp_commands import mcp_summary
from agent_magics.magics.recording import saved_here
from agent_magics.magics.small import small_here
from agent_magics.magics.taping import state_of
from agent_magics.magics.views import View, pairs_view
from agent_magics.policy import MODES

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.policy import Policy
    from agent_magics.pricing import Price
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
        (
            "tools",
            "\n".join(f"{t.name}: {_decision(policy, t)}" for t in tools if t.effect != "mcp"),
        ),
        ("MCP servers", mcp_summary(magics)),
        (
            "session",
            f"{session.name}: {len(session.conversation)} messages; tokens in {usage.input} "
            f"(cached {usage.cached}), out {usage.output}, requests {usage.requests}"
            + (f", cost {money(session.cost)}" if session.cost is not None else "")
            + (f"; saved as {session.id}" if session.id and magics.saves else ""),
        ),
        ("mode", f"{policy.mode}: {MODES[policy.mode]}"),
        ("reviewer", magics.judge),
        ("hooks", ", ".join(h.name for h in (*magics.hooks.all(), *config.hooks))),
        ("approvals", route.detail),
        ("sandbox", _sandbox(magics)),
        ("recording", _recorded(magics)),
        ("requests", magics.services.requests.state()),
        ("workspace", str(magics.services.workspace.root())),
    ]
    if endpoints := magics.services.endpoints.rows():
        pairs.append(("endpoints", ", ".join(row.name for row in endpoints)))
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


def _recorded(magics: Controls) -> str:
    tape = magics.services.tapes.of(magics.session)
    return "" if tape is None else state_of(tape)


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
    small = small_here(magics.small, lambda: choice)
    return [
        ("model", f"{choice.name}{scripted}"),
        ("at", choice.where),
        ("found by", choice.why),
        ("price", _price(choice.price())),
        ("small model", small.told() if small is not None else ""),
    ]


def _price(price: Price | None) -> str:
    """What a million tokens cost, and who says so; empty where it is not known."""
    if price is None:
        return ""
    source = f" ({price.source})" if price.source else ""
    return (
        f"{price.input:g} in, {price.cached:g} cached, {price.output:g} out for a million "
        f"tokens{source}"
    )


def _named(skill: object) -> str:
    name, digest = getattr(skill, "name", ""), getattr(skill, "digest", "")
    return f"{name} ({digest[:8]})"


def _decision(policy: Policy, tool: Tool) -> str:
    from agent_magics.policy import CallFacts

    return policy.judge(CallFacts(tool.name, tool.effect, skill=tool.skill)).decision
