"""The rig's fault matrix with the whole product as the contestant: loop, session and client.

    python -m benchmarks.faults [--faults 429,drop] [--jobs 8]

Each cell is a session of three tool turns and a final text of twenty tokens, with one fault. The
server answers 400 to a history that real servers refuse. Writes benchmarks/results/faults.json in
the rig's own format, and prints the table and the counts. Verdicts: `recovers` (every call once,
the whole text), `recovers*` (the same with a call too many), `error` (a `ModelError` that says what
to do), `CRASH`, `SILENT`, `LOST CALL`, `400` (the server refused the history), `HANG`.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import threading
from pathlib import Path
from typing import Any

from agent_magics.errors import ModelError
from benchmarks.contestants import ours
from tests.fake import FakeServer

RESULTS = Path(__file__).parent / "results" / "faults.json"
FINAL = {"lengthtext", "refusal", "filter", "nullmsg"}
PAIRS = {"dupid", "noid", "noindex", "noidindex", "sameindex"}
REPEATED = ("429x4", "500x4", "drop@final", "eof@final", "sseerror@final")
PATIENCE = 150
"""Seconds until a cell counts as hanging; four refusals with a wait of two seconds take ten."""


def cases(server: FakeServer) -> list[str]:
    """The rig's 44 cases: no fault, each fault once, some of them several times or at the end."""
    quirks = set(server.quirks)
    return ["none", *(name for name in server.faults if name not in quirks), *REPEATED]


def spec(case: str) -> dict[str, object]:
    """The scenario of a case, as the rig has it."""
    words: dict[str, object] = {"turns": 3, "final": 20, "argchunk": 3}
    name, times = case, 1
    if case.startswith(("429x", "500x")):
        name, _, count = case.partition("x")
        times = int(count)
    name = name.partition("@")[0]
    if name != "none":
        at = 3 if "@final" in case or name in FINAL else 1
        words.update(fault=name, at=at, times=times, ra=2, slow=9)
    return words


def cell(server: FakeServer, case: str, stream: bool) -> dict[str, Any]:
    """Run one cell and judge it."""
    scenario = server.scenario(**spec(case))
    timeout = 4 if case in ("slow", "stall") else 30
    box: dict[str, Any] = {}

    def work() -> None:
        try:
            box["run"] = ours(scenario.url, stream, timeout, 12)
        except BaseException as error:  # noqa: BLE001  # judged below
            box["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if thread.is_alive():
        return {"verdict": "HANG"}
    verdict, note = judged(case, box)
    refused = scenario.protocol_errors
    if refused:
        verdict, note = "400", refused[0]
    return {"verdict": verdict, "note": note, "requests": len(scenario.requests)}


def judged(case: str, box: dict[str, Any]) -> tuple[str, str]:
    error = box.get("error")
    if isinstance(error, ModelError):
        return "error", str(error)
    if error is not None:
        return "CRASH", f"{type(error).__name__}: {error}"
    run = box["run"]
    wanted = {0, 10, 11, 2} if case in PAIRS else {0, 1, 2}
    whole = run.final.rstrip().endswith("DONE") or "tok19 DONE" in run.final
    if not whole:
        return "SILENT", repr(run.final[:120])
    if not wanted <= set(run.calls):
        return "LOST CALL", str(run.calls)
    return ("recovers" if len(run.calls) == len(wanted) else "recovers*"), str(run.calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", default="", help="only these, with commas between them")
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with FakeServer() as server, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        names = options.faults.split(",") if options.faults else cases(server)
        futures = {
            pool.submit(cell, server, name, stream): (name, str(int(stream)))
            for name in names
            for stream in (False, True)
        }
        for future in concurrent.futures.as_completed(futures):
            name, stream = futures[future]
            found.setdefault(name, {}).setdefault("agent_magics", {})[stream] = future.result()
    ordered = {name: found[name] for name in names}
    for name, cells in ordered.items():
        pair = [cells["agent_magics"][stream] for stream in "01"]
        notes = {c.get("note", "") for c in pair if not c["verdict"].startswith("recovers")}
        print(f"{name:16} {' / '.join(c['verdict'] for c in pair):24} {' | '.join(notes)[:150]}")
    counts = collections.Counter(
        c["verdict"] for cells in found.values() for c in cells["agent_magics"].values()
    )
    print(dict(counts), "of", sum(counts.values()))
    if not options.faults:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
