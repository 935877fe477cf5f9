"""`grep` and `glob` on many files, against ripgrep on the same files.

    python -m benchmarks.search [--files 50000] [--rounds 9]

Makes a tree in a temporary folder (a repository with ignored files), then lets the contestants take
turns, so that a noisy machine hits all alike. Ours are whole calls: from the arguments to the text
that a model reads. Quote the ratios of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent_magics.tool import Tool
from agent_magics.tools import builtin_tools
from agent_magics.tools.ripgrep import Ripgrep
from agent_magics.tools.workspace import Workspace

IGNORED = (
    "*.log\nbuild/\nnode_modules/\n__pycache__/\n*.py[cod]\n/dist\n.venv\n!keep.log\n*.egg-info/\n"
)
SEARCHES = {
    "a rare word": {"pattern": "needle"},
    "a word that does not occur": {"pattern": "haystack"},
    "an expression": {"pattern": r"\bneed\w+\s+is"},
    "whatever the case": {"pattern": "NEEDLE", "ignore_case": True},
    "a frequent word": {"pattern": "w1"},
    "in *.py": {"pattern": "needle", "glob": "*.py"},
}
PATTERNS = ("**/*", "**/*.py", "**/f1.*", "**/nothing.*")


def make(root: Path, files: int) -> None:
    """Fifty files a folder, as in a large repository: about 5 kB each."""
    rng = random.Random(5)
    words = [f"w{rng.randrange(10**6)}" for _ in range(2000)]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text(IGNORED)
    for number in range(files // 50):
        folder = root / f"part{number % 20}" / f"module{number // 20 % 10}" / f"d{number}"
        folder.mkdir(parents=True)
        if number % 50 == 0:
            (folder / ".gitignore").write_text("local*\n/tmp\n")
        for place in range(50):
            lines = [" ".join(rng.choices(words, k=8)) for _ in range(rng.randrange(5, 160))]
            if (number * 50 + place) % 500 == 7:
                lines.insert(3, "the needle is here")
            ending = ("py", "py", "md", "ts", "json", "txt")[place % 6]
            (folder / f"f{place}.{ending}").write_text("\n".join(lines) + "\n")
    (root / "build").mkdir()
    for number in range(files // 100):
        (root / "build" / f"x{number}.py").write_text("needle\n")


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tools(root: Path, ripgrep: Ripgrep) -> dict[str, Tool]:
    workspace = Workspace(lambda: root)
    workspace.ripgrep = ripgrep
    return {tool.name: tool for tool in builtin_tools(workspace)}


def compared(title: str, contestants: dict[str, Callable[[], object]], rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, work in contestants.items():
            seconds = timed(work)
            if turn:  # the first one warms the disk's cache, and tries ripgrep
                times[name].append(seconds)
    medians = {name: statistics.median(found) for name, found in times.items()}
    first = next(iter(medians.values()))
    shown = "".join(f"{value * 1000:10.0f} ms {value / first:5.2f}" for value in medians.values())
    print(f"{title:34}{shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    program = shutil.which("rg")
    if program is None:
        raise SystemExit("ripgrep is not on PATH; there is nothing to compare with")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        make(root, options.files)
        with_it, without = tools(root, Ripgrep()), tools(root, Ripgrep(lambda _name: None))

        def theirs(*words: str) -> Callable[[], object]:
            return lambda: subprocess.run(
                [program, *words], cwd=root, stdout=subprocess.DEVNULL, check=False
            )

        def ours(tool: Tool, arguments: dict[str, object]) -> Callable[[], object]:
            return lambda: asyncio.run(tool.run(arguments, lambda _text: None))

        print(f"{'':34}{'ripgrep':>19}{'with ripgrep':>19}{'without':>19}")
        for title, arguments in SEARCHES.items():
            words = [*(("-i",) if "ignore_case" in arguments else ())]
            words += ["-g", str(arguments["glob"])] if "glob" in arguments else []
            words += ["-n", "-e", str(arguments["pattern"]), "./"]
            contestants = {
                "ripgrep": theirs(*words),
                "with": ours(with_it["grep"], arguments),
                "without": ours(without["grep"], arguments),
            }
            compared(f"grep {title}", contestants, options.rounds)
        for pattern in PATTERNS:
            glob = ["-g", pattern.removeprefix("**/")] if pattern != "**/*" else []
            contestants = {
                "ripgrep": theirs("--files", *glob, "./"),
                "ours": ours(with_it["glob"], {"pattern": pattern}),
            }
            compared(f"glob {pattern}", contestants, options.rounds)


if __name__ == "__main__":
    main()
