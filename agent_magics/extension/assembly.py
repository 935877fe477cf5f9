"""Puts the parts together for one shell. Effects are wired here; nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import platformdirs

from agent_magics import __version__
from agent_magics.errors import ToolError
from agent_magics.extension.config import Configuration, read_configuration
from agent_magics.extension.environment import Environment
from agent_magics.extension.kept import RulesFile
from agent_magics.extension.mcp_sources import McpSources
from agent_magics.extension.models import ModelChooser
from agent_magics.extension.plugged import PluggedChooser, PluggedFrontEnds
from agent_magics.extension.switches import SwitchFile
from agent_magics.extension.trust import TrustFile
from agent_magics.frontends.live_notebook import CellHistory
from agent_magics.frontends.stage import Stage
from agent_magics.library.bundled import load_tools
from agent_magics.library.discovery import Library, Place, places
from agent_magics.library.entry_points import EntryPoints
from agent_magics.library.packages import InstalledSkills
from agent_magics.library.plugins import GROUPS, Plugins
from agent_magics.library.project import project_instructions
from agent_magics.magics.approving import Preapproval
from agent_magics.magics.request_log import RequestLogFile
from agent_magics.magics.services import Services
from agent_magics.magics.taping import Tapes
from agent_magics.ports import CodeOutput
from agent_magics.providers.endpoint import Learnt
from agent_magics.providers.exchanges import RequestLog
from agent_magics.records.archive import Archive
from agent_magics.records.opened import Records
from agent_magics.tools import builtin_tools
from agent_magics.tools.bubblewrap import Bubblewrap
from agent_magics.tools.checking import check
from agent_magics.tools.landlock import Landlock
from agent_magics.tools.mcp.declared import Wanted, chosen
from agent_magics.tools.mcp.opening import Surroundings
from agent_magics.tools.mcp.servers import Servers
from agent_magics.tools.memory import Memory
from agent_magics.tools.protection import secret_places
from agent_magics.tools.redaction import says_secret, secret_pairs
from agent_magics.tools.sandbox import Sandbox
from agent_magics.tools.sandbox_probe import probe
from agent_magics.tools.web.pages import Web
from agent_magics.tools.web.proxies import proxies_of
from agent_magics.tools.workspace import Workspace
from agent_magics.undo.recorder import Recorder
from agent_magics.undo.store import Store

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from agent_magics.ports import Kernel
    from agent_magics.session import Session
    from agent_magics.skill import Skill
    from agent_magics.tool import Tool
    from agent_magics.tools.delegating import Delegation

T = TypeVar("T")


class Owner(Protocol):
    """Whose settings are read: the magics of a shell, or what a program asks for."""

    @property
    def session(self) -> Session:
        """The conversation at hand."""

    @property
    def workspace(self) -> str:
        """The folder that the agent works in; empty: the working folder."""

    @property
    def skill_paths(self) -> Sequence[str]:
        """Further folders with skills."""

    @property
    def memory(self) -> bool:
        """Whether there are notes that outlive a conversation."""

    @property
    def sandbox(self) -> str:
        """Where shell commands run; empty: as the configuration says."""

    @property
    def sandbox_network(self) -> bool | None:
        """Whether they may use the network; None: as the configuration says."""

    @property
    def undo_megabytes(self) -> int:
        """Room for copies of changed files."""

    @property
    def notebook(self) -> str:
        """The path of the notebook, where it is not found by itself; empty: not set."""

    @property
    def session_days(self) -> int:
        """Days without a turn after which a saved session is removed."""


class _NoKernel:
    """Stands in where tools are only listed; nothing runs outside a cell."""

    async def run_code(self, code: str, seconds: float = 0) -> CodeOutput:
        """Nothing can run."""
        raise ToolError("No cell is running, so no code can.")

    def names(self) -> Mapping[str, object]:
        """There are none."""
        return {}

    async def on_main(self, job: Callable[[], T]) -> T:
        """Nothing can run."""
        raise ToolError("No cell is running, so no code can.")


def bundled_skills() -> Path:
    """The folder of the skills that come with the package: in a wheel, or in a source tree."""
    package = Path(__file__).parents[1]
    inside = package / "_skills"
    return inside if inside.is_dir() else package.parent / "skills"


def builtin_names() -> frozenset[str]:
    """The names of all built-in tools."""
    workspace = Workspace(Path.cwd)
    memory = Memory(Path.cwd, workspace)
    made = builtin_tools(workspace, _NoKernel(), memory=memory)
    return frozenset(tool.name for tool in made)


def make_services(
    shell: InteractiveShell | None,
    magics: Owner,
    environment: Environment,
    variables: Mapping[str, str],
    learnt: Learnt | None = None,
    fetched: dict[Any, str] | None = None,
    wanted: Wanted = (),
    running: Servers | None = None,
) -> Services:
    """Everything the magics of one shell, or one turn of a program, talk to.

    Args:
        shell: The user's IPython; None: plain Python, without the tools that need a live kernel.
        magics: Whose settings (workspace, skill paths) are read at each use.
        environment: What the process's environment says.
        variables: The environment itself, for the variable that a configuration names.
        learnt: What endpoints taught earlier turns of the same program.
        fetched: Keys of named endpoints that they have fetched.
        wanted: The MCP servers that a program asks for.
        running: Those that turns of the same program share; None: this one has its own.

    Raises:
        UsageProblem: A server that a program names is not there.
    """
    config_file = (
        environment.config or Path(platformdirs.user_config_dir("agent_magics")) / "config.yaml"
    )

    def root() -> Path:
        return Path(magics.workspace).expanduser() if magics.workspace else Path.cwd()

    data = environment.data or Path(platformdirs.user_data_dir("agent_magics"))
    switches = SwitchFile(config_file.parent / "disabled-skills.json")
    kept = RulesFile(config_file.parent / "rules.json")

    def configuration() -> Configuration:
        config = read_configuration(config_file, root())
        return replace(
            config,
            rules=(*config.rules, *kept.rules()),
            disabled_skills=(*config.disabled_skills, *switches.disabled()),
        )

    # Both look at the same folders: one look serves both.
    points = EntryPoints(tuple(GROUPS))
    installed = InstalledSkills(points)

    def skill_places() -> tuple[Place, ...]:
        configured = [Path(path).expanduser() for path in magics.skill_paths]
        config = configuration()
        configured.extend(config.skill_paths)
        return places(
            root(),
            Path.home(),
            configured,
            bundled_skills(),
            packages=installed.places(root(), config.disabled_plugins),
            konacode=config.konacode_skills,
        )

    def readable() -> tuple[Path, ...]:
        return tuple(item.skill.root for item in magics.session.active)

    def secrets() -> tuple[str, ...]:
        # Asked at each use: %env and the user's code change the environment.
        return (*secret_pairs(variables), *choose.secrets(), *mcp.secrets())

    def hook_environment(named: Sequence[str]) -> dict[str, str]:
        redact = workspace.redactor()
        return {
            name: value
            for name, value in variables.items()
            if name in named or not (says_secret(name) or redact(value) != value)
        }

    def hidden(_root: Path) -> tuple[Path, ...]:
        ours = (platformdirs.user_config_dir, platformdirs.user_data_dir)
        runtime = variables.get("JUPYTER_RUNTIME_DIR", "")
        return (
            *secret_places(Path.home()),
            *(Path(place("agent_magics")) for place in ours),
            *((Path(runtime),) if Path(runtime).is_absolute() else ()),
            config_file,
            data,
        )

    requests = RequestLog(redactor=lambda: workspace.redactor())
    choose = ModelChooser(
        environment,
        variables,
        configuration,
        learnt=learnt or Learnt(),
        root=root,
        log=requests,
        kept={} if fetched is None else fetched,
    )
    sandbox = Sandbox(
        lambda: configuration().sandbox_setting(magics.sandbox, magics.sandbox_network),
        (Bubblewrap(), Landlock()),
        probe,
        hidden,
    )
    undo = Recorder(
        Store(data / "undo"),
        lambda: magics.undo_megabytes * 1_000_000,
        root,
        lambda text: workspace.redact(text),
    )
    workspace = Workspace(root, readable, secrets, undo, sandbox)
    notebook = CellHistory(shell, lambda: magics.notebook, environment.session_name)
    memory = Memory(lambda: data / "memory", workspace)
    names = builtin_names()
    plugins = Plugins(root, lambda: configuration().disabled_plugins, names, points)
    web = Web(lambda: frozenset(configuration().fetch_hosts), lambda: proxies_of(variables))
    library = Library(skill_places, names)
    shipped = Library(lambda: (Place(bundled_skills(), "bundled"),), names)

    def known() -> frozenset[str]:
        return frozenset(entry.skill.digest for entry in shipped.entries())

    def bundled(skill: Skill) -> tuple[Tool, ...]:
        return load_tools(skill, workspace=root, builtin_names=names)

    def builtins(
        kernel: Kernel | None = None, delegation: Delegation | None = None
    ) -> tuple[Tool, ...]:
        notes = memory if magics.memory else None
        live = kernel or (_NoKernel() if shell is not None else None)
        here = notebook if shell is not None else None
        own = builtin_tools(workspace, live, delegation, notes, web, here)
        return (*own, *plugins.tools())

    def keys() -> tuple[str, ...]:
        """The variables that hold the keys of models, under whatever name."""
        told = dict(pair.partition("=")[::2] for pair in choose.secrets())
        held = {name for name, value in variables.items() if value and value in told.values()}
        return (*told, *held, "AGENT_MAGICS_API_KEY", "OPENAI_API_KEY")

    sources = McpSources(
        lambda: configuration().mcp_servers,
        config_file.parent / "mcp-servers.json",
        config_file.parent / "trusted-mcp.json",
        SwitchFile(config_file.parent / "disabled-mcp.json"),
        root,
    )
    mcp = running or Servers(
        sources if shell is not None else chosen(sources, wanted),
        Surroundings(root, variables, keys),
        data / "mcp",
        __version__,
        attended=shell is not None,
    )

    return Services(
        stage=Stage(shell, plugged=PluggedFrontEnds(plugins, workspace.redact)),
        library=library,
        workspace=workspace,
        builtins=builtins,
        bundled=bundled,
        check=check,
        project=lambda: project_instructions(root()),
        configuration=configuration,
        choose=PluggedChooser(plugins, choose, configuration, environment, workspace.redact),
        endpoints=choose.named,
        trust=TrustFile(config_file.parent / "trusted-skills.json", known),
        preapproved=Preapproval(environment.approve, environment.approve_in, root),
        switch=lambda name, on: switches.switch(name, on=on),
        notes=lambda: memory.names() if magics.memory else (),
        keep=kept.keep,
        drop=kept.drop,
        own_skills=Path.home() / ".agents" / "skills",
        config_file=config_file,
        undo=undo,
        notebook=notebook,
        tapes=Tapes(workspace),
        mcp=mcp,
        hook_environment=hook_environment,
        requests=RequestLogFile(requests),
        plugins=plugins,
        records=Records(
            Archive(data / "sessions"), workspace.redactor, lambda: magics.session_days
        ),
    )
