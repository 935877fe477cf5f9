"""Thirty small tasks on any endpoint: our product and its peers on the same model, as a table.

    python -m benchmarks.tasks --base-url http://127.0.0.1:8204/v1 --model q15 \
        [--peers openai-agents,pydantic-ai,smolagents] [--repeats 1] [--only edit,find-lock]

Each run has a fresh folder, a process of its own, the same bounds and the same sampling; a proxy on
loopback counts requests and tokens of all alike. Stopped, it goes on where it was when it is called
again; `--fresh` forgets what was run. Peers are installed into environments of their own, below
--environments. Results: benchmarks/results/tasks-NAME.md and .json.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from benchmarks.tasks import report
from benchmarks.tasks.environments import CONTESTANTS, NotInstalled, interpreter, version
from benchmarks.tasks.proxy import Proxy
from benchmarks.tasks.runs import Bounds, keep, kept, plan, run
from benchmarks.tasks.table import TASKS

RESULTS = Path(__file__).parents[1] / "results"


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--base-url", required=True)
    words.add_argument("--model", required=True)
    words.add_argument("--peers", default="", help="with commas between them")
    words.add_argument("--without-ours", action="store_true", help="only the peers")
    words.add_argument("--repeats", type=int, default=1)
    words.add_argument("--only", default="", help="ids or kinds of tasks, with commas")
    words.add_argument("--part", choices=("tune", "held-out", "all"), default="all")
    words.add_argument("--name", default="", help="of the results; default: the model's")
    words.add_argument("--small", default="auto", help="our setting of that name")
    words.add_argument("--temperature", type=float, default=0.0, help="for everyone")
    words.add_argument("--max-tokens", type=int, default=512, help="of one answer, for everyone")
    words.add_argument("--max-requests", type=int, default=8, help="of one run")
    words.add_argument("--max-seconds", type=float, default=300, help="of one run")
    words.add_argument("--environments", type=Path, default=Path("~/.cache/agent_magics_peers"))
    words.add_argument("--results", type=Path, default=RESULTS)
    words.add_argument("--fresh", action="store_true")
    words.add_argument("--keep", type=Path, default=None, help="a folder for all that was said")
    return words


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    names = [] if options.without_ours else ["agent_magics"]
    names += [name for name in options.peers.split(",") if name]
    if unknown := [name for name in names if name not in CONTESTANTS]:
        raise SystemExit(f"no contestant {unknown[0]!r}; there are: {', '.join(CONTESTANTS)}")
    wanted = {word for word in options.only.split(",") if word}
    tasks = [t for t in TASKS if not wanted or t.id in wanted or t.kind in wanted]
    if not tasks:
        raise SystemExit(f"no task is called {options.only!r}")
    stem = options.results / f"tasks-{re.sub(r'[^a-z0-9-]+', '-', options.name or options.model)}"
    file = stem.with_suffix(".jsonl")
    if options.fresh:
        file.unlink(missing_ok=True)
    ready = {}
    for name in names:
        try:
            ready[name] = interpreter(name, options.environments.expanduser())
        except NotInstalled as error:
            print(error)
    made = {ran.planned for ran in kept(file)}
    by_id = {task.id: task for task in TASKS}
    sampling = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    bounds = Bounds(options.max_requests, options.max_seconds)
    with Proxy(options.base_url, sampling, keep=options.keep is not None) as proxy:
        for planned in plan(tasks, list(ready), options.repeats, options.part):
            if planned in made:
                continue
            ran = run(
                planned,
                by_id[planned.task],
                ready[planned.contestant],
                proxy,
                options.model,
                bounds,
                {"small": options.small} if options.small != "auto" else {},
            )
            keep(file, ran)
            print(
                f"{planned.contestant:14} {planned.task:16} {planned.wording} "
                f"{ran.requests} requests {ran.seconds:6.1f} s  {ran.problem or 'finished'}",
                flush=True,
            )
            if options.keep is not None:
                _say(options.keep, planned, proxy)
    runs = [ran for ran in kept(file) if ran.planned.contestant in CONTESTANTS]
    versions = {name: version(name, python) for name, python in ready.items()}
    about = {"model": options.model, "sampling": sampling, "versions": versions}
    text = report.markdown(runs, by_id, f"{len(runs)} runs on {options.model}")
    report.write(stem, text, about, runs)
    print(f"\n{text}")


def _say(folder: Path, planned, proxy: Proxy) -> None:
    """Write down what was said in a run, to look at it."""
    name = f"{planned.contestant}-{planned.task}-{planned.wording}-{planned.repeat}"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for body, said in proxy.count(name).bodies:
        request = json.loads(body)
        for message in request["messages"]:
            parts.append(f"--- {message['role']}\n{message.get('content')}")
            parts.extend(json.dumps(call) for call in message.get("tool_calls") or [])
        parts.append(f"--- tools: {[t['function']['name'] for t in request.get('tools') or []]}")
        parts.append(f">>> {said}\n{'=' * 80}")
    (folder / f"{name}.txt").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
