"""The configuration files: the user's, and the project's, which can only tighten.

    model: NAME                      # as `%agent model NAME`
    base_url: https://host/v1
    api_key_env: NAME_OF_A_VARIABLE  # never the key itself
    mode: accept-edits               # ask, accept-edits, plan, auto
    policy:
      allow: [run_shell git status, {tool: git_diff, skill: code-review}]
      ask: [read .env*]
      deny: [python]
    skill_paths: [~/skills]
    konacode_skills: true            # also the skills in ~/.konacode/skills
    disabled_skills: [NAME]
    disabled_tools: [NAME]
    fetch_hosts: [localhost:8000]    # servers of your own network that fetch may ask
    sandbox: off | auto | required   # of shell commands
    sandbox_network: false           # whether commands in it may use the network

A rule is a tool's name and, behind a blank, a pattern for its operand (`*` is any text). A project
file, `.agent_magics/config.yaml`, may hold `model` (a suggestion), `policy.ask`/`policy.deny`, and
`sandbox` and `sandbox_network`, which count only where they are stricter than the user's;
anything else in it is reported and not used. A file that cannot be read or is off is not used at
all, and while it is off every call asks: a typing error must never widen what an agent may do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from agent_magics.errors import ConfigError, ToolError
from agent_magics.policy import MODES, Decision, Mode, Rule
from agent_magics.tools.sandbox import STRICTER, SandboxMode, SandboxSetting, strictest
from agent_magics.tools.web.urls import host_entry

if TYPE_CHECKING:
    import yaml

T = TypeVar("T")
USER_KEYS = (
    "model",
    "base_url",
    "api_key_env",
    "mode",
    "policy",
    "skill_paths",
    "konacode_skills",
    "disabled_skills",
    "disabled_tools",
    "fetch_hosts",
    "sandbox",
    "sandbox_network",
)
PROJECT_KEYS = ("model", "policy", "sandbox", "sandbox_network")
NOTHING: tuple[str, ...] = ()
NO_MODE: SandboxMode | None = None
MAX_BYTES = 256_000


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the two files say together.

    Args:
        model: The user's model.
        suggested_model: The project's suggestion; shown, never used by itself.
        base_url: The user's endpoint.
        api_key_env: The variable that holds the key.
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
    """

    model: str = ""
    suggested_model: str = ""
    base_url: str = ""
    api_key_env: str = ""
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


