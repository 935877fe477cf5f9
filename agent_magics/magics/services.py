"""What the magics are given by the composition root; they make none of it themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_magics.events import Question
from agent_magics.frontends.stage import Stage, StageSettings
from agent_magics.hooks.hook import Hook
from agent_magics.hooks.registry import HookRegistry
from agent_magics.library.discovery import Library
from agent_magics.library.plugins import Plugins
from agent_magics.magics.request_log import RequestLogFile
from agent_magics.magics.taping import Tapes
from agent_magics.notebook import LiveNotebook
from agent_magics.policy import Answer, Mode, Policy, Rule
from agent_magics.ports import Checker, Model
from agent_magics.pricing import Price
from agent_magics.providers.served import Served
from agent_magics.records.opened import Records
from agent_magics.session import Session
from agent_magics.skill import Skill
from agent_magics.tool import Tool
from agent_magics.tools.mcp.servers import Servers
from agent_magics.tools.workspace import Workspace
from agent_magics.undo.recorder import Recorder


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the person set in this kernel about the model; empty fields are not set.

    Args:
        model: A name.
        base_url: An endpoint.
        model_from: How the name was set, for the panel.
        idle_timeout: Seconds of silence in an answer after which it is asked for again.
        profile: What the endpoint takes, as pairs of a field and its value; the rest is found out.
        replay_tools: Whether the tools of a replay `run` or are answered as `recorded`.
        replay_strict: Whether a replay that goes otherwise than recorded is an error.
        endpoint: A named endpoint that must be there, for workers of a program; empty: any.
    """

    model: str = ""
    base_url: str = ""
    model_from: str = ""
    idle_timeout: float = 90.0
    profile: tuple[tuple[str, object], ...] = ()
    replay_tools: str = "run"
    replay_strict: bool = False
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that would answer now.

    Args:
        name: As it is asked for.
        where: The endpoint, for the panel.
        why: How it was found.
        make: The model; what it needs is imported only then.
        scripted: Whether a recording is played: the demonstration, or a replay.
        endpoint: What the person calls the endpoint; empty: it has no name.
        price: What its tokens cost; None: not known. Looked up only then.
        served: What is known of it before it is asked; may ask a server of this machine.
        small: What the configuration says of its endpoint about the profile for small models.
        prepare: Fetches what takes its time, on the thread that an interrupt reaches.
    """

    name: str
    where: str
    why: str
    make: Callable[[], Model]
    scripted: bool = False
    endpoint: str = ""
    price: Callable[[], Price | None] = lambda: None
    served: Callable[[], Served] = Served
    small: str = "auto"
    prepare: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """A named endpoint as a table shows it.

    Args:
        name: As the person calls it.
        where: Its address, without secrets.
        server: What kind of server it is.
        model: Asked when only the endpoint is named; empty: none is set.
        key: Where its key comes from; never the key.
    """

    name: str
    where: str
    server: str
    model: str
    key: str


class Endpoints(Protocol):
    """The endpoints that the person has named in their configuration."""

    def rows(self) -> tuple[EndpointRow, ...]:
        """All of them; nothing is contacted."""

    def models(self, name: str) -> tuple[str, ...]:
        """The models that one of them lists, asked now."""

    def words(self, token: str) -> Sequence[str]:
        """What `%agent model` and this beginning can be completed to, at once."""

    def forget_key(self, reference: str) -> None:
        """Ask for an endpoint's key anew when it is used next."""


class Configured(Protocol):
    """The configuration as the magics read it, fresh at each use."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the user's and the project's files."""

    @property
    def disabled_skills(self) -> tuple[str, ...]:
        """Names that are not offered."""

    @property
    def disabled_tools(self) -> tuple[str, ...]:
        """Names that are not offered."""

    @property
    def mode(self) -> Mode:
        """What happens to calls that no rule speaks about."""

    @property
    def suggested_model(self) -> str:
        """The project's suggestion."""

    @property
    def api_key_env(self) -> str:
        """The variable that holds the key, where the user's file names one."""

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Commands of the user's file that are told of calls and turns."""

    @property
    def disabled_plugins(self) -> tuple[str, ...]:
        """Packages, or names of what they bring, that are not used."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What is off in the files."""


