"""CPU for each streamed chunk, from the socket to the loop's event, ours against the bare client.

    python -m benchmarks.chunks [--chunks 5000] [--rounds 5]

A long answer and a short one are streamed in one process; the difference is divided by the chunks
between them. The server runs in another process.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from benchmarks.contestants import CONTESTANTS
from tests.fake import FakeServer

SHORT = 10


def measure(name: str, long_url: str, short_url: str, chunks: int) -> float:
    """Microseconds of CPU per chunk, in this process."""
    session = CONTESTANTS[name]
    session(short_url.replace("run=", "run=w"), True)
    times = []
    for url in (short_url, long_url):
        start = time.process_time()
        session(url, True)
        times.append(time.process_time() - start)
    return (times[1] - times[0]) / (chunks - SHORT) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3, metavar=("NAME", "LONG", "SHORT"))
    options = parser.parse_args()
    if options.child:
        print(measure(*options.child, options.chunks))
        return
    found: dict[str, list[float]] = {}
    with FakeServer() as server:
        for _ in range(options.rounds):
            for name in CONTESTANTS:
                urls = [server.scenario(turns=0, final=n).url for n in (options.chunks, SHORT)]
                words = ["--chunks", str(options.chunks), "--child", name, *urls]
                command = [sys.executable, "-m", "benchmarks.chunks", *words]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found.setdefault(name, []).append(float(done.stdout.splitlines()[-1]))
    for name, values in found.items():
        print(f"{name:14} {statistics.median(values):6.1f} µs a chunk ({min(values):.1f} at best)")


if __name__ == "__main__":
    main()
