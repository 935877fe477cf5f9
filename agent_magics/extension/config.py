"""The configuration files: the user's, and the project's, which can only tighten.

    model: NAME                      # as `%agent model NAME`
    base_url: https://host/v1        # an OpenAI-compatible endpoint
    api_key_env: NAME_OF_A_VARIABLE  # never the key itself
    endpoint: NAME                   # which of the named endpoints answers
    endpoints: {NAME: {base_url: https://host/v1}} # several, each with a key of its own
    prices: {MODEL: {input: 0.25, output: 2}}      # of a million tokens
    mode: accept-edits               # for calls without a rule: ask, accept-edits, plan, auto
    policy:                          # rules: a tool, and a pattern for its operand
      allow: [run_shell git status, {tool: git_diff, skill: code-review}]
      ask: [read .env*]
      deny: [python]
    skill_paths: [~/skills]          # further folders with skills; the first one wins
    konacode_skills: true            # also the skills in ~/.konacode/skills
    disabled_skills: [NAME]          # not offered
    disabled_tools: [NAME]           # not offered
    fetch_hosts: [localhost:8000]    # servers of your own network that fetch may ask
    sandbox: auto                    # of shell commands: off, auto, required
    sandbox_network: false           # whether commands in it may use the network
    mcp_servers: {NAME: {command: PROGRAM}}  # servers that bring tools, see config_mcp
    mcpServers: {OTHER: {command: PROGRAM}}  # the same, as other programs write it
    hooks: {turn_end: [{command: [PROGRAM]}]}  # commands that are told of calls and turns
    disabled_plugins: [NAME]         # installed packages, or names that they bring

A rule is a tool's name and, behind a blank, a pattern for its operand (`*` is any text). A project
file, `.agent_magics/config.yaml`, may hold `model` (a suggestion), `policy.ask`/`policy.deny`, and
`sandbox` and `sandbox_network`, which count only where they are stricter than the user's;
anything else in it is reported and not used. A file that cannot be read or is off is not used at
all, and while it is off every call asks: a typing error must never widen what an agent may do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from agent_magics.errors import ConfigError
from agent_magics.extension.config_endpoints import (
    NO_KEY_HERE,
    chosen_endpoint,
    read_endpoints,
    variable_name,
)
from agent_magics.extension.config_hooks import read_hooks
from agent_magics.extension.config_mcp import KEYS as MCP_KEYS
from agent_magics.extension.config_mcp import mcp_servers
from agent_magics.extension.config_prices import read_prices
from agent_magics.extension.config_reader import Reader, nodes_of
from agent_magics.extension.named_endpoints import NamedEndpoint
from agent_magics.hooks.hook import Hook
from agent_magics.policy import Mode, Rule
from agent_magics.pricing import Price
from agent_magics.tools.mcp.specs import ServerSpec
from agent_magics.tools.sandbox import SandboxMode, SandboxSetting, strictest

if TYPE_CHECKING:
    import yaml

T = TypeVar("T")
USER_KEYS = (
    "model",
    "base_url",
    "api_key_env",
    "endpoint",
    "endpoints",
    "prices",
    "mode",
    "policy",
    "skill_paths",
    "konacode_skills",
    "disabled_skills",
    "disabled_tools",
    "fetch_hosts",
    "sandbox",
    "sandbox_network",
    *MCP_KEYS,
    "hooks",
    "disabled_plugins",
)
PROJECT_KEYS = ("model", "policy", "sandbox", "sandbox_network")
NOTHING: tuple[str, ...] = ()
NO_ENDPOINTS: tuple[NamedEndpoint, ...] = ()
NO_MODE: SandboxMode | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the two files say together.

    Args:
        model: The user's model.
        suggested_model: The project's suggestion; shown, never used by itself.
        base_url: The user's endpoint.
        api_key_env: The variable that holds the key.
        endpoint: The named endpoint that answers; empty: none is chosen.
        endpoints: The named endpoints.
        prices: Prices of a million tokens, by the model's name.
        mode: What happens to calls that no rule speaks about.
        rules: Of both files.
        skill_paths: Further folders with skills.
        konacode_skills: Whether konacode's folder of skills is looked at.
        disabled_skills: Not offered.
        disabled_tools: Not offered.
        fetch_hosts: Hosts and ports that `fetch` may ask although they are not public.
        problems: What is off, for the person; each starts with the file's name.
        sandbox: What the user's file says, if it does.
        project_sandbox: What the project's file asks for.
        sandbox_network: Likewise for the network in it: the user's word.
        project_network: False when the project's file closes it.
        mcp_servers: The user's MCP servers.
        hooks: Commands that are told of calls and turns.
        disabled_plugins: Packages, or names of what they bring, that are not used.
    """

    model: str = ""
    suggested_model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    endpoint: str = ""
    endpoints: tuple[NamedEndpoint, ...] = ()
    prices: tuple[tuple[str, Price], ...] = ()
    mode: Mode = "ask"
    rules: tuple[Rule, ...] = ()
    skill_paths: tuple[Path, ...] = ()
    konacode_skills: bool = False
    disabled_skills: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    fetch_hosts: tuple[tuple[str, int], ...] = ()
    problems: tuple[str, ...] = ()
    sandbox: SandboxMode | None = None
    project_sandbox: SandboxMode = "off"
    sandbox_network: bool = False
    project_network: bool = True
    mcp_servers: tuple[ServerSpec, ...] = ()
    hooks: tuple[Hook, ...] = ()
    disabled_plugins: tuple[str, ...] = ()

    def sandbox_setting(self, mode: str, network: bool | None) -> SandboxSetting:
        """The sandbox in force: the person's word, and at least what the project asks for.

        Args:
            mode: As set in this kernel; empty: not set.
            network: Likewise; None: not set.
        """
        chosen: SandboxMode = mode or self.sandbox or "off"  # type: ignore[assignment]  # a trait checks it
        allowed = self.sandbox_network if network is None else network
        return SandboxSetting(
            strictest(chosen, self.project_sandbox), allowed and self.project_network
        )


