"""One configuration file as YAML nodes, and its values with the line of each problem.

It knows kinds of values; which keys there are, and what a file that is off is worth, `config` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_magics.errors import ConfigError, ToolError
from agent_magics.policy import MODES, Decision, Mode, Rule
from agent_magics.tools.sandbox import STRICTER, SandboxMode
from agent_magics.tools.web.urls import host_entry

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 256_000


@dataclass(slots=True)
class Reader:
    """Walks one file's YAML nodes and collects problems with their line numbers."""

    file: str
    source: Literal["user", "project"]
    problems: list[str] = field(default_factory=list)

    def wrong(self, node: yaml.Node, message: str) -> None:
        """Note a problem at this place of the file."""
        self.problems.append(f"{self.file}, line {node.start_mark.line + 1}: {message}")

    def mapping(self, node: yaml.Node, where: str) -> dict[str, yaml.Node]:
        """The names of a mapping, each once, and their values."""
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
        """A text; nothing where it is none."""
        import yaml

        if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
            self.wrong(node, f"{where} must be a text")
            return ""
        return str(node.value).strip()

    def switch(self, node: yaml.Node, where: str) -> bool:
        """True or false."""
        value = self.text(node, where).lower()
        if value not in ("true", "false"):
            self.wrong(node, f"{where} must be true or false")
        return value == "true"

    def items(self, node: yaml.Node, where: str) -> list[yaml.Node]:
        """The items of a list."""
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, f"{where} must be a list")
            return []
        return list(node.value)

    def texts(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self.text(item, where) for item in self.items(node, where))

    def mode(self, node: yaml.Node) -> Mode:
        """A mode of the policy."""
        name = self.text(node, "mode")
        if name not in MODES:
            self.wrong(node, f"mode is one of {', '.join(MODES)}, not {name!r}")
            return "ask"
        return name

    def hosts(self, node: yaml.Node, where: str) -> tuple[tuple[str, int], ...]:
        """Hosts with their ports."""
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
        """One rule: a text, or a mapping of tool, pattern and skill."""
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


def nodes_of(path: Path, shown: str) -> yaml.Node | None:
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