@dataclass(slots=True)
class _Reader:
    """Walks one file's YAML nodes and collects problems with their line numbers."""

    file: str
    source: Literal["user", "project"]
    problems: list[str] = field(default_factory=list)

    def wrong(self, node: yaml.Node, message: str) -> None:
        self.problems.append(f"{self.file}, line {node.start_mark.line + 1}: {message}")

    def mapping(self, node: yaml.Node, where: str) -> dict[str, yaml.Node]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"{where} must be a mapping of names to values")
            return {}
        result: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, f"a name in {where} must be a text")
                continue
            if key.value in result:
                self.wrong(key, f"{key.value!r} is given twice")
            result[str(key.value)] = value
        return result

    def text(self, node: yaml.Node, where: str) -> str:
        import yaml

        if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
            self.wrong(node, f"{where} must be a text")
            return ""
        return str(node.value).strip()

    def switch(self, node: yaml.Node, where: str) -> bool:
        value = self.text(node, where).lower()
        if value not in ("true", "false"):
            self.wrong(node, f"{where} must be true or false")
        return value == "true"

    def items(self, node: yaml.Node, where: str) -> list[yaml.Node]:
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, f"{where} must be a list")
            return []
        return list(node.value)

    def texts(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        return tuple(self.text(item, where) for item in self.items(node, where))

    def mode(self, node: yaml.Node) -> Mode:
        name = self.text(node, "mode")
        if name not in MODES:
            self.wrong(node, f"mode is one of {', '.join(MODES)}, not {name!r}")
            return "ask"
        return name

    def hosts(self, node: yaml.Node, where: str) -> tuple[tuple[str, int], ...]:
        found: list[tuple[str, int]] = []
        for item in self.items(node, where):
            try:
                found.append(host_entry(self.text(item, where)))
            except ToolError as error:
                self.wrong(item, f"{where}: {error}")
        return tuple(found)

    def sandbox(self, node: yaml.Node) -> SandboxMode:
        """The mode of the sandbox; an unknown one counts as the strictest."""
        word = self.text(node, "sandbox")
        found = next((mode for mode in STRICTER if mode == word), None)
        if found is None:
            self.wrong(node, f"sandbox must be one of {', '.join(STRICTER)}, not {word!r}")
        return found or "required"

    def rules(self, node: yaml.Node) -> tuple[Rule, ...]:
        """The rules of a `policy` mapping; a project's `allow` is reported and left out."""
        found: list[Rule] = []
        for name, value in self.mapping(node, "policy").items():
            if name not in ("allow", "ask", "deny"):
                self.wrong(value, f"policy has allow, ask and deny, not {name!r}")
            elif name == "allow" and self.source == "project":
                self.wrong(value, "a project's file can only tighten: policy.allow is not used")
            else:
                decision: Decision = name  # type: ignore[assignment]  # checked just above
                found.extend(self.rule(item, decision) for item in self.items(value, name))
        return tuple(found)

    def rule(self, node: yaml.Node, decision: Decision) -> Rule:
        import yaml

        if isinstance(node, yaml.MappingNode):
            parts = {k: self.text(v, f"{k} of a rule") for k, v in self.mapping(node, "").items()}
            unknown = set(parts) - {"tool", "pattern", "skill"}
            if unknown or not parts.get("tool"):
                self.wrong(node, "a rule has tool, and may have pattern and skill")
            tool, pattern, skill = (parts.get(k, "") for k in ("tool", "pattern", "skill"))
        else:
            tool, _, pattern = self.text(node, "a rule").partition(" ")
            skill = ""
            if not tool:
                self.wrong(node, "a rule needs a tool's name")
        return Rule(tool, decision, pattern.strip(), self.source, skill)


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
        nodes = _nodes(path, shown)
    except ConfigError as error:
        return _unusable((str(error),))
    if nodes is None:
        return Configuration()
    reader = _Reader(shown, source)
    entries = reader.mapping(nodes, "the file")
    for name, node in entries.items():
        if name not in keys:
            reader.wrong(node, f"unknown key {name!r}; there are: {', '.join(keys)}")

    def read(name: str, how: Callable[[yaml.Node], T], default: T) -> T:
        return how(entries[name]) if name in entries and name in keys else default

    def text(name: str) -> str:
        return read(name, lambda node: reader.text(node, name), "")

    def texts(name: str) -> tuple[str, ...]:
        return read(name, lambda node: reader.texts(node, name), NOTHING)

    def network(node: yaml.Node) -> bool:
        return reader.switch(node, "sandbox_network")

    result = Configuration(
        model=text("model"),
        base_url=text("base_url"),
        api_key_env=text("api_key_env"),
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
    )
    if not reader.problems:
        return result
    if source == "project":
        # What tightens still does; what was wrong is said.
        kept = (*result.rules, *_unusable(()).rules) if _grave(reader.problems) else result.rules
        strict = Configuration(model=result.model, rules=kept, problems=tuple(reader.problems))
    else:
        strict = _unusable(tuple(reader.problems), result.rules)
    return replace(strict, sandbox=result.sandbox, project_network=result.project_network)


def _grave(problems: list[str]) -> bool:
    return any("can only tighten" not in problem for problem in problems)


def _unusable(problems: tuple[str, ...], rules: tuple[Rule, ...] = ()) -> Configuration:
    """Nothing of a file that is off is used but its denials, and every call asks."""
    strict = tuple(rule for rule in rules if rule.decision == "deny")
    return Configuration(rules=(*strict, Rule("*", "ask", source="project")), problems=problems)


def _nodes(path: Path, shown: str) -> yaml.Node | None:
    """The file's YAML as nodes with line numbers; None when there is no file or nothing in it."""
    import yaml

    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{shown}: larger than {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{shown}: cannot be read ({error.__class__.__name__})") from error
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or "not readable"
        raise ConfigError(f"{shown}{where}: not valid YAML: {what}") from error
    return node