def read_configuration(user: Path, project: Path) -> Configuration:
    """Read both files; see the module's text for what each may say.

    Args:
        user: The user's file; need not exist.
        project: The folder that the notebook works in.
    """
    mine = _read(user, "user", USER_KEYS, user.name)
    name = ".agent_magics/config.yaml"
    theirs = _read(project / name, "project", PROJECT_KEYS, name)
    return replace(
        mine,
        suggested_model=theirs.model,
        rules=mine.rules + theirs.rules,
        problems=mine.problems + theirs.problems,
        project_sandbox=theirs.sandbox or "off",
        project_network=theirs.project_network,
    )


def _read(
    path: Path, source: Literal["user", "project"], keys: tuple[str, ...], shown: str
) -> Configuration:
    try:
        nodes = nodes_of(path, shown)
    except ConfigError as error:
        return _unusable((str(error),))
    if nodes is None:
        return Configuration()
    reader = Reader(shown, source)
    entries = reader.mapping(nodes, "the file")
    for name, node in entries.items():
        _known(reader, name, node, keys)

    def read(name: str, how: Callable[[yaml.Node], T], default: T) -> T:
        return how(entries[name]) if name in entries and name in keys else default

    def text(name: str) -> str:
        return read(name, lambda node: reader.text(node, name), "")

    def texts(name: str) -> tuple[str, ...]:
        return read(name, lambda node: reader.texts(node, name), NOTHING)

    def network(node: yaml.Node) -> bool:
        return reader.switch(node, "sandbox_network")

    endpoints = read("endpoints", lambda node: read_endpoints(reader, node), NO_ENDPOINTS)
    result = Configuration(
        model=text("model"),
        base_url=text("base_url"),
        api_key_env=read("api_key_env", lambda node: variable_name(reader, node), ""),
        endpoint=read("endpoint", lambda node: chosen_endpoint(reader, node, endpoints), ""),
        endpoints=endpoints,
        prices=read("prices", lambda node: read_prices(reader, node), ()),
        mode=read("mode", reader.mode, "ask"),
        rules=read("policy", reader.rules, ()),
        skill_paths=tuple(Path(path).expanduser() for path in texts("skill_paths")),
        konacode_skills=read(
            "konacode_skills", lambda n: reader.switch(n, "konacode_skills"), False
        ),
        disabled_skills=texts("disabled_skills"),
        disabled_tools=texts("disabled_tools"),
        fetch_hosts=read("fetch_hosts", lambda node: reader.hosts(node, "fetch_hosts"), ()),
        sandbox=read("sandbox", reader.sandbox, NO_MODE),
        sandbox_network=read("sandbox_network", network, False),
        project_network=read("sandbox_network", network, True),
        mcp_servers=mcp_servers(reader, entries),
        hooks=read("hooks", lambda node: read_hooks(reader, node, path.parent), ()),
        disabled_plugins=texts("disabled_plugins"),
    )
    if not reader.problems:
        return result
    if source == "project":
        # What tightens still does; what was wrong is said.
        kept = (*result.rules, *_unusable(()).rules) if _grave(reader.problems) else result.rules
        strict = Configuration(model=result.model, rules=kept, problems=tuple(reader.problems))
    else:
        strict = _unusable(tuple(reader.problems), result.rules)
    return replace(
        strict,
        sandbox=result.sandbox,
        project_network=result.project_network,
        # What only tightens stays.
        hooks=result.hooks,
        disabled_plugins=result.disabled_plugins,
    )


def _known(reader: Reader, name: str, node: yaml.Node, keys: tuple[str, ...]) -> None:
    """Note a key that this file cannot have, and why."""
    there = f"there are: {', '.join(keys)}"
    if name in keys:
        return
    if name == "api_key":
        reader.wrong(node, f"api_key: {NO_KEY_HERE}")
    elif name in USER_KEYS:
        reader.wrong(
            node,
            f"unknown key {name!r} in a project's file: only your own config.yaml may have it; "
            f"{there}",
        )
    else:
        reader.wrong(node, f"unknown key {name!r}; {there}")


def _grave(problems: list[str]) -> bool:
    return any("can only tighten" not in problem for problem in problems)


def _unusable(problems: tuple[str, ...], rules: tuple[Rule, ...] = ()) -> Configuration:
    """Nothing of a file that is off is used but its denials, and every call asks."""
    strict = tuple(rule for rule in rules if rule.decision == "deny")
    return Configuration(rules=(*strict, Rule("*", "ask", source="project")), problems=problems)
