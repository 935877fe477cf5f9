"""What a program asks for with one prompt: its keyword arguments, checked, as one value.

The value travels to other processes and machines, so it holds no key and nothing that is open.
"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, get_args

from agent_magics.calls import Limits
from agent_magics.errors import UsageProblem
from agent_magics.events import Question
from agent_magics.hooks.hook import Hook, hooks_of
from agent_magics.magics.small import SETTINGS as SMALL
from agent_magics.policy import MODES, Answer, Decision, Mode, Rule
from agent_magics.tool import Tool
from agent_magics.tools.mcp.declared import Wanted

Said: TypeAlias = bool | Answer
Approve: TypeAlias = Callable[[Question], Said | Awaitable[Said]]
"""Answers a question in place of a person: True, False, or an `Answer` with a reason."""

Given: TypeAlias = str | Tool | Callable[..., Any]
"""A built-in tool by its name, or a tool of the program's own."""

PRICES = ("input", "output", "cached")


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `run`, `arun` and `map`.

    Args:
        skills: The names of skills that are active, one or several.
        cwd: The folder that the agent works in; default: the working folder.
        policy: Rules for this run, as in `config.yaml`: `"allow run_shell git status*"`, or `Rule`.
        mode: `ask`, `accept-edits`, `plan` or `auto`; default: as the configuration says.
        approve: Is asked in place of a person; default: what asks is refused.
        tools: Names of the built-in tools to offer, and functions or `Tool`s to offer besides;
            default: all built-in ones.
        model: A model's name; default: as `%%agent` finds it.
        base_url: An OpenAI-compatible endpoint; likewise.
        max_turns: Requests to the model at the most; default 50.
        budget: Tokens at the most; 0: no bound.
        max_seconds: Wall time at the most; 0: no bound.
        max_cost: Cost at the most, by `prices`; 0: no bound.
        prices: What a million tokens cost: `input`, `output`, `cached`.
        context_window: The model's context in tokens; 0: not known.
        hooks: Functions under `@agent_magics.hook`, told before the configuration's commands.
        small: The profile for small models: `auto`, `on` or `off`.
        mcp: The MCP servers to start: names of yours, or True for all that are enabled; default:
            none.
    """

    skills: str | Iterable[str]
    cwd: str | Path
    policy: Iterable[str | Rule]
    mode: Mode
    approve: Approve
    tools: Iterable[Given]
    model: str
    base_url: str
    max_turns: int
    budget: int
    max_seconds: float
    max_cost: float
    prices: Mapping[str, float]
    context_window: int
    hooks: Iterable[Callable[..., Any]]
    small: str
    mcp: bool | str | Iterable[str]


@dataclass(frozen=True, slots=True)
class Options:
    """The same, checked.

    Args:
        cwd: The folder, absolute.
        skills: Names, in order.
        rules: Of this run.
        mode: None: as the configuration says.
        approve: None: nobody is asked.
        tools: None: all built-in ones.
        model: Empty: as it is found.
        base_url: Likewise.
        limits: Bounds of one turn.
        window: The model's context in tokens; 0: not known.
        hooks: Checks around calls and turns.
        endpoint: The named endpoint that the model is of, for workers; empty: any.
        small: See `RunOptions`.
        mcp: Names of servers, or True for all that are enabled.
    """

    cwd: str
    skills: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    mode: Mode | None = None
    approve: Approve | None = None
    tools: tuple[Given, ...] | None = None
    model: str = ""
    base_url: str = ""
    limits: Limits = field(default_factory=Limits)
    window: int = 0
    hooks: tuple[Hook, ...] = ()
    endpoint: str = ""
    small: str = "auto"
    mcp: Wanted = ()


def checked(given: Mapping[str, Any]) -> Options:
    """The keyword arguments as a value.

    Args:
        given: See `RunOptions`; what is None is not given.

    Raises:
        TypeError: There is no such argument.
        UsageProblem: A value cannot be taken; the message says which and why.
    """
    for name in given:
        if name not in RunOptions.__annotations__:
            near = difflib.get_close_matches(name, RunOptions.__annotations__, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"there is no keyword argument {name!r}{hint}")
    options = {name: value for name, value in given.items() if value is not None}
    mode = options.get("mode")
    if mode is not None and mode not in MODES:
        raise UsageProblem(f"mode is one of {', '.join(MODES)}, not {mode!r}.")
    approve = options.get("approve")
    if approve is not None and not callable(approve):
        raise UsageProblem("approve takes a function of one question that gives True or False.")
    tools = options.get("tools")
    small = options.get("small", "auto")
    if small not in SMALL:
        raise UsageProblem(f"small is one of {', '.join(SMALL)}, not {small!r}.")
    return Options(
        cwd=_folder(options.get("cwd", "")),
        skills=_texts(options.get("skills", ()), "skills"),
        rules=tuple(_rule(rule) for rule in _several(options.get("policy", ()), "policy")),
        mode=mode,
        approve=approve,
        tools=None if tools is None else tuple(_several(tools, "tools")),
        model=_text(options.get("model", ""), "model"),
        base_url=_text(options.get("base_url", ""), "base_url"),
        limits=_limits(options),
        window=int(_number(options, "context_window", 0)),
        hooks=_hooks(options.get("hooks", ())),
        small=small,
        mcp=_servers(options.get("mcp", ())),
    )


def checked_prompt(prompt: object) -> str:
    """The prompt.

    Raises:
        UsageProblem: It is no text, or an empty one.
    """
    if not isinstance(prompt, str):
        raise UsageProblem(f"The prompt is a text, not {type(prompt).__name__}.")
    if not prompt.strip():
        raise UsageProblem("The prompt is empty.")
    return prompt


def _folder(given: object) -> str:
    if not isinstance(given, str | Path):
        raise UsageProblem(f"cwd is a path, not {type(given).__name__}.")
    try:
        path = Path(given).expanduser().absolute()
        there = path.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageProblem(f"cwd cannot be used: {error}") from error
    if not there:
        raise UsageProblem(f"cwd is not a folder that exists here: {path}")
    return str(path)


def _hooks(given: object) -> tuple[Hook, ...]:
    found: list[Hook] = []
    for function in _several(given, "hooks"):
        mine = hooks_of(function)
        if not mine:
            raise UsageProblem(
                f"hooks takes functions under @agent_magics.hook, not {function!r:.80}."
            )
        found.extend(mine)
    return tuple(found)


def _servers(given: object) -> Wanted:
    if isinstance(given, bool):
        return given or ()
    if isinstance(given, Mapping):
        raise UsageProblem("mcp takes names; servers are declared in your configuration file.")
    names = tuple(dict.fromkeys(_texts(given, "mcp")))
    if "" in names:
        raise UsageProblem("mcp holds an empty name; leave it out for no servers.")
    return names


def _rule(given: object) -> Rule:
    """A rule of the program; it counts as said in the session."""
    if isinstance(given, Rule):
        return Rule(given.tool, given.decision, given.pattern, "session", given.skill)
    if not isinstance(given, str):
        raise UsageProblem(f"policy takes texts and Rules, not {type(given).__name__}.")
    decision, _, rest = given.strip().partition(" ")
    tool, _, pattern = rest.strip().partition(" ")
    if decision not in get_args(Decision) or not tool:
        raise UsageProblem(
            f"{given!r} is no rule. A rule is allow, ask or deny, a tool, and perhaps a pattern: "
            "'allow run_shell git status*'"
        )
    return Rule(tool, decision, pattern.strip(), "session")  # type: ignore[arg-type]  # checked above


def _several(given: object, name: str) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageProblem(f"{name} takes a list, not {type(given).__name__}.")
    return list(given)


def _texts(given: object, name: str) -> tuple[str, ...]:
    values = [given] if isinstance(given, str) else _several(given, name)
    return tuple(_text(value, name) for value in values)


def _text(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise UsageProblem(f"{name} is a text, not {type(given).__name__}.")
    return given.strip()


def _limits(options: Mapping[str, Any]) -> Limits:
    prices = options.get("prices", {})
    if not isinstance(prices, Mapping) or not set(prices) <= set(PRICES):
        raise UsageProblem(f"prices has {', '.join(PRICES)}: what a million tokens cost.")
    full = _number(prices, "input", 0)
    return Limits(
        requests=max(1, int(_number(options, "max_turns", 50))),
        tokens=int(_number(options, "budget", 0)),
        seconds=_number(options, "max_seconds", 0),
        cost=_number(options, "max_cost", 0),
        prices=(full, _number(prices, "output", 0), _number(prices, "cached", full)),
    )


def _number(options: Mapping[str, Any], name: str, default: float) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise UsageProblem(f"{name} is a number from 0 up, not {value!r}.")
    return value
