"""`run`, `arun` and `map`: the agent for programs, put together from the process's environment.

The second entry to the composition root, beside `%load_ext`. Each turn gets services of its own,
so that turns which run at once share no memory of what was read.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from agent_magics.errors import UsageProblem
from agent_magics.extension.assembly import make_services
from agent_magics.extension.environment import Environment, read_environment
from agent_magics.frontends import showing
from agent_magics.frontends.progress import progress_here
from agent_magics.importing import installed_only
from agent_magics.magics.costs import priced
from agent_magics.ports import Renderer
from agent_magics.providers.endpoint import Learnt
from agent_magics.providers.profiles import OPENAI_URL
from agent_magics.result import TurnResult
from agent_magics.scripting.answering import here
from agent_magics.scripting.bounds import Bounds
from agent_magics.scripting.inputs import Prompts, Template
from agent_magics.scripting.items import MapResult
from agent_magics.scripting.jobs import Done, Lent, Runners, done
from agent_magics.scripting.mapping import Mapping
from agent_magics.scripting.options import Options, RunOptions, checked, checked_prompt
from agent_magics.scripting.saving import SaveFile
from agent_magics.scripting.serving import serving, serving_here
from agent_magics.scripting.turns import Prepared, prepared
from agent_magics.session import Session
from agent_magics.tools.mcp.servers import Servers


@dataclass(frozen=True, slots=True)
class ScriptOwner:
    """The settings of a program's turn, as the services ask for them; see `AgentSettings`."""

    workspace: str
    session: Session = field(default_factory=Session)
    skill_paths: tuple[str, ...] = ()
    memory: bool = False
    sandbox: str = ""
    sandbox_network: bool | None = None
    undo_megabytes: int = 500
    session_days: int = 90
    notebook: str = ""


def run(prompt: str, *, show: bool = False, **options: Unpack[RunOptions]) -> TurnResult:
    """Ask the agent once, and wait for its answer.

    The model, the rules and the skills are those of `%%agent`: your configuration file, the
    project's, and the environment. Nobody is asked: a call that would ask is refused, and stands in
    `result.refused`, unless `policy=` or `approve=` allow it. Works in scripts, in notebooks and
    inside a running event loop, which waits meanwhile; with `await arun(…)` it does not.

    Args:
        prompt: What is asked, byte for byte.
        show: Show what happens, in the cell or on standard output; else nothing is printed.
        options: See `RunOptions`: `skills`, `cwd`, `policy`, `mode`, `approve`, `tools`, `model`,
            `base_url`, `max_turns`, `budget`, `max_seconds`, `max_cost`, `prices`,
            `context_window`, `mcp`.

    Returns:
        The turn's result: `text`, `calls`, `refused`, `findings`, `usage` and more.

    Raises:
        AgentMagicsError: An option is off, or no usable answer came; one clear message.
        KeyboardInterrupt: You stopped it.
    """
    asked = checked_prompt(prompt)
    ready = _ready(checked(options))
    with _shown(show) as renderer, serving(ready.services.mcp, ready.options.mcp):
        return ready.run(asked, renderer)


async def arun(prompt: str, *, show: bool = False, **options: Unpack[RunOptions]) -> TurnResult:
    """As `run`, in the event loop that is running; cancelling it ends the turn.

    Args:
        prompt: What is asked, byte for byte.
        show: Show what happens, in the cell or on standard output.
        options: As for `run`. `approve` may be a coroutine function.

    Raises:
        AgentMagicsError: As `run`.
    """
    asked = checked_prompt(prompt)
    # Skills and model servers are looked for on the disk and on this machine.
    ready = await asyncio.to_thread(_ready, checked(options))
    with _shown(show) as renderer:
        async with serving_here(ready.services.mcp, ready.options.mcp):
            return await ready.turn(asked, renderer, here)


