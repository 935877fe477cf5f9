"""Environments with the ipykernel versions that the product supports, made when first used.

Owns where they lie and when they are made anew. Each holds one ipykernel and the product's base
dependencies; the product itself is found through the kernelspec, so that the tests of an installed
wheel and those of a source tree use the same environments. Knows nothing of Lab and browsers.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

import agent_magics

REPOSITORY = Path(__file__).parents[1]
ENVIRONMENTS = REPOSITORY / ".test-environments"
SOURCES = Path(agent_magics.__file__).parents[1]
"""The folder that the package under test is imported from: a source tree or an installed wheel."""

NEWEST = "newest"
"""The ipykernel of the environment that runs the tests."""
KERNELS = ("6.31.0", "7.3.0", NEWEST)
"""6 reads the shell channel on the main thread; 7.0 to 7.3 route comms to subshells as the front
end says; 7.4 routes them by itself."""


def unavailable(what: str) -> NoReturn:
    """End the test: a failure where all has to be there, a skip with its reason elsewhere."""
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"needed here: {what}", pytrace=False)
    pytest.skip(what)


def kernel_python(version: str) -> Path:
    """The interpreter of a version's environment, whether it has been made yet or not."""
    if version == NEWEST:
        return Path(sys.executable)
    return ENVIRONMENTS / f"ipykernel-{version}" / "bin" / "python"


def kernel_environment(version: str) -> Path:
    """The interpreter of a version's environment, made if there is none or it is out of date.

    Args:
        version: One of `KERNELS`.
    """
    python = kernel_python(version)
    if version == NEWEST:
        return python
    folder = python.parents[1]
    needed = _requirements(version)
    stamp = folder / "requirements.txt"
    ENVIRONMENTS.mkdir(exist_ok=True)
    with _alone(ENVIRONMENTS / f"{folder.name}.lock"):
        if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == needed):
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, needed)
            # Written last: an environment that was left half made has none.
            stamp.write_text(needed, encoding="utf-8")
    return python


def kernel_spec(folder: Path, version: str, variables: Mapping[str, str] | None = None) -> str:
    """Write a version's kernelspec, below the `kernels` of a Jupyter data folder, and name it.

    Args:
        folder: To be named in `JUPYTER_PATH`.
        version: One of `KERNELS`; its environment need not be there yet.
        variables: Further environment variables of the kernel.
    """
    name = f"ipykernel-{version}"
    spec = {
        "argv": [
            str(kernel_python(version)),
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ],
        "display_name": name,
        "language": "python",
        "env": {"PYTHONPATH": str(SOURCES), **(variables or {})},
    }
    target = folder / "kernels" / name
    target.mkdir(parents=True)
    (target / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return name


def own_variables(home: Path) -> dict[str, str]:
    """This process's environment without the user's settings, and with a home of its own.

    Args:
        home: A folder for everything that is looked for at home; made if there is none.
    """
    home.mkdir(parents=True, exist_ok=True)
    ours = ("AGENT_MAGICS_", "OPENAI_", "JUPYTER", "JPY_", "XDG_", "IPYTHON", "GIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "HOME": str(home),
        "AGENT_MAGICS_CONFIG": str(home / "agent_magics" / "config.yaml"),
        "AGENT_MAGICS_LOCAL_SERVERS": "0",
        "PYTHONPATH": str(SOURCES),
        # A proxy must not stand between a kernel and the endpoint on this machine.
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def exported_page(notebook: Path, folder: Path) -> Path:
    """The page that nbconvert makes of a stored notebook.

    Args:
        notebook: The file.
        folder: Where the page is put, and a home of its own.
    """
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", str(notebook), "--output-dir=."],
        cwd=folder,
        env=own_variables(folder / "home"),
        capture_output=True,
        check=True,
    )
    return folder / f"{notebook.stem}.html"


def _requirements(version: str) -> str:
    """What the environment holds, as the text of a requirements file."""
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        base = tomllib.load(file)["project"]["dependencies"]
    pins = _constraints()
    return "\n".join([f"ipykernel=={version}", *base, "# constraints", *pins]) + "\n"


def _constraints() -> list[str]:
    """The lines of constraints.txt but for ipykernel's; none where there is no such file."""
    path = REPOSITORY / "constraints.txt"
    if not path.is_file():
        return []
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [
        line
        for line in lines
        if line and not line.startswith("#") and not re.match(r"ipykernel\b", line, re.IGNORECASE)
    ]


def _make(folder: Path, requirements: str) -> None:
    wanted, _, pins = requirements.partition("# constraints\n")
    files = [folder.parent / f"{folder.name}.{kind}.txt" for kind in ("wanted", "pins")]
    for path, text in zip(files, (wanted, pins), strict=True):
        path.write_text(text, encoding="utf-8")
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [*install, "-r", str(files[0]), "-c", str(files[1])],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            unavailable(f"{folder.name} could not be made: {said}")
    for path in files:
        path.unlink()


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock, so that two test runs do not make the same environment at once."""
    with lock.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
