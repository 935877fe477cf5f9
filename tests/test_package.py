"""The built wheel: what is in it, and that it works where the source tree is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.environments import unavailable

ROOT = Path(__file__).parents[1]
AGAINST_THE_WHEEL = (
    "test_core_values",
    "test_turn",
    "test_recording",
    "test_models",
    "test_magics",
)
pytestmark = pytest.mark.package


def run(*command: object, **options: object) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_skills_notebook_recording_and_types(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "agent_magics/_skills/explore/SKILL.md",
        "agent_magics/_skills/code-review/SKILL.md",
        "agent_magics/_skills/code-review/tools.py",
        "agent_magics/_notebooks/quickstart.ipynb",
        "agent_magics/providers/recordings/quickstart.jsonl",
        "agent_magics/py.typed",
    ):
        assert name in names


def test_the_wheel_holds_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"agent_magics"}
    assert not [name for name in names if "__pycache__" in name or "tests/" in name]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """The interpreter of a new environment with nothing but the wheel and what tests need."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    words = ["--quiet", "--constraint", ROOT / "constraints.txt", wheel, "pytest", "hypothesis"]
    command = [str(word) for word in (python, "-m", "pip", "install", *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"pip could not install the wheel: {done.stderr[-500:]}")
    return python


def test_the_tests_pass_against_the_installed_wheel(python, tmp_path):
    shutil.copytree(
        ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "tests" / "conftest.py").unlink()
    files = [f"tests/{name}.py" for name in AGAINST_THE_WHEEL]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CI")}
    said = run(python, "-m", "pytest", "-q", *files, cwd=tmp_path, env=environment)
    assert " passed" in said
    where = run(python, "-c", "import agent_magics; print(agent_magics.__file__)", cwd=tmp_path)
    assert str(ROOT) not in where


def test_without_its_extra_the_quickstart_says_what_to_install(python, tmp_path):
    done = subprocess.run(
        [str(python), "-m", "agent_magics", "quickstart"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'agent_magics[lab]'" in done.stderr
