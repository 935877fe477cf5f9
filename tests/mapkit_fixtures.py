"""The fixture of a program; a test file names this module in `pytest_plugins`."""

from __future__ import annotations

from pathlib import Path

import pytest

import agent_magics
from tests.lab_endpoint import Endpoint


@pytest.fixture
def program(tmp_path, monkeypatch, endpoint: Endpoint, model: str) -> Path:
    """The folder of a program whose environment names this test's model."""
    variables = {
        "HOME": str(tmp_path / "home"),
        "AGENT_MAGICS_CONFIG": str(tmp_path / "home" / "config.yaml"),
        "AGENT_MAGICS_DATA": str(tmp_path / "data"),
        "AGENT_MAGICS_LOCAL_SERVERS": "0",
        "AGENT_MAGICS_MODEL": model,
        "OPENAI_BASE_URL": endpoint.url,
        "PYTHONPATH": str(Path(agent_magics.__file__).parents[1]),
    }
    for name in ("AGENT_MAGICS_BASE_URL", "AGENT_MAGICS_API_KEY", "AGENT_MAGICS_APPROVE",
                 "OPENAI_API_KEY"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "home").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work