def map(  # noqa: A001  # its name is agent_magics.map
    prompt: str | Template,
    inputs: Iterable[Any],
    *,
    executor: Executor | None = None,
    workers: int = 4,
    save: str | Path | None = None,
    total_budget: int = 0,
    total_cost: float = 0,
    progress: bool = True,
    lend_key: bool = False,
    **options: Unpack[RunOptions],
) -> MapResult:
    """Ask the agent the same for many inputs, several at once, each in a conversation of its own.

    An item that fails is kept with its error, and the others go on. Inputs are read as they are
    needed. Which executor runs the items is yours to say: any of `concurrent.futures`, a process
    pool or Dask's `client.get_executor()`.

    Args:
        prompt: A text, to which each input is attached as fenced data; or a function that makes
            the prompt of an input.
        inputs: Any iterable, also one that is long or has no end.
        executor: Runs the items; default: threads. It stays open.
        workers: How many items are worked on at once; an executor of yours is given twice as many,
            so that none of its workers waits.
        save: A file of JSON lines. Answers are added as they come, and a later call with the same
            file skips what is answered there: same prompt, input, skills and model.
        total_budget: Tokens of all items together, after which no further item is begun; 0: none.
        total_cost: Likewise the cost, by `prices`.
        progress: Show how far it is: in the cell, or on a terminal.
        lend_key: Send your API key along to workers that have none of their own. Not needed for
            threads and processes of this machine.
        options: As for `run`, for each item. Servers of `mcp` start once for all items, and go with
            threads only.

    Returns:
        The items in the order of the inputs.

    Raises:
        AgentMagicsError: An option is off; or reading the inputs failed (`InputsFailed`, which
            holds the items so far as `result`).
        KeyboardInterrupt: You stopped it (`MapInterrupted`, which holds `result`, too).
    """
    asked = checked(options)
    _check_servers(asked, executor)
    ready = _ready(asked)
    bounds = Bounds.checked(workers, total_budget, total_cost, priced(asked.limits, ready.choice))
    prompts = Prompts.checked(prompt, ready.skill_digests(), ready.choice.name)
    named = ready.choice.endpoint
    job = replace(asked, model=ready.choice.name, base_url=_url(ready), endpoint=named)
    lent = _key(ready) if lend_key else Lent()
    servers = ready.services.mcp
    work = partial(_worked, servers=servers) if asked.mcp else _worked
    with serving(servers, asked.mcp), progress_here(progress) as shown:
        # Now that servers run, what they were told in secret is taken out as well.
        redact = ready.services.workspace.redactor()
        file = SaveFile.opened(save, redact) if save is not None else None
        mapping = Mapping(work, (job, lent), prompts, bounds, redact, file)
        return mapping.over(inputs, executor, shown)


def _check_servers(options: Options, executor: Executor | None) -> None:
    """Servers run beside the program, where workers of other processes do not reach them."""
    if options.mcp and executor is not None and not isinstance(executor, ThreadPoolExecutor):
        raise UsageProblem(
            "mcp goes with threads: leave executor out, or give a ThreadPoolExecutor. Workers in "
            "other processes and on other machines have no servers."
        )


def _worked(
    options: Options,
    lent: Lent,
    text: str,
    number: int,
    runners: Runners | None,
    servers: Servers | None = None,
) -> Done:
    """One item, in whichever thread, process or machine; `number` tells equal prompts apart."""
    environment = read_environment(os.environ)
    if lent.key and not environment.api_key:
        sources = {**(environment.sources or {}), "api_key": lent.name}
        environment = replace(environment, api_key=lent.key, sources=sources)
    learnt, keys = (runners.learnt, runners.keys) if runners is not None else (None, None)

    def prepare() -> Prepared:
        return _ready(options, environment, _said_before, learnt, keys, servers)

    return done(prepare, text, runners)


def _ready(
    options: Options,
    environment: Environment | None = None,
    warn: Callable[[str], None] | None = None,
    learnt: Learnt | None = None,
    keys: dict[Any, str] | None = None,
    servers: Servers | None = None,
) -> Prepared:
    owner = ScriptOwner(options.cwd)
    with installed_only():
        known = environment or read_environment(os.environ)
        services = make_services(None, owner, known, os.environ, learnt, keys, options.mcp, servers)
        services.configuration()  # which imports what reads it
    return prepared(options, services, owner.session, warn=warn)


def _said_before(_problem: str) -> None:
    """What is off in the files was said once, for all items."""


def _url(ready: Prepared) -> str:
    """The endpoint by its address, so that each worker asks the same one."""
    choice = ready.choice
    if choice.scripted or choice.endpoint:  # each worker finds it by its name, with its own key
        return ""
    return choice.where if "://" in choice.where else OPENAI_URL


def _key(ready: Prepared) -> Lent:
    if endpoint := ready.choice.endpoint:
        raise UsageProblem(
            f"lend_key lends the key of the environment. The endpoint {endpoint} has a key of its "
            "own: let the workers have the same config.yaml and a source for that key."
        )
    named = ready.services.configuration().api_key_env
    if key := os.environ.get(named, "").strip():
        return Lent(named, key)
    environment = read_environment(os.environ)
    return Lent(environment.source("api_key"), environment.api_key)


@contextmanager
def _shown(show: bool) -> Iterator[Renderer | None]:
    if not show:
        yield None
        return
    renderer = showing.renderer()
    try:
        yield renderer
    finally:
        renderer.close()
