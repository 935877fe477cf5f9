"""What importing and loading cost over bare IPython.

    python -m benchmarks.imports [--rounds 9]

Each measurement is a fresh process; the time of `import IPython` in the same process is left out.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

SHELL = "from IPython.core.interactiveshell import InteractiveShell as S; s = S()"
CASES = {
    "import agent_magics": ("import IPython", "import agent_magics"),
    "import agent_magics.extension": (SHELL, "import agent_magics.extension"),
    "%load_ext agent_magics": (SHELL, "s.run_line_magic('load_ext', 'agent_magics')"),
    "import openai (for scale)": ("import IPython", "import openai"),
}


def seconds(before: str, code: str) -> float:
    """Wall time of `code` in a fresh interpreter, after `before`."""
    program = (
        f"{before}\nimport time\nstart = time.perf_counter()\n{code}\n"
        "print(time.perf_counter() - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    print(f"median (minimum) of {rounds} fresh processes, in ms")
    for name, (before, code) in CASES.items():
        seconds(before, code)  # the first one may write bytecode
        times = [seconds(before, code) * 1000 for _ in range(rounds)]
        print(f"{name:32} {statistics.median(times):8.1f} ({min(times):.1f})")


if __name__ == "__main__":
    main()