class TrustStore(Protocol):
    """Which contents of project skills the person trusts."""

    def trusted(self, skill: Skill) -> bool:
        """Whether the person has trusted exactly this content."""

    def remember(self, skill: Skill) -> None:
        """Trust exactly this content from now on."""


class Here(LiveNotebook, Protocol):
    """The notebook of this shell, which takes notes while the extension is loaded."""

    def install(self) -> None:
        """Begin to take notes of what runs."""

    def remove(self) -> None:
        """Stop."""


@dataclass(frozen=True, slots=True)
class Services:
    """Everything the magics talk to.

    Args:
        stage: Runs a turn in the cell, and shows it.
        library: The skills on disk.
        workspace: The folder the tools work in, and what was read there.
        builtins: Makes the built-in tools around the running cell's kernel.
        bundled: Imports the tools of a skill.
        check: Says what is wrong with a call's arguments.
        project: The project's instructions, fresh.
        configuration: Both configuration files, fresh.
        choose: Which model answers.
        endpoints: Those that the person has named.
        trust: For project skills.
        preapproved: An answer that an option gave beforehand, for headless runs.
        switch: Enables or disables a skill by name, for later kernels as well.
        notes: The names of the notes from earlier work; none where they are off.
        keep: Makes a rule last, for later kernels as well.
        drop: Takes such a rule back; whether there was one.
        own_skills: The folder of the person's own skills.
        config_file: Where the user's configuration lies.
        undo: Keeps copies of what tools change, and knows where they lie.
        records: The sessions on disk.
        notebook: What ran in this shell, and where the running cell is.
        tapes: The recordings that are written.
        mcp: The MCP servers of this kernel.
        hook_environment: The variables of a hook's command: all but those that look like secrets
            and are not named.
        requests: The log of requests to servers.
        plugins: What installed packages bring.
    """

    stage: Stage
    library: Library
    workspace: Workspace
    builtins: Callable[..., tuple[Tool, ...]]
    bundled: Callable[[Skill], tuple[Tool, ...]]
    check: Checker
    project: Callable[[], str]
    configuration: Callable[[], Configured]
    choose: Callable[[ModelSettings], ModelChoice]
    endpoints: Endpoints
    trust: TrustStore
    preapproved: Callable[[Question], Answer | None]
    switch: Callable[[str, bool], None]
    notes: Callable[[], tuple[str, ...]]
    keep: Callable[[Rule], None]
    drop: Callable[[Rule], bool]
    own_skills: Path
    config_file: Path
    undo: Recorder
    records: Records
    notebook: Here
    tapes: Tapes
    mcp: Servers
    hook_environment: Callable[[Sequence[str]], Mapping[str, str]]
    requests: RequestLogFile
    plugins: Plugins


class Controls(Protocol):
    """The magics as the commands and the panel use them."""

    services: Services
    session: Session
    undo_megabytes: int
    hooks: HookRegistry
    sessions: dict[str, Session]
    judge: str
    skill_code: str
    small: str

    @property
    def saves(self) -> bool:
        """Whether conversations are saved."""

    def choice(self, model: str | None = None) -> ModelChoice:
        """The model that would answer now."""

    def use_model(self, name: str) -> None:
        """Ask this model from now on."""

    def namespace(self) -> Mapping[str, object]:
        """The person's variables."""

    def forget(self, session: Session) -> None:
        """Forget a conversation and what was read in it."""

    def policy(self, session: Session | None = None) -> Policy:
        """The rules and the mode in force."""

    def use_mode(self, mode: Mode) -> None:
        """Treat calls that no rule speaks about in this way from now on."""

    def all_tools(self) -> tuple[Tool, ...]:
        """Every tool a rule can be about now."""

    def visible(self) -> tuple[Tool, ...]:
        """The tools that the next cell would have."""

    def stage_settings(self) -> StageSettings:
        """How approvals are asked."""

    def run_here(self, code: str) -> bool:
        """Run code as a cell of the person's; whether it ran to its end."""

    def show(self, view: object) -> None:
        """Show a value now, before the command ends."""

    def next_cell(self, text: str) -> None:
        """Put a text where the person writes next, if the front end can."""
