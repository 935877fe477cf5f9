"""CPU per turn, idle gap and peak memory of a session of tool turns, ours against the bare client.

    python -m benchmarks.turns [--turns 50] [--rounds 5]

Each measurement is a process of its own; the contestants take turns, so that a noisy machine hits
both alike. Quote the ratios and medians.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import time

from benchmarks.contestants import CONTESTANTS
from tests.fake import FakeServer


def measure(name: str, base_url: str, stream: bool, turns: int) -> None:
    """In the child: one warm-up session of two turns, then the session that counts."""
    session = CONTESTANTS[name]
    session(base_url.replace(f"turns={turns}", "turns=2").replace("run=", "run=w"), stream)
    cpu, wall = time.process_time(), time.perf_counter()
    run = session(base_url, stream)
    out = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "calls": len(run.calls),
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(out))


def gaps(requests: list[dict]) -> list[float]:
    """Milliseconds between the server's last byte and the whole next request."""
    pairs = itertools.pairwise(requests)
    return [(after["t_recv"] - before["t_done"]) * 1000 for before, after in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3, metavar=("NAME", "URL", "STREAM"))
    options = parser.parse_args()
    if options.child:
        name, url, stream = options.child
        measure(name, url, stream == "1", options.turns)
        return
    found: dict[tuple[str, bool], list[dict]] = {}
    with FakeServer() as server:
        for _ in range(options.rounds):
            for stream in (False, True):
                for name in CONTESTANTS:
                    scenario = server.scenario(turns=options.turns, final=200)
                    words = ["--turns", str(options.turns), "--child", name, scenario.url]
                    command = [sys.executable, "-m", "benchmarks.turns", *words, str(int(stream))]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    result = json.loads(done.stdout.splitlines()[-1])
                    assert result["calls"] == options.turns, (name, result)
                    result["gaps"] = gaps(scenario.requests)
                    found.setdefault((name, stream), []).append(result)
    report(found, options.turns)


def report(found: dict[tuple[str, bool], list[dict]], turns: int) -> None:
    """The table, with medians over the rounds."""
    print(
        f"\n{turns} tool turns and an answer of 200 tokens; medians of {len(found)} sets of rounds"
    )
    head = "contestant     stream  CPU ms/turn  ratio  gap ms  last 10 / first 10  peak RSS MB"
    print(head)
    for stream in (False, True):
        base = statistics.median(r["cpu"] for r in found["bare client", stream])
        for name in CONTESTANTS:
            rounds = found[name, stream]
            cpu = statistics.median(r["cpu"] for r in rounds)
            gap = statistics.median(g for r in rounds for g in r["gaps"])
            first = statistics.median(g for r in rounds for g in r["gaps"][:10])
            last = statistics.median(g for r in rounds for g in r["gaps"][-10:])
            rss = statistics.median(r["rss"] for r in rounds)
            print(
                f"{name:14} {'on' if stream else 'off':6} {cpu * 1000 / (turns + 1):11.2f} "
                f"{cpu / base:6.2f} {gap:7.2f} {last / first:19.2f} {rss:12.0f}"
            )


if __name__ == "__main__":
    main()
